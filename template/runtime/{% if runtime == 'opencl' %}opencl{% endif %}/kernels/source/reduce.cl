// Reductions. Which one it is, is defined: ACCUMULATE is how an element goes into an accumulator, COMBINE how two of
// them become one, FINISH what the result is. A sum keeps what rounding lost beside it.
typedef struct {
  A value;
  A lost;
} Accumulator;

// After Kahan and Neumaier.
void add_to(Accumulator* sum, A x) {
  const A whole = sum->value + x;
#if FLOATING
  if (isfinite(whole)) {
    sum->lost += fabs(sum->value) >= fabs(x) ? (sum->value - whole) + x : (x - whole) + sum->value;
  }
#endif
  sum->value = whole;
}

typedef struct {
  IDX dims;
  IDX sizes[12];
  IDX strides[2][12];
} Layout;

IDX place(const Layout* layout, int operand, IDX i) {
  IDX at = 0;
  for (int d = 0; d < layout->dims; ++d) {
    at += i % layout->sizes[d] * layout->strides[operand][d];
    i /= layout->sizes[d];
  }
  return at;
}

// Makes an accumulator of the elements `begin` to `end` of a result, of which `in` is the first one. PoCL doesn't inline
// such a function, with which sums took two to three times as long.
#define ACCUMULATE_ALL(all, begin, end) \
  Accumulator all = {START, 0}; \
  for (IDX k = begin; k < end; ++k) { \
    const C x = LOAD(in, reduced.dims == 1 ? k * reduced.strides[1][0] : place(&reduced, 1, k)); \
    ACCUMULATE(all, x); \
  }

// A work-item for each result.
KERNEL(64) each(
    IDX results,
    IDX count,
    Layout kept,
    Layout reduced,
    RESULT(RESULT_T, out),
    OPERAND(T, in)) {
  ITEM(i, results);
  in += in_first + place(&kept, 1, i);
  ACCUMULATE_ALL(all, 0, count);
  STORE_RESULT(out + out_first, place(&kept, 0, i), FINISH(all, count));
}

// A work-group for each result.
KERNEL(64) together(
    IDX results,
    IDX count,
    Layout kept,
    Layout reduced,
    RESULT(RESULT_T, out),
    OPERAND(T, in)) {
  __local Accumulator shared[64];
  const int lane = (int)get_local_id(0);
  const IDX i = (IDX)get_group_id(0);
  in += in_first + place(&kept, 1, i);
  // Each has a piece side by side, of which a CPU's cache holds a line.
  const IDX piece = (count + 63) / 64;
  const IDX begin = min(lane * piece, count);
  const IDX end = min(begin + piece, count);
  ACCUMULATE_ALL(all, begin, end);
  shared[lane] = all;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_of_them = 32; half_of_them > 0; half_of_them /= 2) {
    if (lane < half_of_them) {
      all = shared[lane];
      const Accumulator other = shared[lane + half_of_them];
      COMBINE(all, other);
      shared[lane] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    all = shared[0];
    STORE_RESULT(out + out_first, place(&kept, 0, i), FINISH(all, count));
  }
}
