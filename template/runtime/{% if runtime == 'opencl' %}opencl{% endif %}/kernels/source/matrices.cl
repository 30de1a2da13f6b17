// The matrices of gemm, by strides.
typedef struct {
  IDX m, n, k, first_batch;
  IDX out_strides[3], a_strides[3], b_strides[3];
  C alpha, beta;
} Gemm;
#define SIZE Gemm
#define A_ARGUMENTS OPERAND(T, a)
#define B_ARGUMENTS OPERAND(T, b)
#define OUT_ARGUMENTS RESULT(T, out)
#define LOAD_A(row, k) \
  LOAD(a + a_first, batch * size.a_strides[0] + (row) * size.a_strides[1] + (k) * size.a_strides[2])
#define LOAD_B(k, column) \
  LOAD(b + b_first, batch * size.b_strides[0] + (k) * size.b_strides[1] + (column) * size.b_strides[2])
#define OUT_AT(row, column) (batch * size.out_strides[0] + (row) * size.out_strides[1] + (column) * size.out_strides[2])
#define KEEP(row, column, value) \
  STORE(out + out_first, OUT_AT(row, column), \
        size.beta == 0 ? size.alpha * value \
                       : size.alpha * value + size.beta * LOAD(out + out_first, OUT_AT(row, column)))
