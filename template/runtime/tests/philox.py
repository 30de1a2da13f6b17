"""Philox in numpy: the random numbers that kernels have to draw."""

import ctypes
from ctypes import c_uint64

import numpy as np


class Philox(ctypes.Structure):
    _fields_ = [("seed", c_uint64), ("offset", c_uint64)]


def philox(counter, key):
    """Ten rounds; the counter's four words may be arrays."""
    c, k = [np.asarray(word, np.uint64) for word in counter], list(key)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> 32 ^ c[1] ^ np.uint64(k[0]), b & low, a >> 32 ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def word(which, seed, offset, count):
    """Word 0 or 1 of each number."""
    blocks = np.uint64(offset // 4) + np.arange(-(-count // 4), dtype=np.uint64)
    made = philox((blocks & np.uint64(0xFFFFFFFF), blocks >> 32, which, 0), (seed % 2**32, seed >> 32))
    return np.stack(np.broadcast_arrays(*made), -1).ravel()[:count]


def both(seed, offset, count):
    return word(0, seed, offset, count) | word(1, seed, offset, count) << 32


def fraction(bits, place, count):
    """The upper bits of each number as a double of at least 0 and less than 1, exactly."""
    whole = both(*place, count) >> (64 - bits) if bits > 32 else word(0, *place, count) >> (32 - bits)
    return whole.astype(np.float64) / 2.0**bits
