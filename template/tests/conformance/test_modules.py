"""Every module of torch's own database, in training and in evaluation, on the device against the CPU."""

import pytest
import torch
from parity import DEVICE, carried_out_by, check_all, detached, gradients
from selection import parameters
from torch.testing._internal.common_modules import module_db

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]


def pytest_generate_tests(metafunc):
    found = [
        (kind, str(dtype).removeprefix("torch."), info.name.removeprefix("nn."), (kind == "train", dtype, info))
        for dtype in (torch.float32, torch.float64)
        for kind in ("train", "eval")
        for info in module_db
        if dtype in info.dtypes
    ]
    metafunc.parametrize(("training", "dtype", "info"), parameters(metafunc.config, found))


def test_module(training, dtype, info, sample_count, record_property):
    samples = info.module_inputs_func(info, device=DEVICE, dtype=dtype, requires_grad=True, training=training)
    calls = []
    for sample in samples[:sample_count]:
        module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
        given = sample.forward_input
        calls.append((forward_and_backward, (module.to(dtype).train(training), given.args, given.kwargs)))
    compared, by_cpu = check_all(calls)
    record_property("compared", compared)
    record_property("by", carried_out_by(by_cpu))


def forward_and_backward(module, args, kwargs):
    results = module(*args, **kwargs)
    # After the call: a lazy module has no parameters before.
    tensors = (args, kwargs, list(module.parameters()))
    return detached(results), gradients(results, tensors), list(module.buffers())
