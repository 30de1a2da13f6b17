// out = a @ b in one piece or tile by tile. What the two matrices and the result are is defined: LOAD_A(row, k),
// LOAD_B(k, column) and KEEP(row, column, value) reach them in memory, for matrix number `batch`.
//
// A GPU has a tile of each in local memory. A CPU has no such memory: for it the matrices are packed, so that a
// work-item reads side by side what it multiplies next, with zeros at the edges.
#define ROWS 6
#define COLUMNS WIDTH

#if WIDTH == 16
#define V JOIN(C, 16)
#define VLOAD vload16
#define VSTORE vstore16
#else
#define V JOIN(C, 8)
#define VLOAD vload8
#define VSTORE vstore8
#endif

// A work-item packs a block of `most` rows or columns for one k.
#define PACK(name, ARGUMENTS, across, most, ELEMENT) \
  KERNEL(64) name(SIZE size, __global C* packed, ARGUMENTS) { \
    const IDX blocks = (size.across + most - 1) / most; \
    ITEM(i, blocks * size.k); \
    const IDX batch = (IDX)get_global_id(1) + size.first_batch; \
    const IDX k = i % size.k; \
    const IDX block = i / size.k; \
    packed += ((IDX)get_global_id(1) * blocks * size.k + i) * most; \
    for (int number = 0; number < most; ++number) { \
      const IDX at = block * most + number; \
      packed[number] = at < size.across ? (C)ELEMENT(at, k) : (C)0; \
    } \
  }
#define OF_A(row, k) LOAD_A(row, k)
#define OF_B(column, k) LOAD_B(k, column)
PACK(pack_a, A_ARGUMENTS, m, ROWS, OF_A)
PACK(pack_b, B_ARGUMENTS, n, COLUMNS, OF_B)

// A work-group of one item makes ROWS x COLUMNS results, which stay in registers. Sums of 256 products are added up, so
// that long sums lose less.
KERNEL(1) multiply(
    SIZE size,
    __global const C* a,
    __global const C* b,
    OUT_ARGUMENTS) {
  const IDX row_block = (IDX)get_group_id(0);
  const IDX column_block = (IDX)get_group_id(1);
  const IDX batch = (IDX)get_group_id(2) + size.first_batch;
  const IDX row_blocks = (size.m + ROWS - 1) / ROWS;
  const IDX column_blocks = (size.n + COLUMNS - 1) / COLUMNS;
  a += ((IDX)get_group_id(2) * row_blocks + row_block) * size.k * ROWS;
  b += ((IDX)get_group_id(2) * column_blocks + column_block) * size.k * COLUMNS;
  V t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0;
  for (IDX begin = 0; begin < size.k; begin += 256) {
    V s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
    const IDX end = min(begin + 256, size.k);
    for (IDX k = begin; k < end; ++k) {
      const V line = VLOAD(k, b);
      __global const C* const column = a + k * ROWS;
      s0 = MULTIPLY_ADD((V)column[0], line, s0);
      s1 = MULTIPLY_ADD((V)column[1], line, s1);
      s2 = MULTIPLY_ADD((V)column[2], line, s2);
      s3 = MULTIPLY_ADD((V)column[3], line, s3);
      s4 = MULTIPLY_ADD((V)column[4], line, s4);
      s5 = MULTIPLY_ADD((V)column[5], line, s5);
    }
    t0 += s0;
    t1 += s1;
    t2 += s2;
    t3 += s3;
    t4 += s4;
    t5 += s5;
  }
  C sums[ROWS * COLUMNS];
  VSTORE(t0, 0, sums);
  VSTORE(t1, 1, sums);
  VSTORE(t2, 2, sums);
  VSTORE(t3, 3, sums);
  VSTORE(t4, 4, sums);
  VSTORE(t5, 5, sums);
  for (int r = 0; r < ROWS; ++r) {
    const IDX row = row_block * ROWS + r;
    for (int c = 0; c < COLUMNS; ++c) {
      const IDX column = column_block * COLUMNS + c;
      if (row < size.m && column < size.n) {
        const C value = sums[r * COLUMNS + c];
        KEEP(row, column, value);
      }
    }
  }
}

// A work-group of 16 x 16 items makes 32 x 32 results; each item makes four of them, and adds up sums of 256 products.
#define TILE 32
#define DEPTH 16
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void tiled(
    SIZE size,
    A_ARGUMENTS,
    B_ARGUMENTS,
    OUT_ARGUMENTS) {
  __local C part_a[DEPTH][TILE + 1];
  __local C part_b[DEPTH][TILE + 1];
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  const int item = y * 16 + x;
  const IDX columns = (size.n + TILE - 1) / TILE;
  const IDX first_column = (IDX)get_group_id(0) % columns * TILE;
  const IDX first_row = (IDX)get_group_id(0) / columns * TILE;
  const IDX batch = (IDX)get_group_id(2) + size.first_batch;
  C sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;
  C all00 = 0, all01 = 0, all10 = 0, all11 = 0;
  for (IDX begin = 0; begin < size.k; begin += DEPTH) {
    for (int i = item; i < TILE * DEPTH; i += 256) {
      const IDX row = first_row + i / DEPTH;
      const IDX k = begin + i % DEPTH;
      part_a[i % DEPTH][i / DEPTH] = row < size.m && k < size.k ? (C)LOAD_A(row, k) : (C)0;
    }
    for (int i = item; i < TILE * DEPTH; i += 256) {
      const IDX k = begin + i / TILE;
      const IDX column = first_column + i % TILE;
      part_b[i / TILE][i % TILE] = column < size.n && k < size.k ? (C)LOAD_B(k, column) : (C)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < DEPTH; ++k) {
      const C a0 = part_a[k][y], a1 = part_a[k][y + 16], b0 = part_b[k][x], b1 = part_b[k][x + 16];
      sum00 = MULTIPLY_ADD(a0, b0, sum00);
      sum01 = MULTIPLY_ADD(a0, b1, sum01);
      sum10 = MULTIPLY_ADD(a1, b0, sum10);
      sum11 = MULTIPLY_ADD(a1, b1, sum11);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((begin + DEPTH) % 256 == 0 || begin + DEPTH >= size.k) {
      all00 += sum00;
      all01 += sum01;
      all10 += sum10;
      all11 += sum11;
      sum00 = sum01 = sum10 = sum11 = 0;
    }
  }
  const C sums[4] = {all00, all01, all10, all11};
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      const IDX row = first_row + y + 16 * r;
      const IDX column = first_column + x + 16 * c;
      if (row < size.m && column < size.n) {
        const C value = sums[2 * r + c];
        KEEP(row, column, value);
      }
    }
  }
}
