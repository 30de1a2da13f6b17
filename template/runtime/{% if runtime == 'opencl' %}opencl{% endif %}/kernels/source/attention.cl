// Attention, which never has the whole matrix of scores. A work-item has a query, or a key; its group goes through the
// others in tiles of 16 rows, which lie in local memory. A group makes COLUMNS of the results' columns.
typedef struct {
  IDX heads, queries, keys, width;
  IDX query[3], key[3], value[3], out[3], mask[4];
  IDX grad_query[3], grad_key[3], grad_value[3], grad_out[3];
  C scale, stays; // with dropout, `stays` multiplies a share that stays, and `kept` is the chance of it
  int is_causal, has_mask;
  float kept;
} Attention;

#define TILE 16
#define PARTS (COLUMNS / 16) // of a row of the results
#define V JOIN(C, 16)
#define V8 JOIN(C, 8)
#define V4 JOIN(C, 4)
#define V2 JOIN(C, 2)

// 16 rows from `first` on and their columns from `begin` on, with zeros where there are none.
void read_tile(
    __local C* tile,
    const __global T* rows,
    IDX stride,
    IDX first,
    IDX count,
    IDX begin,
    IDX width,
    int by_row,
    int by_column) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < TILE * COLUMNS; i += LANES) {
    const int row = i / COLUMNS;
    const int column = i % COLUMNS;
    const int inside = first + row < count && begin + column < width;
    tile[row * by_row + column * by_column] = inside ? LOAD(rows, (first + row) * stride + begin + column) : (C)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The products of a row with 16 others.
V products(
    const __global T* row,
    const __global T* rows,
    IDX stride,
    IDX first,
    IDX count,
    IDX width,
    int live,
    __local C* tile) {
  V sums = 0;
  for (IDX begin = 0; begin < width; begin += COLUMNS) {
    read_tile(tile, rows, stride, first, count, begin, width, 1, TILE);
    const int some = live ? (int)min((IDX)COLUMNS, width - begin) : 0;
    for (int k = 0; k < some; ++k) {
      sums = fma((V)LOAD(row, begin + k), vload16(k, tile), sums);
    }
  }
  return sums;
}

// Adds 16 rows, each times its weight. The weights are named one by one, because PoCL 3.1 reads wrong ones from an array
// that a double16 was stored to.
#define ADD_ROW(row, weight) sum = fma((V)weights.weight, vload16(row * PARTS + part, tile), sum);
void add_rows(
    V* sums,
    V weights,
    const __global T* rows,
    IDX stride,
    IDX first,
    IDX count,
    IDX begin,
    IDX width,
    int live,
    __local C* tile) {
  read_tile(tile, rows, stride, first, count, begin, width, COLUMNS, 1);
  if (live) {
    for (int part = 0; part < PARTS; ++part) {
      V sum = sums[part];
      ADD_ROW(0, s0) ADD_ROW(1, s1) ADD_ROW(2, s2) ADD_ROW(3, s3) ADD_ROW(4, s4) ADD_ROW(5, s5)
      ADD_ROW(6, s6) ADD_ROW(7, s7) ADD_ROW(8, s8) ADD_ROW(9, s9) ADD_ROW(10, sa) ADD_ROW(11, sb)
      ADD_ROW(12, sc) ADD_ROW(13, sd) ADD_ROW(14, se) ADD_ROW(15, sf)
      sums[part] = sum;
    }
  }
}

// The scores of 16 products, the first of which is that of `query` and `key`.
V scores_of(
    V products,
    const Attention* size,
    const __global T* mask,
    IDX query,
    IDX key,
    int query_step,
    int key_step) {
  C scores[TILE];
  vstore16(products * size->scale, 0, scores);
  for (int i = 0; i < TILE; ++i) {
    if (query >= size->queries || key >= size->keys || (size->is_causal && key > query)) {
      scores[i] = -INFINITY;
    } else if (size->has_mask) {
      scores[i] += LOAD(mask, query * size->mask[2] + key * size->mask[3]);
    }
    query += query_step;
    key += key_step;
  }
  return vload16(0, scores);
}

#ifdef DROPOUT
// What 16 shares are multiplied by. `number` is that of the first score among all, and `step` the distance to the next.
V factors_of(C stays, float kept, ulong seed, ulong counter, ulong number, IDX step) {
  C factors[TILE];
  for (int i = 0; i < TILE; ++i) {
    const float drawn = (float)(philox(seed, counter, number, 0) >> 8) * 0x1p-24f;
    factors[i] = drawn < kept ? stays : (C)0;
    number += (ulong)step;
  }
  return vload16(0, factors);
}
#define POSITION , OPERAND(ulong, seed), OPERAND(ulong, offset)
#define DROP(v, query, key, step) \
  ((v) * \
   factors_of( \
       size.stays, \
       size.kept, \
       seed[seed_first], \
       offset[offset_first] / 4, \
       ((ulong)OF_HEAD + (ulong)(query)) * (ulong)size.keys + (ulong)(key), \
       step))

KERNEL(1) set_position(RESULT(ulong, seed), RESULT(ulong, offset), ulong new_seed, ulong new_offset) {
  seed[seed_first] = new_seed;
  offset[offset_first] = new_offset;
}
#else
#define POSITION
#define DROP(v, query, key, step) (v)
#endif

void write_row(__global T* row, const V* sums, C factor, IDX begin, IDX width) {
  C values[COLUMNS];
  for (int part = 0; part < PARTS; ++part) {
    vstore16(sums[part] * factor, part, values);
  }
  for (int k = 0; k < COLUMNS && begin + k < width; ++k) {
    STORE(row, begin + k, values[k]);
  }
}

// Groups are numbered by the head of a batch in the first dimension, in which devices have the most: of the others some
// have 65535. The row `own` is a work-item's, and the matrices of its head begin at HEAD.
#define OWN ((IDX)(get_group_id(2) * LANES + get_local_id(0)))
#define BEGIN(rows) \
  __local C tile[TILE * COLUMNS]; \
  const IDX head = (IDX)get_group_id(0) % size.heads; \
  const IDX batch = (IDX)get_group_id(0) / size.heads; \
  const IDX begin = (IDX)get_group_id(1) * COLUMNS; \
  const IDX own = OWN; \
  const int live = own < rows
#define HEAD(name) (name + name##_first + batch * size.name[0] + head * size.name[1])
#define MASK HEAD(mask)
#define OF_HEAD ((IDX)get_group_id(0) * size.queries)

// For a work-item with a query: the tiles of the keys that its group sees, and its scores with those of one.
#define OVER_KEYS(at) \
  const IDX end = size.is_causal ? min(size.keys, (IDX)get_group_id(2) * LANES + LANES) : size.keys; \
  for (IDX at = 0; at < end; at += TILE)
#define SCORES(s, at) \
  const V s = scores_of( \
      products(row, HEAD(key), size.key[2], at, size.keys, size.width, live, tile), &size, MASK, own, at, 0, 1)

// Exponentials are those of the distance to the greatest score so far; what was summed shrinks when it grows.
KERNEL(LANES) forward(
    Attention size,
    RESULT(T, out),
    RESULT(C, logarithms),
    OPERAND(T, query),
    OPERAND(T, key),
    OPERAND(T, value),
    OPERAND(T, mask) POSITION) {
  BEGIN(size.queries);
  const __global T* const row = HEAD(query) + own * size.query[2];
  V sums[PARTS] = {(V)0};
  C most = -INFINITY;
  C total = 0;
  OVER_KEYS(at) {
    SCORES(s, at);
    const V8 m8 = fmax(s.lo, s.hi);
    const V4 m4 = fmax(m8.lo, m8.hi);
    const V2 m2 = fmax(m4.lo, m4.hi);
    const C next = fmax(most, fmax(m2.lo, m2.hi));
    const C base = next == -INFINITY ? 0 : next;
    const C shrunk = exp(most - base);
    const V shares = exp(s - base);
    const V8 t8 = shares.lo + shares.hi;
    const V4 t4 = t8.lo + t8.hi;
    const V2 t2 = t4.lo + t4.hi;
    most = next;
    total = total * shrunk + (t2.lo + t2.hi);
    for (int part = 0; part < PARTS; ++part) {
      sums[part] *= shrunk;
    }
    add_rows(sums, DROP(shares, own, at, 1), HEAD(value), size.value[2], at, size.keys, begin, size.width, live, tile);
  }
  if (live) {
    write_row(HEAD(out) + own * size.out[2], sums, total == 0 ? 0 : 1 / total, begin, size.width);
    if (begin == 0) {
      logarithms[logarithms_first + OF_HEAD + own] = total == 0 ? -INFINITY : most + log(total);
    }
  }
}

// Of each query the sum of its outputs' products with their gradients.
KERNEL(LANES) products_of_out(
    Attention size,
    __global C* sums,
    OPERAND(T, grad_out),
    OPERAND(T, out)) {
  const IDX head = (IDX)get_group_id(0) % size.heads;
  const IDX batch = (IDX)get_group_id(0) / size.heads;
  const IDX own = OWN;
  if (own >= size.queries) {
    return;
  }
  C sum = 0;
  for (IDX k = 0; k < size.width; ++k) {
    sum += LOAD(HEAD(grad_out), own * size.grad_out[2] + k) * LOAD(HEAD(out), own * size.out[2] + k);
  }
  sums[OF_HEAD + own] = sum;
}

// A query whose scores are all -inf shares nothing.
#define BASE(number) (logarithms[number] == -INFINITY ? (C)0 : logarithms[number])

KERNEL(LANES) backward_query(
    Attention size,
    RESULT(T, grad_query),
    OPERAND(T, grad_out),
    OPERAND(T, query),
    OPERAND(T, key),
    OPERAND(T, value),
    OPERAND(C, logarithms),
    OPERAND(T, mask),
    __global const C* of_out POSITION) {
  BEGIN(size.queries);
  logarithms += logarithms_first + OF_HEAD;
  const C base = live ? BASE(own) : 0;
  const C subtracted = live ? of_out[OF_HEAD + own] : 0;
  const __global T* const row = HEAD(query) + own * size.query[2];
  const __global T* const grad_row = HEAD(grad_out) + own * size.grad_out[2];
  V sums[PARTS] = {(V)0};
  OVER_KEYS(at) {
    SCORES(s, at);
    const V grads = products(grad_row, HEAD(value), size.value[2], at, size.keys, size.width, live, tile);
    const V changes = exp(s - base) * (DROP(grads, own, at, 1) - subtracted);
    add_rows(sums, changes, HEAD(key), size.key[2], at, size.keys, begin, size.width, live, tile);
  }
  if (live) {
    write_row(HEAD(grad_query) + own * size.grad_query[2], sums, size.scale, begin, size.width);
  }
}

KERNEL(LANES) backward_key(
    Attention size,
    RESULT(T, grad_key),
    RESULT(T, grad_value),
    OPERAND(T, grad_out),
    OPERAND(T, query),
    OPERAND(T, key),
    OPERAND(T, value),
    OPERAND(C, logarithms),
    OPERAND(T, mask),
    __global const C* of_out POSITION) {
  BEGIN(size.keys);
  logarithms += logarithms_first + OF_HEAD;
  of_out += OF_HEAD;
  const __global T* const row = HEAD(key) + own * size.key[2];
  const __global T* const value_row = HEAD(value) + own * size.value[2];
  V key_sums[PARTS] = {(V)0};
  V value_sums[PARTS] = {(V)0};
  for (IDX at = size.is_causal ? (IDX)get_group_id(2) * LANES : 0; at < size.queries; at += TILE) {
    C of_queries[2][TILE];
    for (int i = 0; i < TILE; ++i) {
      of_queries[0][i] = at + i < size.queries ? BASE(at + i) : 0;
      of_queries[1][i] = at + i < size.queries ? of_out[at + i] : 0;
    }
    const V s = scores_of(
        products(row, HEAD(query), size.query[2], at, size.queries, size.width, live, tile), &size, MASK, at, own, 1, 0);
    const V grads =
        products(value_row, HEAD(grad_out), size.grad_out[2], at, size.queries, size.width, live, tile);
    const V shares = exp(s - vload16(0, of_queries[0]));
    const V changes = shares * (DROP(grads, at, own, size.keys) - vload16(0, of_queries[1]));
    const V stay = DROP(shares, at, own, size.keys);
    add_rows(
        value_sums, stay, HEAD(grad_out), size.grad_out[2], at, size.queries, begin, size.width, live, tile);
    add_rows(key_sums, changes, HEAD(query), size.query[2], at, size.queries, begin, size.width, live, tile);
  }
  if (live) {
    write_row(HEAD(grad_key) + own * size.grad_key[2], key_sums, size.scale, begin, size.width);
    write_row(HEAD(grad_value) + own * size.grad_value[2], value_sums, 1, begin, size.width);
  }
}
