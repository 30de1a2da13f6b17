"""Operators on tensors without elements, and without dimensions.

Where kernels carry out a sample of torch's database, no CPU kernel is needed for what is left of it.
"""

from itertools import islice

import pytest
import torch
from parity import DEVICE, check_all, detached, gradients
from selection import UNDEFINED, parameters, tolerance_of
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.requires_ops("full"),
    pytest.mark.requires_runtime("kernels"),
]

DTYPES = [torch.float32, torch.int64, torch.bool]


def without_rows(tensor):
    return tensor[:0]


def without_columns(tensor):
    return tensor[..., :0]


def without_dimensions(tensor):
    return tensor.flatten()[0]


def pytest_generate_tests(metafunc):
    found = [
        ("small", str(dtype).removeprefix("torch."), op.full_name, (dtype, op))
        for dtype in DTYPES
        for op in op_db
        if op.supports_dtype(dtype, "cpu") and not op.full_name.startswith("_refs.")
    ]
    metafunc.parametrize(("dtype", "op"), parameters(metafunc.config, found))


def left_of(sample, part):
    """The sample's arguments with a part of each tensor that has dimensions. None, if its input has none."""

    def cut(value):
        if not isinstance(value, torch.Tensor) or value.dim() == 0 or value.numel() == 0:
            return value
        return part(value.detach()).clone().requires_grad_(value.requires_grad)

    if not isinstance(sample.input, torch.Tensor) or sample.input.layout != torch.strided or sample.input.dim() == 0:
        return None
    return tree_map(cut, (sample.input, sample.args, sample.kwargs))


def test_what_is_left_of_a_sample(dtype, op):
    def run(input, args, kwargs):
        results = op(input, *args, **kwargs)
        grads = gradients(sample.output_process_fn_grad(results), (input, args, kwargs)) if grad else ()
        return detached(results), grads

    grad = dtype.is_floating_point and op.supports_autograd
    for sample in islice(op.sample_inputs_func(op, DEVICE, dtype, grad), 3):
        _, of_sample = check_all([(run, (sample.input, sample.args, sample.kwargs))], defined=False)
        parts = [left_of(sample, part) for part in (without_rows, without_columns, without_dimensions)]
        calls = [(run, arguments) for arguments in parts if arguments is not None]
        _, of_parts = check_all(calls, op.name not in UNDEFINED, tolerance_of(dtype, op.full_name))
        if not any(of_sample.values()):
            assert not any(of_parts.values()), "CPU kernels for what is left of a sample of kernels"
