#include <ATen/TensorIterator.h>

#include "aten/native/elementwise.h"
#include "native_functions.h"

namespace torch_DEVICE::native_ops {
namespace {

bool activation(const KernelFamily& family, const Output& out, const at::Tensor& self) {
  if (!at::isFloatingType(self.scalar_type()) ||
      (out.tensor.defined() && out.tensor.scalar_type() != self.scalar_type())) {
    return false;
  }
  const auto iterator = at::TensorIterator::unary_op(out.tensor, self);
  if (!out.tensor.defined()) {
    out.tensor = iterator.output();
  }
  return launch_elementwise(family, iterator, self.scalar_type(), self.scalar_type());
}

} // namespace

bool vendor_exp(const Output& out, const at::Tensor& self) {
  static const KernelFamily family("vendor_exp");
  return activation(family, out, self);
}

bool vendor_tanh(const Output& out, const at::Tensor& self) {
  static const KernelFamily family("vendor_tanh");
  return activation(family, out, self);
}

} // namespace torch_DEVICE::native_ops
