// Sorts that keep the order of equal elements. SORT says whether y comes before x.
#define FIRST_OF(row) ((row) / inner * size * inner + (row) % inner)
#define BLOCK 128

// How many of the elements from `begin` to `end` come before number i. NaNs are equal to each other.
IDX before(const __global T* a, IDX inner, IDX begin, IDX end, IDX i) {
  const C x = LOAD(a, i * inner);
  IDX count = 0;
  for (IDX k = begin; k < end; ++k) {
    const C y = LOAD(a, k * inner);
    const int same = y == x || (y != y && x != x);
    count += same ? k < i : SORT;
  }
  return count;
}

// In each block of a row: `order` gets the elements' numbers.
KERNEL(64) sort_blocks(
    IDX elements,
    IDX size,
    IDX inner,
    __global IDX* order,
    OPERAND(T, a)) {
  ITEM(number, elements);
  const IDX row = number / size;
  const IDX i = number % size;
  const IDX begin = i / BLOCK * BLOCK;
  order[row * size + begin + before(a + a_first + FIRST_OF(row), inner, begin, min(begin + BLOCK, size), i)] = i;
}

// Runs of `length` elements become runs of twice that. An element goes as many places on as there are elements before
// it in the other run, which are counted by halves.
KERNEL(64) merge(
    IDX elements,
    IDX size,
    IDX inner,
    IDX length,
    __global IDX* merged,
    __global const IDX* order,
    OPERAND(T, a)) {
  ITEM(number, elements);
  const IDX row = number / size;
  const IDX at = number % size;
  a += a_first + FIRST_OF(row);
  order += row * size;
  const IDX begin = at / (2 * length) * (2 * length);
  const IDX middle = min(begin + length, size);
  const int is_left = at < middle;
  const IDX other = is_left ? middle : begin;
  IDX low = other;
  IDX high = is_left ? min(middle + length, size) : middle;
  const C own = LOAD(a, order[at] * inner);
  while (low < high) {
    const IDX half_way = low + (high - low) / 2;
    const C there = LOAD(a, order[half_way] * inner);
    // Of equal ones that of the left run comes first.
    const C x = is_left ? own : there;
    const C y = is_left ? there : own;
    const int comes_first = SORT;
    if (comes_first == is_left) {
      low = half_way + 1;
    } else {
      high = half_way;
    }
  }
  const IDX run = is_left ? begin : middle;
  merged[row * size + begin + (at - run) + (low - other)] = order[at];
}

#ifdef PERMUTATION
KERNEL(64) draw(
    IDX count,
    __global T* numbers,
    ulong seed,
    ulong counter) {
  ITEM(i, count);
  numbers[i] = both(seed, counter, i);
}

KERNEL(64) place(
    IDX count,
    IDX stride,
    __global const IDX* order,
    RESULT(PERMUTATION, out)) {
  ITEM(i, count);
  out[out_first + i * stride] = order[i];
}
#else
KERNEL(64) place(
    IDX wanted_elements,
    IDX size,
    IDX inner,
    IDX wanted,
    IDX has_values,
    __global const IDX* order,
    RESULT(T, values),
    RESULT(long, indices),
    OPERAND(T, a)) {
  ITEM(number, wanted_elements);
  const IDX row = number / wanted;
  const IDX at = number % wanted;
  const IDX i = order[row * size + at];
  const IDX to = row / inner * wanted * inner + at * inner + row % inner;
  if (has_values) {
    MOVE(values, values_first + to, a, a_first + FIRST_OF(row) + i * inner);
  }
  indices[indices_first + to] = i;
}
#endif
