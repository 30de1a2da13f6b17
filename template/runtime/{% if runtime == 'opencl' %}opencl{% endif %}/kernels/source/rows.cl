// Rows: arrays of sizes outer, size, inner; a row is what differs in the middle index alone. A work-group for each row.
TOGETHER(together_sum, ADD)
TOGETHER(together_max, MAXIMUM)

// Where a row begins.
#define FIRST_OF(row) ((row) / inner * size * inner + (row) % inner)

#define GROUP(number) \
  __local C shared[LANES]; \
  const IDX number = (IDX)get_group_id(0); \
  const int lane = (int)get_local_id(0)

#ifdef SOFTMAX
KERNEL(LANES) softmax(
    IDX size,
    IDX inner,
    RESULT(T, out),
    OPERAND(T, a)) {
  GROUP(row);
  const IDX first = FIRST_OF(row);
  out += out_first + first;
  a += a_first + first;
  C greatest = -INFINITY;
  for (IDX i = lane; i < size; i += LANES) {
    const C x = LOAD(a, i * inner);
    greatest = MAXIMUM(greatest, x);
  }
  greatest = together_max(greatest, shared);
  C sum = 0;
  for (IDX i = lane; i < size; i += LANES) {
    sum += exp(LOAD(a, i * inner) - greatest);
  }
  sum = together_sum(sum, shared);
#if LOGARITHM
  const C shift = log(sum);
#endif
  for (IDX i = lane; i < size; i += LANES) {
    const C x = LOAD(a, i * inner) - greatest;
#if LOGARITHM
    STORE(out, i * inner, x - shift);
#else
    STORE(out, i * inner, exp(x) / sum);
#endif
  }
}

KERNEL(LANES) softmax_backward(
    IDX size,
    IDX inner,
    RESULT(T, out),
    OPERAND(T, a),
    OPERAND(T, b)) {
  GROUP(row);
  const IDX first = FIRST_OF(row);
  out += out_first + first;
  a += a_first + first;
  b += b_first + first;
  C sum = 0;
  for (IDX i = lane; i < size; i += LANES) {
#if LOGARITHM
    sum += LOAD(a, i * inner);
#else
    sum += LOAD(a, i * inner) * LOAD(b, i * inner);
#endif
  }
  sum = together_sum(sum, shared);
  for (IDX i = lane; i < size; i += LANES) {
#if LOGARITHM
    STORE(out, i * inner, LOAD(a, i * inner) - exp(LOAD(b, i * inner)) * sum);
#else
    STORE(out, i * inner, (LOAD(a, i * inner) - sum) * LOAD(b, i * inner));
#endif
  }
}
#endif

#ifdef NORM
typedef struct {
  IDX rows, size, parts, groups, run;
  IDX has_weight, has_bias;
  C eps;
} Norm;

// Where element i of a row lies: rows lie in `parts` parts.
#define ELEMENT(i) ((i) / piece * norm.rows * piece + row * piece + (i) % piece)
#define WEIGHT_OF(i) (row % norm.groups * (norm.size / norm.run) + (i) / norm.run)

KERNEL(LANES) forward(
    Norm norm,
    RESULT(T, out),
    RESULT(T, means),
    RESULT(T, rstds),
    OPERAND(T, in),
    OPERAND(T, weight),
    OPERAND(T, bias)) {
  GROUP(row);
  const IDX piece = norm.size / norm.parts;
  out += out_first;
  in += in_first;
  C sum = 0;
  for (IDX i = lane; i < norm.size; i += LANES) {
    sum += LOAD(in, ELEMENT(i));
  }
  const C mean = together_sum(sum, shared) / (C)norm.size;
  sum = 0;
  for (IDX i = lane; i < norm.size; i += LANES) {
    const C d = LOAD(in, ELEMENT(i)) - mean;
    sum += d * d;
  }
  const C rstd = 1 / sqrt(together_sum(sum, shared) / (C)norm.size + norm.eps);
  for (IDX i = lane; i < norm.size; i += LANES) {
    C value = (LOAD(in, ELEMENT(i)) - mean) * rstd;
    if (norm.has_weight) {
      value *= LOAD(weight + weight_first, WEIGHT_OF(i));
    }
    if (norm.has_bias) {
      value += LOAD(bias + bias_first, WEIGHT_OF(i));
    }
    STORE(out, ELEMENT(i), value);
  }
  if (lane == 0) {
    STORE(means + means_first, row, mean);
    STORE(rstds + rstds_first, row, rstd);
  }
}

KERNEL(LANES) backward(
    Norm norm,
    RESULT(T, grad_in),
    OPERAND(T, grad_out),
    OPERAND(T, in),
    OPERAND(T, means),
    OPERAND(T, rstds),
    OPERAND(T, weight)) {
  GROUP(row);
  const IDX piece = norm.size / norm.parts;
  grad_in += grad_in_first;
  grad_out += grad_out_first;
  in += in_first;
  weight += weight_first;
  const C mean = LOAD(means + means_first, row);
  const C rstd = LOAD(rstds + rstds_first, row);
  C sum_g = 0, sum_gx = 0;
  for (IDX i = lane; i < norm.size; i += LANES) {
    const C g = LOAD(grad_out, ELEMENT(i)) * (norm.has_weight ? LOAD(weight, WEIGHT_OF(i)) : 1);
    sum_g += g;
    sum_gx += g * (LOAD(in, ELEMENT(i)) - mean) * rstd;
  }
  const C mean_g = together_sum(sum_g, shared) / (C)norm.size;
  const C mean_gx = together_sum(sum_gx, shared) / (C)norm.size;
  for (IDX i = lane; i < norm.size; i += LANES) {
    const C g = LOAD(grad_out, ELEMENT(i)) * (norm.has_weight ? LOAD(weight, WEIGHT_OF(i)) : 1);
    const C x = (LOAD(in, ELEMENT(i)) - mean) * rstd;
    STORE(grad_in, ELEMENT(i), rstd * (g - mean_g - x * mean_gx));
  }
}

