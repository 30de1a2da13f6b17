// Where indices say. The dimensions of the points that the indices differ along are walked by a work-item in their
// order, so that what comes last counts, and sums are made in the order of the points. Along all others the work-items lie.
typedef struct {
  IDX dims;
  IDX sizes[12];
  IDX strides[6][12]; // output, input, indices
} Layout;
typedef struct {
  long sizes[4];
  IDX strides[4];
  int from_end;
} Indexed;

void place(const Layout* layout, IDX i, IDX* at) {
  for (int k = 0; k < 2 + INDICES; ++k) {
    at[k] = 0;
  }
  for (int d = 0; d < layout->dims; ++d) {
    const IDX coordinate = i % layout->sizes[d];
    i /= layout->sizes[d];
    for (int k = 0; k < 2 + INDICES; ++k) {
      at[k] += coordinate * layout->strides[k][d];
    }
  }
}

#define INDEX_ARGUMENTS \
  OPERAND(long, i0), OPERAND(long, i1), OPERAND(long, i2), OPERAND(long, i3)
#define SHIFTS const __global long* const indices[4] = {i0 + i0_first, i1 + i1_first, i2 + i2_first, i3 + i3_first}

// How far the indices move the operand; -1 where one is out of range.
long shift(const Indexed* indexed, const __global long* const* indices, const IDX* at, __global Complaint* complaint, int number) {
  long shifted = 0;
  for (int k = 0; k < INDICES; ++k) {
    const long given = indices[k][at[2 + k]];
    const long size = indexed->sizes[k];
    const long index = given < 0 && indexed->from_end ? given + size : given;
    if (index < 0 || index >= size) {
      complain(complaint, number, given, size);
      return -1;
    }
    shifted += index * indexed->strides[k];
  }
  return shifted;
}

#ifdef GATHER
KERNEL(64) gather(
    IDX count,
    Layout points,
    Indexed indexed,
    RESULT(T, out),
    OPERAND(T, in),
    INDEX_ARGUMENTS,
    __global Complaint* complaint,
    int number) {
  ITEM(i, count);
  SHIFTS;
  IDX at[6];
  place(&points, i, at);
  const long moved = shift(&indexed, indices, at, complaint, number);
  if (moved >= 0) {
    out[out_first + at[0]] = in[in_first + at[1] + moved];
  }
}
#else
KERNEL(64) scatter(
    IDX items,
    IDX steps,
    Layout across,
    Layout along,
    Indexed indexed,
    RESULT(T, out),
#if SCALAR
    S value,
#else
    OPERAND(T, in),
#endif
    INDEX_ARGUMENTS,
    __global Complaint* complaint,
    int number) {
  ITEM(i, items);
  SHIFTS;
  IDX base[6];
  place(&across, i, base);
  for (IDX k = 0; k < steps; ++k) {
    IDX at[6];
    place(&along, k, at);
    for (int operand = 0; operand < 2 + INDICES; ++operand) {
      at[operand] += base[operand];
    }
    const long moved = shift(&indexed, indices, at, complaint, number);
    if (moved < 0) {
      continue;
    }
    __global T* const to = out + out_first + at[0] + moved;
#if SCALAR
    const C x = LOAD_SCALAR(value);
#else
    const C x = LOAD(in, in_first + at[1]);
#endif
#ifdef COMBINE
    const C before = LOAD(to, 0);
    STORE(to, 0, COMBINE(before, x));
#else
    STORE(to, 0, x);
#endif
  }
}
#endif
