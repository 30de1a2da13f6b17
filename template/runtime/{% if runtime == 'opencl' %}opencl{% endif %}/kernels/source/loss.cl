// The negative log likelihood. Strides are in elements.
typedef struct {
  IDX samples, classes;
  IDX class_strides[2];
  IDX sample_stride, target_stride, weight_stride;
  int reduction;
  long ignore_index;
} Loss;

// Sums are made by one work-group.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void forward(
    Loss loss,
    int has_weight,
    __global T* out,
    long out_first,
    __global T* total,
    long total_first,
    const __global T* in,
    long in_first,
    const __global long* target,
    long target_first,
    const __global T* weight,
    long weight_first,
    __global Complaint* complaint,
    int number) {
  __local C losses[64];
  __local C weights[64];
  const int lane = (int)get_local_id(0);
  C sum = 0, all = 0;
  for (IDX i = lane; i < loss.samples; i += 64) {
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
  losses[lane] = sum;
  weights[lane] = all;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int some = 32; some > 0; some /= 2) {
    if (lane < some) {
      losses[lane] += losses[lane + some];
      weights[lane] += weights[lane + some];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    if (loss.reduction == 0) {
      STORE(total + total_first, 0, (C)0);
    } else {
      STORE(out + out_first, 0, loss.reduction == 1 ? losses[0] / weights[0] : losses[0]);
      STORE(total + total_first, 0, weights[0]);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void backward(
    Loss loss,
    int has_weight,
    __global T* out,
    long out_first,
    const __global T* total,
    long total_first,
    const __global T* grad,
    long grad_first,
    const __global long* target,
    long target_first,
    const __global T* weight,
    long weight_first,
    __global Complaint* complaint,
    int number) {
  const IDX i = (IDX)get_global_id(0);
  if (i >= loss.samples * loss.classes) {
    return;
  }
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
