// The cells of recurrent networks. A work-item for each element of the state.
#define GATE(operand, part) LOAD(operand, operand##_first + row * parts * size + (part) * size + at)
#define BIAS(operand, part) LOAD(operand, operand##_first + (part) * size + at)
#define BEGIN \
  ITEM(i, rows * size); \
  const IDX row = i / size; \
  const IDX at = i % size

KERNEL(64) lstm(
    IDX rows,
    IDX size,
    int has_input_bias,
    int has_hidden_bias,
    RESULT(T, hy),
    RESULT(T, cy),
    RESULT(T, workspace),
    OPERAND(T, input),
    OPERAND(T, hidden),
    OPERAND(T, cx),
    OPERAND(T, input_bias),
    OPERAND(T, hidden_bias)) {
  BEGIN;
  const IDX parts = 4;
  C gates[4];
  for (int part = 0; part < 4; ++part) {
    C g = GATE(input, part) + GATE(hidden, part);
    g += has_input_bias ? BIAS(input_bias, part) : 0;
    g += has_hidden_bias ? BIAS(hidden_bias, part) : 0;
    gates[part] = part == 2 ? tanh(g) : SIGMOID(g);
    STORE(workspace, workspace_first + row * parts * size + part * size + at, gates[part]);
  }
  const C cell = gates[1] * LOAD(cx, cx_first + i) + gates[0] * gates[2];
  STORE(cy, cy_first + i, cell);
  STORE(hy, hy_first + i, gates[3] * tanh(cell));
}

KERNEL(64) lstm_backward(
    IDX rows,
    IDX size,
    int has_grad_hy,
    int has_grad_cy,
    RESULT(T, grad_gates),
    RESULT(T, grad_cx),
    OPERAND(T, grad_hy),
    OPERAND(T, grad_cy),
    OPERAND(T, cx),
    OPERAND(T, cy),
    OPERAND(T, workspace)) {
  BEGIN;
  const IDX parts = 4;
  const C in = GATE(workspace, 0), forget = GATE(workspace, 1), fresh = GATE(workspace, 2), out = GATE(workspace, 3);
  const C gh = has_grad_hy ? LOAD(grad_hy, grad_hy_first + i) : 0;
  C gc = has_grad_cy ? LOAD(grad_cy, grad_cy_first + i) : 0;
  const C t = tanh(LOAD(cy, cy_first + i));
  gc += gh * out * (1 - t * t);
  const C gates[4] = {
      gc * fresh * in * (1 - in), gc * LOAD(cx, cx_first + i) * forget * (1 - forget), gc * in * (1 - fresh * fresh),
      gh * t * out * (1 - out)};
  for (int part = 0; part < 4; ++part) {
    STORE(grad_gates, grad_gates_first + row * parts * size + part * size + at, gates[part]);
  }
  STORE(grad_cx, grad_cx_first + i, gc * forget);
}

KERNEL(64) gru(
    IDX rows,
    IDX size,
    int has_input_bias,
    int has_hidden_bias,
    RESULT(T, hy),
    RESULT(T, workspace),
    OPERAND(T, input),
    OPERAND(T, hidden),
    OPERAND(T, hx),
    OPERAND(T, input_bias),
    OPERAND(T, hidden_bias)) {
  BEGIN;
  const IDX parts = 3;
  C of_input[3], of_hidden[3];
  for (int part = 0; part < 3; ++part) {
    of_input[part] = GATE(input, part) + (has_input_bias ? BIAS(input_bias, part) : 0);
    of_hidden[part] = GATE(hidden, part) + (has_hidden_bias ? BIAS(hidden_bias, part) : 0);
  }
  const C reset = SIGMOID(of_input[0] + of_hidden[0]);
  const C update = SIGMOID(of_input[1] + of_hidden[1]);
  const C fresh = tanh(of_input[2] + reset * of_hidden[2]);
  const C before = LOAD(hx, hx_first + i);
  STORE(hy, hy_first + i, fresh + update * (before - fresh));
  const C kept[5] = {reset, update, fresh, before, of_hidden[2]};
  for (int part = 0; part < 5; ++part) {
    STORE(workspace, workspace_first + row * 5 * size + part * size + at, kept[part]);
  }
}

KERNEL(64) gru_backward(
    IDX rows,
    IDX size,
    RESULT(T, grad_input),
    RESULT(T, grad_hidden),
    RESULT(T, grad_hx),
    OPERAND(T, grad_hy),
    OPERAND(T, workspace)) {
  BEGIN;
  const IDX parts = 5;
  const C reset = GATE(workspace, 0), update = GATE(workspace, 1), fresh = GATE(workspace, 2);
  const C hx = GATE(workspace, 3), hidden = GATE(workspace, 4);
  const C g = LOAD(grad_hy, grad_hy_first + i);
  const C of_fresh = g * (1 - update) * (1 - fresh * fresh);
  const C of_update = g * (hx - fresh) * update * (1 - update);
  const C of_reset = of_fresh * hidden * reset * (1 - reset);
  const IDX to = row * 3 * size + at;
  STORE(grad_input, grad_input_first + to, of_reset);
  STORE(grad_input, grad_input_first + to + size, of_update);
  STORE(grad_input, grad_input_first + to + 2 * size, of_fresh);
  STORE(grad_hidden, grad_hidden_first + to, of_reset);
  STORE(grad_hidden, grad_hidden_first + to + size, of_update);
  STORE(grad_hidden, grad_hidden_first + to + 2 * size, of_fresh * reset);
  STORE(grad_hx, grad_hx_first + i, g * update);
}
