// The negative log likelihood. Strides are in elements.
typedef struct {
  IDX samples, classes;
  IDX class_strides[2];
  IDX sample_stride, target_stride, weight_stride;
  int reduction;
  long ignore_index;
} Loss;

TOGETHER(together_sum, ADD)

// Sums are made by one work-group.
KERNEL(LANES) forward(
    Loss loss,
    int has_weight,
    RESULT(T, out),
    RESULT(T, total),
    OPERAND(T, in),
    OPERAND(long, target),
    OPERAND(T, weight),
    __global Complaint* complaint,
    int number) {
  __local C shared[LANES];
  const int lane = (int)get_local_id(0);
  C sum = 0, all = 0;
  for (IDX i = lane; i < loss.samples; i += LANES) {
    const long t = target[target_first + i * loss.target_stride];
    C value = 0;
    if (t != loss.ignore_index) {
      if (t < 0 || t >= loss.classes) {
        complain(complaint, number, t, loss.classes);
      } else {
        const C w = has_weight ? LOAD(weight + weight_first, (IDX)t * loss.weight_stride) : 1;
        value = -w * LOAD(in + in_first, i * loss.class_strides[0] + (IDX)t * loss.class_strides[1]);
        all += w;
      }
    }
    sum += value;
    if (loss.reduction == 0) {
      STORE(out + out_first, i * loss.sample_stride, value);
    }
  }
  sum = together_sum(sum, shared);
  all = together_sum(all, shared);
  if (lane == 0) {
    if (loss.reduction == 0) {
      STORE(total + total_first, 0, (C)0);
    } else {
      STORE(out + out_first, 0, loss.reduction == 1 ? sum / all : sum);
      STORE(total + total_first, 0, all);
    }
  }
}

KERNEL(64) backward(
    Loss loss,
    int has_weight,
    RESULT(T, out),
    OPERAND(T, total),
    OPERAND(T, grad),
    OPERAND(long, target),
    OPERAND(T, weight),
    __global Complaint* complaint,
    int number) {
  ITEM(i, loss.samples * loss.classes);
  const IDX sample = i / loss.classes;
  const IDX class = i % loss.classes;
  const long t = target[target_first + sample * loss.target_stride];
  C value = 0;
  if (t != loss.ignore_index && (t < 0 || t >= loss.classes)) {
    complain(complaint, number, t, loss.classes);
  }
  if (t != loss.ignore_index && t == class) {
    const C w = has_weight ? LOAD(weight + weight_first, class * loss.weight_stride) : 1;
    value = -w * LOAD(grad + grad_first, loss.reduction == 0 ? sample * loss.sample_stride : 0);
    if (loss.reduction == 1) {
      value /= LOAD(total + total_first, 0);
    }
  }
  STORE(out + out_first, sample * loss.class_strides[0] + class * loss.class_strides[1], value);
}
