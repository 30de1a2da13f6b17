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
  const __global float *grad_scale, long grad_scale_first, const __global float *found_inf, long found_inf_first, \
      const __global float *lr_of, long lr_first, int has_scale, int has_found, int has_lr

// Nothing is written where an infinite gradient was found.
#define BEGIN \
  const IDX i = (IDX)get_global_id(0); \
  if (i >= count || (has_found && found_inf[found_inf_first] != 0)) { \
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
  const C lr = has_lr ? (C)lr_of[lr_first] : options.lr; \
  C p = LOAD(param, i)

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void adam(
    IDX count,
    Adam options,
    __global T* param,
    long param_first,
    __global T* grad,
    long grad_first,
    __global T* average,
    long average_first,
    __global T* square,
    long square_first,
    __global T* greatest,
    long greatest_first,
    int has_greatest,
    const __global float* step,
    long step_first,
    SHARED) {
  BEGIN;
  average += average_first;
  square += square_first;
  greatest += greatest_first;
  if (options.decoupled) {
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

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sgd(
    IDX count,
    Sgd options,
    __global T* param,
    long param_first,
    __global T* grad,
    long grad_first,
    __global T* momentum,
    long momentum_first,
    int has_momentum,
    SHARED) {
  BEGIN;
  g += options.weight_decay * p;
  if (has_momentum) {
    momentum += momentum_first;
    const C before = LOAD(momentum, i);
    const C m = options.is_first_step ? g : options.momentum * before + (1 - options.dampening) * g;
    STORE(momentum, i, m);
    g = options.nesterov ? g + options.momentum * m : m;
  }
  STORE(param, i, p - lr * g);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void unscale(
    IDX count,
    __global T* grad,
    long grad_first,
    __global float* found_inf,
    long found_inf_first,
    const __global float* inverse,
    long inverse_first) {
  const IDX i = (IDX)get_global_id(0);
  if (i >= count) {
    return;
  }
  const C g = LOAD(grad, grad_first + i);
  if (!isfinite(g)) {
    found_inf[found_inf_first] = 1; // whoever writes it writes the same
  }
  const C factor = (C)inverse[inverse_first];
  STORE(grad, grad_first + i, factor == 1 ? g : g * factor);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void update_scale(
    __global float* scale,
    long scale_first,
    __global int* tracker,
    long tracker_first,
    const __global float* found_inf,
    long found_inf_first,
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
