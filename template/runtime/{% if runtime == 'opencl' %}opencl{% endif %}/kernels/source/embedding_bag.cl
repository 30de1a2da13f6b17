// Bags of embeddings. A work-item for each element of the result; the work-item of a bag's first column also writes
// the bag's size and indices.
#define MEAN 1
#define MAX 3

KERNEL(64) embedding_bag(
    IDX count,
    IDX bags,
    IDX rows,
    IDX width,
    long padding,
    int reduction,
    int has_factors,
    RESULT(T, out),
    RESULT(long, bag_of),
    RESULT(long, sizes),
    RESULT(long, places),
    OPERAND(T, weight),
    OPERAND(long, indices),
    OPERAND(long, offsets),
    OPERAND(T, factors),
    __global Complaint* complaint,
    int number) {
  ITEM(i, bags * width);
  const IDX bag = i / width;
  const IDX column = i % width;
  indices += indices_first;
  const long begin = offsets[offsets_first + bag];
  const long end = bag + 1 < bags ? offsets[offsets_first + bag + 1] : count;
  if (begin < 0 || end < begin || end > count || (bag == 0 && begin != 0)) {
    complain(complaint, number, bag, NO_BAG);
    return;
  }
  C value = 0;
  long place = -1;
  IDX size = 0;
  for (IDX k = (IDX)begin; k < (IDX)end; ++k) {
    const long index = indices[k];
    if (column == 0) {
      bag_of[bag_of_first + k] = bag;
    }
    if (index < 0 || index >= rows) {
      complain(complaint, number, index, rows);
      return;
    }
    if (index == padding) {
      continue;
    }
    const C x = LOAD(weight, weight_first + index * width + column);
    if (reduction != MAX) {
      value += (has_factors ? LOAD(factors, factors_first + k) : 1) * x;
    } else if (size == 0 || x > value) {
      value = x;
      place = index;
    }
    ++size;
  }
  if (column == 0) {
    sizes[sizes_first + bag] = size;
  }
  if (reduction == MAX) {
    places[places_first + i] = place;
  }
  STORE(out, out_first + i, reduction == MEAN && size > 0 ? value / (C)size : value);
}
