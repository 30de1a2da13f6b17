// Upsampling and grid sampling. INTERPOLATION and PADDING are numbers of the kernels' header.
#define NEAREST 0
#define NEAREST_EXACT 1
#define LINEAR 2
#define CUBIC 3
#define LANCZOS 4
#define ZEROS 0
#define REFLECTION 2

// Cubic convolution: the weight of a point at a distance.
C cubic(C distance, C a) {
  const C x = fabs(distance);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

#if UPSAMPLE
typedef struct {
  IDX count, channels;
  IDX in_sizes[3], out_sizes[3];
  IDX in_strides[5], out_strides[5];
  C steps[3];
} Upsample;

// The points of the input that a point of the output sees along a dimension; some may lie outside of it.
typedef struct {
  IDX first, size;
  int count;
  C place, wide, sum;
} Taps;

C filtered(C distance) {
#if INTERPOLATION == LINEAR
  return fmax((C)0, 1 - fabs(distance));
#elif INTERPOLATION == CUBIC
  return cubic(distance, (C)-0.5f);
#else
  if (fabs(distance) >= 3) {
    return 0;
  }
  const C angle = distance * (C)3.14159265358979323846;
  return angle == 0 ? 1 : sin(angle) / angle * sin(angle / 3) / (angle / 3);
#endif
}

IDX limited(C place, IDX size) {
  return (IDX)clamp(place + (C)0.5f, (C)0, (C)size);
}

Taps taps_of(C step, IDX y, IDX size) {
  Taps taps = {0, size, 1, 0, 1, 0};
  if (size == 1) {
    return taps;
  }
#if INTERPOLATION <= NEAREST_EXACT
  const float place = ((float)y + (INTERPOLATION == NEAREST_EXACT ? 0.5f : 0)) * (float)step;
  taps.first = place >= (float)size ? size - 1 : min((IDX)place, size - 1);
#elif ANTIALIAS
  taps.wide = fmax((C)1, step);
  taps.place = ((C)y + (C)0.5f) * step;
  const C reach = (INTERPOLATION - LINEAR + 1) * taps.wide;
  taps.first = limited(taps.place - reach, size);
  taps.count = (int)(limited(taps.place + reach, size) - taps.first);
#else
  C place = ALIGN_CORNERS ? step * (C)y : step * ((C)y + (C)0.5f) - (C)0.5f;
  place = INTERPOLATION == LINEAR ? fmax(place, (C)0) : place;
  const IDX low = min((IDX)floor(fmin(place, (C)size)), size - 1);
  taps.place = clamp(place - (C)low, (C)0, (C)1);
  taps.first = INTERPOLATION == LINEAR ? low : low - 1;
  taps.count = INTERPOLATION == LINEAR ? 2 : 4;
#endif
  return taps;
}

IDX point_of(const Taps* taps, int k) {
  return clamp(taps->first + k, (IDX)0, taps->size - 1);
}

// Before it is divided by the sum of all.
C raw_weight(const Taps* taps, int k) {
  if (taps->size == 1 || INTERPOLATION <= NEAREST_EXACT) {
    return 1;
  }
#if ANTIALIAS
  return filtered(((C)(taps->first + k) + (C)0.5f - taps->place) / taps->wide);
#elif INTERPOLATION == CUBIC
  return cubic(taps->place - (k - 1), (C)-0.75f);
#else
  return k == 0 ? 1 - taps->place : taps->place;
#endif
}

void add_up(Taps* taps) {
#if ANTIALIAS
  for (int k = 0; k < taps->count; ++k) {
    taps->sum += raw_weight(taps, k);
  }
#endif
}

C weight_of(const Taps* taps, int k) {
  const C weight = raw_weight(taps, k);
  return ANTIALIAS && taps->sum != 0 ? weight / taps->sum : weight;
}

KERNEL(64) forward(
    Upsample size,
    RESULT(T, out),
    OPERAND(T, in)) {
  POINT(y, size, size.out_sizes);
  Taps taps[3];
  for (int d = 0; d < 3; ++d) {
    taps[d] = taps_of(size.steps[d], y[d], size.in_sizes[d]);
    add_up(&taps[d]);
  }
  C sum = (C)-0.0f; // a zero keeps its sign
  for (int a = 0; a < taps[0].count; ++a) {
    for (int b = 0; b < taps[1].count; ++b) {
      const C weight = weight_of(&taps[0], a) * weight_of(&taps[1], b);
      C row = (C)-0.0f;
      for (int c = 0; c < taps[2].count; ++c) {
        const IDX x[3] = {point_of(&taps[0], a), point_of(&taps[1], b), point_of(&taps[2], c)};
        row += weight_of(&taps[2], c) * LOAD(in, in_first + element(size.in_strides, sample, channel, x));
      }
      sum += weight * row;
    }
  }
  STORE(out, out_first + element(size.out_strides, sample, channel, y), sum);
}

// The first point of the output that sees x or what lies behind it: what they see rises with them.
IDX first_that_sees(C step, IDX x, IDX in_size, IDX out_size) {
  IDX low = 0;
  IDX high = out_size;
  while (low < high) {
    const IDX middle = low + (high - low) / 2;
    const Taps taps = taps_of(step, middle, in_size);
    if (point_of(&taps, taps.count - 1) < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The weight with which point y of the output sees x. `sees` is 0 from the point on which sees only what lies behind x.
C weight_for(C step, IDX y, IDX x, IDX in_size, IDX out_size, int* sees) {
  *sees = y < out_size;
  if (y >= out_size) {
    return 0;
  }
  Taps taps = taps_of(step, y, in_size);
  if (point_of(&taps, 0) > x) {
    *sees = 0;
    return 0;
  }
  add_up(&taps);
  C weight = 0;
  for (int k = 0; k < taps.count; ++k) {
    weight += point_of(&taps, k) == x ? weight_of(&taps, k) : 0;
  }
  return weight;
}
#define OVER_OUTPUT(y, d) \
  for (IDX y = first_that_sees(size.steps[d], x[d], size.in_sizes[d], size.out_sizes[d]);; ++y)
#define WEIGHT(name, y, d) \
  int sees_##name; \
  const C name = weight_for(size.steps[d], y, x[d], size.in_sizes[d], size.out_sizes[d], &sees_##name); \
  if (!sees_##name) { \
    break; \
  }

// A work-item for each element of the input adds up what sees it.
KERNEL(64) backward(
    Upsample size,
    RESULT(T, out),
    OPERAND(T, grad)) {
  POINT(x, size, size.in_sizes);
  C sum = 0;
  OVER_OUTPUT(a, 0) {
    WEIGHT(of_a, a, 0);
    OVER_OUTPUT(b, 1) {
      WEIGHT(of_b, b, 1);
      C row = 0;
      OVER_OUTPUT(c, 2) {
        WEIGHT(of_c, c, 2);
        const IDX y[3] = {a, b, c};
        row += of_c * LOAD(grad, grad_first + element(size.out_strides, sample, channel, y));
      }
      sum += of_a * of_b * row;
    }
  }
  STORE(out, out_first + element(size.in_strides, sample, channel, x), sum);
}
#else

typedef struct {
  IDX count, channels;
  IDX in_sizes[3], out_sizes[3];
  IDX in_strides[5], out_strides[5], grid_strides[5], grad_in_strides[5], grad_grid_strides[5];
  int first_dim;
} Sampling;

// Along a dimension: points, -1 for one outside, their weights, and how fast these change with the grid's number.
typedef struct {
  int count;
  IDX points[4];
  C weights[4], slopes[4];
} Line;

void add_point(Line* line, C point, IDX size, C weight, C slope) {
  line->points[line->count] = point >= 0 && point < (C)size ? (IDX)point : -1;
  line->weights[line->count] = weight;
  line->slopes[line->count++] = slope;
}

C cubic_slope(C distance, C a) {
  const C x = fabs(distance);
  const C slope = x <= 1 ? (3 * (a + 2) * x - 2 * (a + 3)) * x : x < 2 ? ((3 * x - 10) * x + 8) * a : 0;
  return distance < 0 ? -slope : slope;
}

// Brings a place between 0 and `last`. The slope becomes 0 where it was limited, and changes its sign with each
// reflection.
C bring_in(C place, C last, C* slope) {
#if PADDING == ZEROS
  return place;
#endif
#if PADDING == REFLECTION
  const C low = ALIGN_CORNERS ? (C)0 : (C)-0.5f;
  const C span = last - 2 * low;
  const C beyond = span > 0 ? fmod(fabs(place - low), 2 * span) : 0;
  *slope = (place < low) == (beyond < span) ? -*slope : *slope;
  place = low + (beyond < span ? beyond : 2 * span - beyond);
#endif
  *slope = place > 0 && place < last ? *slope : 0;
  return clamp(place, (C)0, last);
}

Line line_of(C number, IDX size) {
  const C far = (C)0x1p40f; // beyond any size
  const C last = (C)(size - 1);
  const C factor = (ALIGN_CORNERS ? last : (C)size) / 2;
  const C named = ALIGN_CORNERS ? (number + 1) * factor : ((number + 1) * (C)size - 1) / 2;
  const C place = fmin(fmax(named, -far), far);
  Line line;
  line.count = 0;
#if INTERPOLATION == CUBIC
  if (!isfinite(named)) { // then the weights are no numbers
    add_point(&line, 0, size, NAN, NAN);
    return line;
  }
  const C low = floor(place);
  for (int k = -1; k < 3; ++k) {
    const C distance = place - low - k;
    C unused = 0;
    const C seen = bring_in(low + k, last, &unused);
    add_point(&line, seen, size, cubic(distance, (C)-0.75f), factor * cubic_slope(distance, (C)-0.75f));
  }
#else
  C slope = factor;
  const C seen = bring_in(place, last, &slope);
#if INTERPOLATION == NEAREST
  add_point(&line, rint(seen), size, 1, 0);
#else
  const C low = floor(seen);
  add_point(&line, low, size, low + 1 - seen, -slope);
  add_point(&line, low + 1, size, seen - low, slope);
#endif
#endif
  return line;
}

// What point y of the output sees along each dimension. The grid counts its numbers from the last dimension on.
void look(const Sampling* size, const __global T* grid, IDX sample, const IDX* y, Line* lines) {
  for (int d = 0; d < 3; ++d) {
    lines[d].count = 1;
    lines[d].points[0] = 0;
    lines[d].weights[0] = 1;
    lines[d].slopes[0] = 0;
    if (d >= size->first_dim) {
      lines[d] = line_of(LOAD(grid, element(size->grid_strides, sample, 2 - d, y)), size->in_sizes[d]);
    }
  }
}

#define OVER_SEEN \
  for (int a = 0; a < lines[0].count; ++a) \
    for (int b = 0; b < lines[1].count; ++b) \
      for (int c = 0; c < lines[2].count; ++c)
#define SEEN(x) \
  const IDX x[3] = {lines[0].points[a], lines[1].points[b], lines[2].points[c]}; \
  if (x[0] < 0 || x[1] < 0 || x[2] < 0) { \
    continue; \
  }
#define WEIGHT (lines[0].weights[a] * lines[1].weights[b] * lines[2].weights[c])
// What a work-item needs that is for a point of the output, one of `count`: the sample, the coordinates, what they see.
#define LOOK_FROM(y) \
  ITEM(i, size.count); \
  const IDX sample = i / POINTS(size.out_sizes); \
  IDX y[3]; \
  split(i % POINTS(size.out_sizes), size.out_sizes, y); \
  Line lines[3]; \
  look(&size, grid + grid_first, sample, y, lines)

KERNEL(64) forward(
    Sampling size,
    RESULT(T, out),
    OPERAND(T, in),
    OPERAND(T, grid)) {
  LOOK_FROM(y);
  for (IDX channel = 0; channel < size.channels; ++channel) {
    C sum = 0;
    OVER_SEEN {
      SEEN(x);
      sum += LOAD(in, in_first + element(size.in_strides, sample, channel, x)) * WEIGHT;
    }
    STORE(out, out_first + element(size.out_strides, sample, channel, y), sum);
  }
}

KERNEL(64) backward_grid(
    Sampling size,
    RESULT(T, out),
    OPERAND(T, grad),
    OPERAND(T, in),
    OPERAND(T, grid)) {
  LOOK_FROM(y);
  C sums[3] = {0, 0, 0};
#if INTERPOLATION != NEAREST
  for (IDX channel = 0; channel < size.channels; ++channel) {
    const C g = LOAD(grad, grad_first + element(size.out_strides, sample, channel, y));
    OVER_SEEN {
      SEEN(x);
      const C value = g * LOAD(in, in_first + element(size.in_strides, sample, channel, x));
      sums[0] += lines[0].slopes[a] * lines[1].weights[b] * lines[2].weights[c] * value;
      sums[1] += lines[0].weights[a] * lines[1].slopes[b] * lines[2].weights[c] * value;
      sums[2] += lines[0].weights[a] * lines[1].weights[b] * lines[2].slopes[c] * value;
    }
  }
#endif
  for (int d = size.first_dim; d < 3; ++d) {
    STORE(out, out_first + element(size.grad_grid_strides, sample, 2 - d, y), sums[d]);
  }
}

// A work-item for each channel: the gradients that meet are added in the order of the points, in `sums`.
KERNEL(64) backward_input(
    Sampling size,
    __global C* sums,
    RESULT(T, out),
    OPERAND(T, grad),
    OPERAND(T, grid)) {
  ITEM(i, size.count);
  const IDX sample = i / size.channels;
  const IDX channel = i % size.channels;
  sums += i * POINTS(size.in_sizes);
  for (IDX k = 0; k < POINTS(size.in_sizes); ++k) {
    sums[k] = 0;
  }
  for (IDX k = 0; k < POINTS(size.out_sizes); ++k) {
    IDX y[3];
    split(k, size.out_sizes, y);
    Line lines[3];
    look(&size, grid + grid_first, sample, y, lines);
    const C g = LOAD(grad, grad_first + element(size.out_strides, sample, channel, y));
    OVER_SEEN {
      SEEN(x);
      sums[(x[0] * size.in_sizes[1] + x[1]) * size.in_sizes[2] + x[2]] += g * WEIGHT;
    }
  }
  for (IDX k = 0; k < POINTS(size.in_sizes); ++k) {
    IDX x[3];
    split(k, size.in_sizes, x);
    STORE(out, out_first + element(size.grad_in_strides, sample, channel, x), sums[k]);
  }
}
#endif
