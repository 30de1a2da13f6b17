// What compiled code calls beside OpenCL C's own functions.
#ifdef cl_khr_fp64
typedef double real;
#else
typedef float real;
#endif

// Devices differ in what they do where a quotient isn't a number or too large.
long div_trunc(long a, long b) {
  return b == 0 ? 0 : b == -1 ? (long)(0 - (ulong)a) : a / b;
}
long mod_trunc(long a, long b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
long mod_floor(long a, long b) {
  const long rest = mod_trunc(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
long div_floor(long a, long b) {
  const long quotient = div_trunc(a, b), rest = mod_trunc(a, b);
  return quotient - (rest != 0 && (rest < 0) != (b < 0));
}

// Random numbers: the bits of an offset under a seed.
float uniform(long seed, long offset) {
  return (float)(philox((ulong)seed, 0, (ulong)offset, 0) >> 8) * 0x1p-24f;
}
float normal(long seed, long offset) {
  const float first = (float)((philox((ulong)seed, 0, (ulong)offset, 0) >> 8) + 1) * 0x1p-24f;
  const float second = (float)(philox((ulong)seed, 0, (ulong)offset, 1) >> 8) * 0x1p-24f;
  return sqrt(-2 * log(first)) * cospi(2 * second);
}
long randint64(long seed, long offset, long low, long high) {
  return (long)((ulong)low + both((ulong)seed, 0, (ulong)offset) % ((ulong)high - (ulong)low));
}

// Sums to which other work-items add as well. OpenCL has them for integers of 32 bits, so a float, or a part of such a
// word, is exchanged when nobody has changed it meanwhile.
#define EXCHANGE(Word, exchange, word, old, changed) \
  Word old = *(volatile __global Word*)(word); \
  for (Word seen;; old = seen) { \
    seen = exchange((volatile __global Word*)(word), old, changed); \
    if (seen == old) { \
      break; \
    } \
  }

void atomic_add_float32(__global float* sum, float value) {
  EXCHANGE(uint, atomic_cmpxchg, sum, old, as_uint(as_float(old) + value))
}
void atomic_add_int32(__global int* sum, int value) {
  atomic_add((volatile __global int*)sum, value);
}
// The word that holds 16 bits, and the half of it where they are.
#define WORD(sum) ((__global uint*)((__global uchar*)(sum) - ((ulong)(sum) & 2)))
#define SHIFT(sum) (((uint)(ulong)(sum) & 2) * 8)
uint in_word(uint word, uint shift, ushort bits) {
  return (word & ~(0xFFFFu << shift)) | ((uint)bits << shift);
}
ushort half_sum(ushort old, float value) {
  ushort bits;
  vstore_half_rte(vload_half(0, (half*)&old) + value, 0, (half*)&bits);
  return bits;
}
void atomic_add_float16(__global half* sum, float value) {
  const uint shift = SHIFT(sum);
  EXCHANGE(uint, atomic_cmpxchg, WORD(sum), old, in_word(old, shift, half_sum((ushort)(old >> shift), value)))
}
void atomic_add_bfloat16(__global ushort* sum, float value) {
  const uint shift = SHIFT(sum);
  EXCHANGE(uint, atomic_cmpxchg, WORD(sum), old, in_word(old, shift, to_bfloat16(as_float((old >> shift) << 16) + value)))
}
#if defined(cl_khr_fp64) && defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
void atomic_add_float64(__global double* sum, double value) {
  EXCHANGE(ulong, atom_cmpxchg, sum, old, as_ulong(as_double(old) + value))
}
#endif
