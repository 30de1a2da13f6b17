// Pooling. A work-item for each element that is written.
typedef struct {
  IDX count, channels;
  IDX in_sizes[3], out_sizes[3], sizes[3], stride[3], padding[3], dilation[3];
  IDX in_strides[5], out_strides[5], index_strides[5];
  IDX divisor;
  IDX count_padding;
} Pool;

// From where to where the window lies along a dimension, in points of the input.
#if ADAPTIVE
// A product of two sizes may need more bits than an index.
#define BEGIN(d, y) ((IDX)((long)(y) * pool.in_sizes[d] / pool.out_sizes[d]))
#define END(d, y) ((IDX)((((long)(y) + 1) * pool.in_sizes[d] + pool.out_sizes[d] - 1) / pool.out_sizes[d]))
#define STEP(d) 1
#else
#define BEGIN(d, y) ((y) * pool.stride[d] - pool.padding[d])
#define END(d, y) (BEGIN(d, y) + (pool.sizes[d] - 1) * pool.dilation[d] + 1)
#define STEP(d) pool.dilation[d]
#endif

#define OVER_WINDOW \
  for (IDX a = BEGIN(0, y[0]); a < END(0, y[0]); a += STEP(0)) \
    for (IDX b = BEGIN(1, y[1]); b < END(1, y[1]); b += STEP(1)) \
      for (IDX c = BEGIN(2, y[2]); c < END(2, y[2]); c += STEP(2))
#define INSIDE \
  (a >= 0 && a < pool.in_sizes[0] && b >= 0 && b < pool.in_sizes[1] && c >= 0 && c < pool.in_sizes[2])

#ifdef LEAST
KERNEL(64) greatest(
    Pool pool,
    RESULT(T, out),
    RESULT(long, indices),
    OPERAND(T, in)) {
  POINT(y, pool, pool.out_sizes);
  C best = LEAST;
  IDX at = -1;
  OVER_WINDOW {
    if (INSIDE) {
      const IDX x[3] = {a, b, c};
      const C value = LOAD(in, in_first + element(pool.in_strides, sample, channel, x));
      if (at < 0 || value != value || value > best) {
        best = value;
        at = (a * pool.in_sizes[1] + b) * pool.in_sizes[2] + c;
      }
    }
  }
  STORE(out, out_first + element(pool.out_strides, sample, channel, y), best);
  indices[indices_first + element(pool.index_strides, sample, channel, y)] = at;
}
#endif

// A work-item for each channel: the gradients that meet are added in the order of the points, and rounded once.
KERNEL(64) greatest_backward(
    Pool pool,
    __global C* sums,
    RESULT(T, out),
    OPERAND(T, grad),
    OPERAND(long, indices),
    __global Complaint* complaint,
    int number) {
  const IDX in_points = POINTS(pool.in_sizes);
  const IDX out_points = POINTS(pool.out_sizes);
  ITEM(i, pool.count / in_points);
  const IDX sample = i / pool.channels;
  const IDX channel = i % pool.channels;
  sums += (long)i * in_points;
  for (IDX k = 0; k < in_points; ++k) {
    sums[k] = 0;
  }
  for (IDX k = 0; k < out_points; ++k) {
    IDX y[3];
    split(k, pool.out_sizes, y);
    const long at = indices[indices_first + element(pool.index_strides, sample, channel, y)];
    if (at == -1) {
      continue;
    }
    if (at < 0 || at >= in_points) {
      complain(complaint, number, at, in_points);
      continue;
    }
    sums[at] += LOAD(grad, grad_first + element(pool.out_strides, sample, channel, y));
  }
  for (IDX k = 0; k < in_points; ++k) {
    IDX x[3];
    split(k, pool.in_sizes, x);
    STORE(out, out_first + element(pool.in_strides, sample, channel, x), sums[k]);
  }
}

// By how much the sum of a window is divided.
C divisor_of(const Pool* given, const IDX* y) {
  const Pool pool = *given;
#if ADAPTIVE
  return (C)((END(0, y[0]) - BEGIN(0, y[0])) * (END(1, y[1]) - BEGIN(1, y[1])) * (END(2, y[2]) - BEGIN(2, y[2])));
#else
  if (pool.divisor != 0) {
    return (C)pool.divisor;
  }
  IDX count = 1;
  for (int d = 0; d < 3; ++d) {
    const IDX more = pool.count_padding ? pool.padding[d] : 0;
    IDX of_dimension = 0;
    for (IDX k = 0; k < pool.sizes[d]; ++k) {
      const IDX x = BEGIN(d, y[d]) + k * pool.dilation[d];
      of_dimension += x >= -more && x < pool.in_sizes[d] + more;
    }
    count *= of_dimension;
  }
  return (C)count;
#endif
}

KERNEL(64) mean(
    Pool pool,
    RESULT(T, out),
    OPERAND(T, in)) {
  POINT(y, pool, pool.out_sizes);
  C sum = 0;
  OVER_WINDOW {
    if (INSIDE) {
      const IDX x[3] = {a, b, c};
      sum += LOAD(in, in_first + element(pool.in_strides, sample, channel, x));
    }
  }
  STORE(out, out_first + element(pool.out_strides, sample, channel, y), sum / divisor_of(&pool, y));
}

// The points of the output whose windows have the point of the input.
#if ADAPTIVE
#define FIRST(d) ((IDX)((long)x[d] * pool.out_sizes[d] / pool.in_sizes[d]))
#define LAST(d) ((IDX)((((long)x[d] + 1) * pool.out_sizes[d] - 1) / pool.in_sizes[d]))
#define SEES(d, y) ((y) < pool.out_sizes[d] && BEGIN(d, y) <= x[d] && x[d] < END(d, y))
#else
#define FIRST(d) max((IDX)0, (x[d] + pool.padding[d] - (pool.sizes[d] - 1) * pool.dilation[d]) / pool.stride[d])
#define LAST(d) min(pool.out_sizes[d] - 1, (x[d] + pool.padding[d]) / pool.stride[d])
#define SEES(d, y) \
  (x[d] >= BEGIN(d, y) && x[d] < END(d, y) && (x[d] - BEGIN(d, y)) % pool.dilation[d] == 0)
#endif
KERNEL(64) mean_backward(
    Pool pool,
    RESULT(T, out),
    OPERAND(T, grad)) {
  POINT(x, pool, pool.in_sizes);
  C sum = 0;
  for (IDX a = FIRST(0); a <= LAST(0); ++a) {
    for (IDX b = FIRST(1); b <= LAST(1); ++b) {
      for (IDX c = FIRST(2); c <= LAST(2); ++c) {
        if (SEES(0, a) && SEES(1, b) && SEES(2, c)) {
          const IDX y[3] = {a, b, c};
          sum += LOAD(grad, grad_first + element(pool.out_strides, sample, channel, y)) / divisor_of(&pool, y);
        }
      }
    }
  }
  STORE(out, out_first + element(pool.in_strides, sample, channel, x), sum);
}
