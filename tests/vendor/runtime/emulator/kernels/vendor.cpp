#include <cmath>

#include "kernels/elementwise.h"

namespace DEVICE_emulator {
namespace {

struct Exp {
  float operator()(float a) const {
    return std::exp(a);
  }
};

struct Tanh {
  float operator()(float a) const {
    return std::tanh(a);
  }
};

template <typename Op>
DEVICE_status unary(const Arguments& arguments, uint64_t work) {
  return elementwise<float, float>(arguments, work, Op());
}

UPPER_KERNEL("vendor_exp_float32", unary<Exp>);
UPPER_KERNEL("vendor_tanh_float32", unary<Tanh>);

} // namespace
} // namespace DEVICE_emulator
