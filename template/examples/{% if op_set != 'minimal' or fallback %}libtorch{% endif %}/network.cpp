#include "network.h"

#include <torch/python.h>

PYBIND11_MODULE(network, module) {
  torch::python::bind_module<NetworkImpl>(module, "Network")
      .def(py::init<int64_t, int64_t>())
      .def("__call__", &NetworkImpl::forward)
      .def("scale", [](NetworkImpl& network, double factor) {
        const torch::NoGradGuard without_gradients;
        for (torch::Tensor& parameter : network.parameters()) {
          parameter.mul_(factor);
        }
      });
}
