#pragma once

#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/linear.h>

// Two layers, for both programs.
struct NetworkImpl : torch::nn::Module {
  NetworkImpl(int64_t inputs, int64_t outputs)
      : first(register_module("first", torch::nn::Linear(inputs, 32))),
        second(register_module("second", torch::nn::Linear(32, outputs))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return second(torch::nn::functional::relu(first(x)));
  }

  torch::nn::Linear first, second;
};

TORCH_MODULE(Network);
