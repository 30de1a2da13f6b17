"""Operators on lazily cloned tensors, which share memory until one of them is written to.

What an operator writes to gets memory of its own before, and what it only reads stays shared, where torch's database
says so of the CPU.
"""

from itertools import islice

import pytest
import torch
from parity import DEVICE, tensors_in
from selection import parameters
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.requires_ops("full"),
    pytest.mark.requires_runtime("kernels"),
]

# On the CPU, too, torch's own functions write to an argument of these.
WRITTEN = {"nn.functional.instance_norm"}


def pytest_generate_tests(metafunc):
    ops = [op for op in op_db if op.supports_dtype(torch.float32, "cpu") and not op.name.startswith("jiterator")]
    metafunc.parametrize("op", parameters(metafunc.config, [("lazy", "float32", op.full_name, (op,)) for op in ops]))


class Cloned:
    """Lazy clones of all strided tensors in `values`, with the tensors that they share memory with."""

    def __init__(self, values):
        self.pairs = []
        self.values = tree_map(self.clone, values)

    def clone(self, value):
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.device.type != DEVICE:
            return value
        source = value.detach()
        contents = source.cpu()
        clone = torch._lazy_clone(source).requires_grad_(value.requires_grad)
        self.pairs.append((source, clone, contents))
        return clone

    def check_sources(self):
        for source, _, contents in self.pairs:
            torch.testing.assert_close(source.cpu(), contents, rtol=0, atol=0, equal_nan=True)

    def check_shared(self):
        assert all(torch._C._is_cow_tensor(clone) for _, clone, _ in self.pairs)


def samples(op, count, requires_grad=False):
    for sample in islice(op.sample_inputs_func(op, torch.device(DEVICE), torch.float32, requires_grad), count):
        yield (sample.input, sample.args, sample.kwargs), sample.output_process_fn_grad


def test_read(op, sample_count):
    shared = op.supports_cow_input_no_materialize_forward and not op.allow_cow_input_materialize_forward
    for sample, _ in samples(op, sample_count):
        cloned = Cloned(sample)
        input, args, kwargs = cloned.values
        op(input, *args, **kwargs)
        cloned.check_sources()
        if shared:
            cloned.check_shared()


def test_read_by_backward(op, sample_count):
    if not op.supports_autograd or op.skip_cow_input_backward:
        return
    shared = op.supports_cow_input_no_materialize_backward and not op.allow_cow_input_materialize_backward
    shared = shared and op.full_name not in WRITTEN
    for sample, of_results in samples(op, sample_count, requires_grad=True):
        cloned = Cloned(sample)
        input, args, kwargs = cloned.values
        results = of_results(op.gradcheck_wrapper(op.get_op(), input, *args, **kwargs))
        inputs = [tensor for tensor in tensors_in((input, args, kwargs)) if tensor.requires_grad]
        outputs = [tensor for tensor in tensors_in(results) if tensor.requires_grad]
        if not inputs or not outputs:
            continue
        given = Cloned([torch.ones_like(output) for output in outputs])
        torch.autograd.grad(outputs, inputs, given.values, allow_unused=True)
        cloned.check_sources()
        given.check_sources()
        if shared:
            cloned.check_shared()
            given.check_shared()


def test_written(op, sample_count):
    for sample, _ in samples(op, sample_count):
        for call in (in_place, into):
            cloned = Cloned(sample)
            try:
                call(op, cloned)
            except (RuntimeError, TypeError):  # results don't fit into the sample's input, or `out` isn't taken
                pass
            cloned.check_sources()


def in_place(op, cloned):
    if op.inplace_variant is not None:
        input, args, kwargs = cloned.values
        op.inplace_variant(input, *args, **kwargs)


def into(op, cloned):
    input, args, kwargs = cloned.values
    results = op(input, *args, **kwargs) if op.supports_out else None
    if isinstance(results, torch.Tensor) or tensors_in(results):
        out = tree_map(cloned.clone, results)
        op(input, *args, **kwargs, out=out if isinstance(out, torch.Tensor) else tuple(tensors_in(out)))