// A work-group for each weight: it belongs to the rows of a group, and in each of them to a run.
KERNEL(LANES) backward_weight(
    Norm norm,
    RESULT(T, grad_weight),
    RESULT(T, grad_bias),
    OPERAND(T, grad_out),
    OPERAND(T, in),
    OPERAND(T, means),
    OPERAND(T, rstds)) {
  GROUP(number);
  const IDX piece = norm.size / norm.parts;
  const IDX of_row = norm.size / norm.run;
  const IDX group = number / of_row;
  const IDX begin = number % of_row * norm.run;
  grad_out += grad_out_first;
  in += in_first;
  C sum = 0, sum_x = 0;
  const IDX count = norm.rows / norm.groups * norm.run;
  for (IDX k = lane; k < count; k += LANES) {
    const IDX row = k / norm.run * norm.groups + group;
    const IDX i = begin + k % norm.run;
    const C g = LOAD(grad_out, ELEMENT(i));
    sum += g;
    sum_x += g * (LOAD(in, ELEMENT(i)) - LOAD(means + means_first, row)) * LOAD(rstds + rstds_first, row);
  }
  sum = together_sum(sum, shared);
  sum_x = together_sum(sum_x, shared);
  if (lane == 0 && norm.has_weight) {
    STORE(grad_weight + grad_weight_first, number, sum_x);
  }
  if (lane == 0 && norm.has_bias) {
    STORE(grad_bias + grad_bias_first, number, sum);
  }
}
#endif

// A work-item for each row.
#ifdef SCAN
KERNEL(64) scan(
    IDX rows,
    IDX size,
    IDX inner,
    RESULT(T, out),
    OPERAND(T, a)) {
  ITEM(row, rows);
  const IDX first = FIRST_OF(row);
  out += out_first + first;
  a += a_first + first;
  C all = SCAN_START;
  for (IDX i = 0; i < size; ++i) {
    const C x = LOAD(a, i * inner);
    all = all SCAN x;
    STORE(out, i * inner, all);
  }
}

// A work-group for each row, of which it scans a piece at a time.
KERNEL(LANES) scan_long(
    IDX rows,
    IDX size,
    IDX inner,
    RESULT(T, out),
    OPERAND(T, a)) {
  GROUP(row);
  const IDX first = FIRST_OF(row);
  out += out_first + first;
  a += a_first + first;
  C before = SCAN_START;
  for (IDX begin = 0; begin < size; begin += LANES) {
    const IDX i = begin + lane;
    C all = SCAN_START;
    if (i < size) {
      all = LOAD(a, i * inner);
    }
    shared[lane] = all;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = 1; distance < LANES; distance *= 2) {
      if (lane >= distance) {
        all = shared[lane - distance] SCAN all;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      shared[lane] = all;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < size) {
      STORE(out, i * inner, before SCAN all);
    }
    before = before SCAN shared[LANES - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

#ifdef BETTER
// Whether y takes the place of x: the first NaN wins.
#define BEATS (x == x && (y != y || BETTER))

// The greatest or the least of each row, and its index.
KERNEL(64) best(
    IDX rows,
    IDX size,
    IDX inner,
    IDX has_values,
    RESULT(T, values),
    RESULT(long, indices),
    OPERAND(T, a)) {
  ITEM(row, rows);
  a += a_first + FIRST_OF(row);
  IDX at = 0;
  C x = LOAD(a, 0);
  for (IDX i = 1; i < size; ++i) {
    const C y = LOAD(a, i * inner);
    if (BEATS) {
      x = y;
      at = i;
    }
  }
  if (has_values) {
    MOVE(values, values_first + row, a, at * inner);
  }
  indices[indices_first + row] = at;
}

// A work-group for each row, which has at least LANES elements.
KERNEL(LANES) best_long(
    IDX rows,
    IDX size,
    IDX inner,
    IDX has_values,
    RESULT(T, values),
    RESULT(long, indices),
    OPERAND(T, a)) {
  GROUP(row);
  __local IDX places[LANES];
  a += a_first + FIRST_OF(row);
  IDX at = lane;
  C x = LOAD(a, at * inner);
  for (IDX i = lane + LANES; i < size; i += LANES) {
    const C y = LOAD(a, i * inner);
    if (BEATS) {
      x = y;
      at = i;
    }
  }
  shared[lane] = x;
  places[lane] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int some = LANES / 2; some > 0; some /= 2) {
    if (lane < some) {
      const C y = shared[lane + some];
      const IDX other = places[lane + some];
      const int same = x == y || (x != x && y != y);
      if (same ? other < at : BEATS) { // the first of those that are the same
        x = y;
        at = other;
      }
      shared[lane] = x;
      places[lane] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    if (has_values) {
      MOVE(values, values_first + row, a, at * inner);
    }
    indices[indices_first + row] = at;
  }
}
#endif

#ifdef SEARCH
KERNEL(64) search(
    IDX number_of_values,
    IDX size,
    IDX count,
    IDX right,
    RESULT(long, out),
    OPERAND(T, boundaries),
    OPERAND(T, values)) {
  ITEM(number, number_of_values);
  boundaries += boundaries_first + number / count * size;
  const C x = LOAD(values + values_first, number);
  IDX low = 0;
  IDX high = size;
  while (low < high) {
    const IDX middle = low + (high - low) / 2;
    const C y = LOAD(boundaries, middle);
    // A NaN is after all numbers.
    if (right ? !(y > x) : !(y >= x)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[out_first + number] = low;
}
#endif
