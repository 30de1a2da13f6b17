// Random numbers, each by its position. `counter` is a quarter of the position that a call begins with.

// Word `word` of number i: Philox 4x32-10.
uint philox(ulong seed, ulong counter, ulong i, uint word) {
  const ulong at = counter + i / 4;
  uint c0 = (uint)at, c1 = (uint)(at >> 32), c2 = word, c3 = 0;
  uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint high0 = mul_hi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const uint high1 = mul_hi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const uint rest = (uint)(i & 3);
  return rest == 0 ? c0 : rest == 1 ? c1 : rest == 2 ? c2 : c3;
}
ulong both(ulong seed, ulong counter, ulong i) {
  return (ulong)philox(seed, counter, i, 1) << 32 | philox(seed, counter, i, 0);
}
#define TOP(i, bits) (philox(seed, counter, i, 0) >> (32 - bits))
#if DIGITS > 32
#define FRACTION(i, bits) ((C)(both(seed, counter, i) >> (64 - bits)) * ((C)1 / (C)(1L << bits)))
#else
#define FRACTION(i, bits) ((C)TOP(i, bits) * ((C)1 / (C)(1 << bits)))
#endif
