#include <cmath>

#include "kernels/elementwise.h"

namespace DEVICE_emulator {
namespace {

UPPER_UNARY(vendor_exp, Floating, 0, std::exp(a));
UPPER_UNARY(vendor_tanh, Floating, 0, std::tanh(a));

} // namespace
} // namespace DEVICE_emulator
