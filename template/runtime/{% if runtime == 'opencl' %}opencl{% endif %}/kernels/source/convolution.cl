// The three products that a convolution is, without ever having the matrix of columns: an element of it is looked up in
// the input, or in the gradient of the output. A batch is a group.
typedef struct {
  IDX m, n, k, first_batch;
  IDX in_channels, out_channels; // of a group
  IDX in_sizes[3], out_sizes[3], sizes[3], stride[3], padding[3], dilation[3];
  IDX in_strides[5], out_strides[5], weight_strides[5];
  IDX places; // of the window
  IDX in_points, out_points;
  IDX has_bias;
} Convolution;
#define SIZE Convolution

IDX join(const IDX* at, const IDX* strides) {
  return at[0] * strides[2] + at[1] * strides[3] + at[2] * strides[4];
}

// Where a point lies that is numbered through all samples, for a channel.
IDX place_of(const IDX* sizes, const IDX* strides, IDX points, IDX channel, IDX number) {
  IDX at[3];
  split(number % points, sizes, at);
  return number / points * strides[0] + channel * strides[1] + join(at, strides);
}

C input_at(const Convolution* size, const __global T* in, IDX sample, IDX channel, IDX place, IDX point) {
  IDX k[3], y[3], x[3];
  split(place, size->sizes, k);
  split(point, size->out_sizes, y);
  for (int d = 0; d < 3; ++d) {
    x[d] = y[d] * size->stride[d] + k[d] * size->dilation[d] - size->padding[d];
    if (x[d] < 0 || x[d] >= size->in_sizes[d]) {
      return 0;
    }
  }
  return LOAD(in, sample * size->in_strides[0] + channel * size->in_strides[1] + join(x, size->in_strides));
}

// The gradient of the output that a point of the input gets through a place of the window.
C gradient_at(const Convolution* size, const __global T* grad, IDX sample, IDX channel, IDX place, IDX point) {
  IDX k[3], x[3], y[3];
  split(place, size->sizes, k);
  split(point, size->in_sizes, x);
  for (int d = 0; d < 3; ++d) {
    const IDX reached = x[d] + size->padding[d] - k[d] * size->dilation[d];
    y[d] = reached / size->stride[d];
    if (reached < 0 || reached % size->stride[d] != 0 || y[d] >= size->out_sizes[d]) {
      return 0;
    }
  }
  return LOAD(grad, sample * size->out_strides[0] + channel * size->out_strides[1] + join(y, size->out_strides));
}

C weight_at(const Convolution* size, const __global T* weight, IDX out_channel, IDX in_channel, IDX place) {
  IDX k[3];
  split(place, size->sizes, k);
  return LOAD(
      weight, out_channel * size->weight_strides[0] + in_channel * size->weight_strides[1] + join(k, size->weight_strides));
}

#if PRODUCT == 0 // the output: rows are its channels, columns the points of all samples
#define A_ARGUMENTS OPERAND(T, weight)
#define B_ARGUMENTS OPERAND(T, in)
#define OUT_ARGUMENTS RESULT(T, out), OPERAND(T, bias)
#define LOAD_A(row, k) \
  weight_at(&size, weight + weight_first, batch * size.out_channels + (row), (k) / size.places, (k) % size.places)
#define LOAD_B(k, column) \
  input_at( \
      &size, in + in_first, (column) / size.out_points, batch * size.in_channels + (k) / size.places, \
      (k) % size.places, (column) % size.out_points)
void keep(const Convolution* size, __global T* out, const __global T* bias, IDX batch, IDX row, IDX column, C value) {
  const IDX channel = batch * size->out_channels + row;
  STORE(
      out, place_of(size->out_sizes, size->out_strides, size->out_points, channel, column),
      size->has_bias ? value + LOAD(bias, channel) : value);
}
#define KEEP(row, column, value) keep(&size, out + out_first, bias + bias_first, batch, row, column, value)
#elif PRODUCT == 1 // the gradient of the input: rows are its channels, columns the points of all samples
#define A_ARGUMENTS OPERAND(T, weight)
#define B_ARGUMENTS OPERAND(T, grad)
#define OUT_ARGUMENTS RESULT(T, out)
#define LOAD_A(row, k) \
  weight_at(&size, weight + weight_first, batch * size.out_channels + (k) / size.places, row, (k) % size.places)
#define LOAD_B(k, column) \
  gradient_at( \
      &size, grad + grad_first, (column) / size.in_points, batch * size.out_channels + (k) / size.places, \
      (k) % size.places, (column) % size.in_points)
void keep(const Convolution* size, __global T* out, IDX batch, IDX row, IDX column, C value) {
  const IDX channel = batch * size->in_channels + row;
  STORE(out, place_of(size->in_sizes, size->in_strides, size->in_points, channel, column), value);
}
#define KEEP(row, column, value) keep(&size, out + out_first, batch, row, column, value)
#elif PRODUCT == 2 // the gradient of the weight: rows are channels of the output, sums go over the points of all samples
#define A_ARGUMENTS OPERAND(T, grad)
#define B_ARGUMENTS OPERAND(T, in)
#define OUT_ARGUMENTS RESULT(T, out)
#define LOAD_A(row, k) \
  LOAD( \
      grad + grad_first, \
      place_of(size.out_sizes, size.out_strides, size.out_points, batch * size.out_channels + (row), k))
#define LOAD_B(k, column) \
  input_at( \
      &size, in + in_first, (k) / size.out_points, batch * size.in_channels + (column) / size.places, \
      (column) % size.places, (k) % size.out_points)
void keep(const Convolution* size, __global T* out, IDX batch, IDX row, IDX column, C value) {
  IDX k[3];
  split(column % size->places, size->sizes, k);
  STORE(
      out,
      (batch * size->out_channels + row) * size->weight_strides[0] + column / size->places * size->weight_strides[1] +
          join(k, size->weight_strides),
      value);
}
#define KEEP(row, column, value) keep(&size, out + out_first, batch, row, column, value)
#endif
