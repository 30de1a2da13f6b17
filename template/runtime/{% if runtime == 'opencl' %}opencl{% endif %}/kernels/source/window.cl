// What pooling and resampling walk: samples and channels of up to three dimensions.
IDX element(const IDX* strides, IDX sample, IDX channel, const IDX* at) {
  return sample * strides[0] + channel * strides[1] + at[0] * strides[2] + at[1] * strides[3] + at[2] * strides[4];
}

#define POINTS(sizes) (sizes[0] * sizes[1] * sizes[2])

// The sample, the channel and the coordinates that a work-item is for, one of `size.count`.
#define POINT(at, size, among) \
  ITEM(i, size.count); \
  const IDX sample = i / POINTS(among) / size.channels; \
  const IDX channel = i / POINTS(among) % size.channels; \
  IDX at[3]; \
  split(i % POINTS(among), among, at)
