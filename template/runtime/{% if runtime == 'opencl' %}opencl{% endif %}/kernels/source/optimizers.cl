// A step of an optimizer, for one tensor. A device takes the numbers of the host as it computes.
typedef struct {
  C lr, beta1, beta2, weight_decay, eps;
  int decoupled, maximize;
} Adam;
typedef struct {
  C lr, weight_decay, momentum, dampening;
  int nesterov, maximize, is_first_step;
} Sgd;

#define SHARED \
  OPERAND(float, grad_scale), OPERAND(float, found_inf), OPERAND(float, lr_of), int has_scale, int has_found, int has_lr

// Nothing is written where an infinite gradient was found.
#define BEGIN \
  ITEM(i, count); \
  if (has_found && found_inf[found_inf_first] != 0) { \
    return; \
  } \
  param += param_first; \
  grad += grad_first; \
  C g = LOAD(grad, i); \
  if (has_scale) { \
    g /= (C)grad_scale[grad_scale_first]; \
    STORE(grad, i, g); \
  } \
  g = options.maximize ? -g : g; \
  const C lr = has_lr ? (C)lr_of[lr_of_first] : options.lr; \
  C p = LOAD(param, i)

KERNEL(64) adam(
    IDX count,
    Adam options,
    RESULT(T, param),
    RESULT(T, grad),
    RESULT(T, average),
    RESULT(T, square),
    RESULT(T, greatest),
    int has_greatest,
    OPERAND(float, step),
    SHARED) {
  BEGIN;
  average += average_first;
  square += square_first;
  greatest += greatest_first;
  if (options.weight_decay == 0) {
    // 0 times infinity is no number.
  } else if (options.decoupled) {
    p -= lr * options.weight_decay * p;
  } else {
    g += options.weight_decay * p;
  }
  C m = LOAD(average, i);
  C v = LOAD(square, i);
  m += (g - m) * (1 - options.beta1);
  v = options.beta2 * v + (1 - options.beta2) * g * g;
  STORE(average, i, m);
  STORE(square, i, v);
  if (has_greatest) {
    const C before = LOAD(greatest, i);
    v = MAXIMUM(before, v);
    STORE(greatest, i, v);
  }
  const C steps = (C)step[step_first];
  const C correction1 = 1 - pow(options.beta1, steps);
  const C correction2 = 1 - pow(options.beta2, steps);
  STORE(param, i, p - lr / correction1 * m / (sqrt(v) / sqrt(correction2) + options.eps));
}

KERNEL(64) sgd(
    IDX count,
    Sgd options,
    RESULT(T, param),
    RESULT(T, grad),
    RESULT(T, momentum),
    int has_momentum,
    SHARED) {
  BEGIN;
  g = options.weight_decay == 0 ? g : g + options.weight_decay * p;
  if (has_momentum) {
    momentum += momentum_first;
    const C before = LOAD(momentum, i);
    const C m = options.is_first_step ? g : options.momentum * before + (1 - options.dampening) * g;
    STORE(momentum, i, m);
    g = options.nesterov ? g + options.momentum * m : m;
  }
  STORE(param, i, p - lr * g);
}

KERNEL(64) unscale(
    IDX count,
    RESULT(T, grad),
    RESULT(float, found_inf),
    OPERAND(float, inverse)) {
  ITEM(i, count);
  const C g = LOAD(grad, grad_first + i);
  if (!isfinite(g)) {
    found_inf[found_inf_first] = 1; // whoever writes it writes the same
  }
  const C factor = (C)inverse[inverse_first];
  STORE(grad, grad_first + i, factor == 1 ? g : g * factor);
}

KERNEL(1) update_scale(
    RESULT(float, scale),
    RESULT(int, tracker),
    OPERAND(float, found_inf),
    float growth,
    float backoff,
    int interval) {
  scale += scale_first;
  tracker += tracker_first;
  if (found_inf[found_inf_first] != 0) {
    *scale *= backoff;
    *tracker = 0;
    return;
  }
  *tracker += 1;
  if (*tracker == interval) {
    const float grown = *scale * growth;
    *scale = isfinite(grown) ? grown : *scale;
    *tracker = 0;
  }
}
