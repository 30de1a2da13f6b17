// What all programs begin with: the dtypes, each with the type that it is stored as (T_), the type that it is computed
// in (C_), a load and a store. Floats of 16 bits compute in float, for which no device needs cl_khr_fp16.
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifndef IDX
#define IDX int
#endif

#define T_float32 float
#define C_float32 float
#define LOAD_float32(p, i) ((p)[i])
#define STORE_float32(p, i, v) ((p)[i] = (float)(v))
#define T_float64 double
#define C_float64 double
#define LOAD_float64(p, i) ((p)[i])
#define STORE_float64(p, i, v) ((p)[i] = (double)(v))
#define T_float16 half
#define C_float16 float
#define LOAD_float16(p, i) vload_half(i, p)
#define STORE_float16(p, i, v) vstore_half_rte((float)(v), i, p)
#define T_bfloat16 ushort
#define C_bfloat16 float
#define LOAD_bfloat16(p, i) as_float((uint)(p)[i] << 16)
#define STORE_bfloat16(p, i, v) ((p)[i] = to_bfloat16((float)(v)))
#define T_int64 long
#define C_int64 long
#define LOAD_int64(p, i) ((p)[i])
#define STORE_int64(p, i, v) ((p)[i] = (long)(v))
#define T_int32 int
#define C_int32 int
#define LOAD_int32(p, i) ((p)[i])
#define STORE_int32(p, i, v) ((p)[i] = (int)(v))
#define T_bool uchar
#define C_bool int
#define LOAD_bool(p, i) ((int)((p)[i] != 0))
#define STORE_bool(p, i, v) ((p)[i] = (uchar)((v) != 0))
// Those that are only converted.
#define T_uint8 uchar
#define C_uint8 int
#define LOAD_uint8(p, i) ((int)(p)[i])
#define STORE_uint8(p, i, v) ((p)[i] = (uchar)(v))
#define T_int8 char
#define C_int8 int
#define LOAD_int8(p, i) ((int)(p)[i])
#define STORE_int8(p, i, v) ((p)[i] = (char)(v))
#define T_int16 short
#define C_int16 int
#define LOAD_int16(p, i) ((int)(p)[i])
#define STORE_int16(p, i, v) ((p)[i] = (short)(v))

// Elements of some bytes, which are moved and not computed with.
#define T_1 uchar
#define T_2 ushort
#define T_4 uint
#define T_8 ulong
#define T_16 ulong2
#define C_1 uchar
#define C_2 ushort
#define C_4 uint
#define C_8 ulong
#define C_16 ulong2
#define LOAD_1(p, i) ((p)[i])
#define LOAD_2(p, i) ((p)[i])
#define LOAD_4(p, i) ((p)[i])
#define LOAD_8(p, i) ((p)[i])
#define LOAD_16(p, i) ((p)[i])
#define STORE_1(p, i, v) ((p)[i] = (v))
#define STORE_2(p, i, v) ((p)[i] = (v))
#define STORE_4(p, i, v) ((p)[i] = (v))
#define STORE_8(p, i, v) ((p)[i] = (v))
#define STORE_16(p, i, v) ((p)[i] = (v))

ushort to_bfloat16(float value) {
  uint bits = as_uint(value);
  return value != value ? (ushort)0x7FC0 : (ushort)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#ifdef D
#define T JOIN(T_, D)
#define C JOIN(C_, D)
// Of one place to another, without a change to a NaN.
#define MOVE_float32(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE_float64(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE_float16(p, i, q, k) (((__global ushort*)(p))[i] = ((const __global ushort*)(q))[k])
#define MOVE_bfloat16(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE_int64(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE_int32(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE_bool(p, i, q, k) ((p)[i] = (q)[k])
#define MOVE(p, i, q, k) JOIN(MOVE_, D)(p, i, q, k)
#define LOAD(p, i) JOIN(LOAD_, D)(p, i)
#define STORE(p, i, v) JOIN(STORE_, D)(p, i, v)
#endif

#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void

// Memory of the device as an argument: a buffer, and the number of its first element.
#define OPERAND(type, name) const __global type *name, long name##_first
#define RESULT(type, name) __global type *name, long name##_first

// The number of a work-item. There are `count` that have something to do, and others up to a whole group.
#define ITEM(i, count) \
  const IDX i = (IDX)get_global_id(0); \
  if (i >= (count)) { \
    return; \
  }

// A function that makes one value of those that the work-items of a group of LANES have. All of them get it.
#define LANES 64
#define TOGETHER(name, COMBINED) \
  C name(C value, __local C* shared) { \
    const int lane = (int)get_local_id(0); \
    shared[lane] = value; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    for (int some = LANES / 2; some > 0; some /= 2) { \
      if (lane < some) { \
        shared[lane] = COMBINED(shared[lane], shared[lane + some]); \
      } \
      barrier(CLK_LOCAL_MEM_FENCE); \
    } \
    const C all = shared[0]; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    return all; \
  }

// The coordinates of a number in three dimensions, the last of which is the innermost.
void split(IDX i, const IDX* sizes, IDX* at) {
  for (int d = 2; d >= 0; --d) {
    at[d] = i % sizes[d];
    i /= sizes[d];
  }
}

#define ADD(a, b) ((a) + (b))
// A NaN wins.
#define MAXIMUM(a, b) ((a) != (a) ? (a) : (b) != (b) ? (b) : (a) > (b) ? (a) : (b))
#define MINIMUM(a, b) ((a) != (a) ? (a) : (b) != (b) ? (b) : (a) < (b) ? (a) : (b))
#define SIGMOID(a) (1 / (1 + exp(-(a))))

// Where a kernel finds what it can't do: its first complaint counts. The limit of an index, or what else is wrong.
#define NO_PROBABILITY (-1)
#define NO_BAG (-2)
#define COMPLAINTS 64 // of a stream; two kernels that fail share one if so many were enqueued between them
typedef struct {
  int number; // written last: the host may look at any time
  int taken;
  long value;
  long limit;
} Complaint;

void complain(__global Complaint* complaints, int number, long value, long limit) {
  __global Complaint* const complaint = complaints + number % COMPLAINTS;
  if (atomic_cmpxchg((volatile __global int*)&complaint->taken, 0, 1) == 0) {
    complaint->value = value;
    complaint->limit = limit;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg((volatile __global int*)&complaint->number, number);
  }
}
