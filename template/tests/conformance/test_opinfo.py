"""Every operator of torch's own database, on the device against the CPU, with torch's own samples."""

from itertools import islice

import opened_runtime
import pytest
import torch
from parity import DEVICE, carried_out_by, check_all, detached, gradients, is_core, tensors_in
from selection import HAS_ALL_OPERATORS, LEFT_EMPTY, UNDEFINED, parameters, tolerance_of
from torch.testing._internal.common_methods_invocations import op_db

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]


def entries(dtype):
    return [op for op in op_db if op.supports_dtype(dtype, "cpu")]


def is_differentiable(op, dtype):
    return op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")


KINDS = {
    "forward": lambda op, dtype: True,
    "backward": is_differentiable,
    "in_place": lambda op, dtype: op.get_inplace() is not None,
    "out": lambda op, dtype: op.supports_out,
    "out_strided": lambda op, dtype: op.supports_out,
    "noncontiguous": lambda op, dtype: True,
}


def pytest_generate_tests(metafunc):
    dtypes = {str(dtype).removeprefix("torch."): dtype for dtype in DTYPES}
    found = [
        (kind, name, op.full_name, (kind, dtype, op))
        for name, dtype in dtypes.items()
        for kind, has in KINDS.items()
        for op in entries(dtype)
        if has(op, dtype)
    ]
    metafunc.parametrize(("kind", "dtype", "op"), parameters(metafunc.config, found))


ON_A_STREAM = ("backward", "noncontiguous")
# What kernels are there for, and the core operators that have none: a transform is the work of a library.
DTYPES_OF_KERNELS = (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool)
WITHOUT_KERNELS = {"_fft_c2r", "_fft_r2c"}
# What transforms do with complex numbers, in which no kernel computes.
OF_COMPLEX = {"mul"}
# Those that kernels take for other dtypes: nothing averages whole numbers.
WITHOUT_KERNELS_OF = {torch.int64: {"avg_pool2d", "avg_pool3d"}}
# Random numbers are the CPU's without the feature generator.
if torch.get_device_module(DEVICE).operator_kinds().get("aten::native_dropout") != "native":
    WITHOUT_KERNELS |= {"native_dropout"}
# What these compute inside is complex or sparse, and so not of those dtypes.
OF_OTHER_DTYPES = {"polar", "linalg.eig", "linalg.eigvals", "sparse.mm.reduce", "sparse.sampled_addmm"}
HAS_KERNELS = opened_runtime.has(f"{DEVICE}_launch")
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64]


def test_operator(kind, dtype, op, sample_count, record_property):
    grad = is_differentiable(op, dtype)
    if kind == "in_place":
        grad = grad and op.supports_inplace_autograd
    # As op.sample_inputs, which takes most of its time to find out which test it is called from.
    samples = op.sample_inputs_func(op, DEVICE, dtype, grad and kind not in ("forward", "out", "out_strided"))
    calls = (
        (run, (sample.input, sample.args, sample.kwargs))
        for given in islice(samples, sample_count)
        for sample, run in globals()[kind](op, given)
    )
    # Results are the same on both; a launch that isn't ordered shows on one that isn't the default.
    module = torch.get_device_module(DEVICE)
    stream = module.Stream() if kind in ON_A_STREAM else module.default_stream()
    with module.stream(stream):
        atol = tolerance_of(dtype, op.full_name)
        compared, by_cpu = check_all(calls, op.name not in UNDEFINED, atol, op.name in LEFT_EMPTY)
    record_property("compared", compared)
    record_property("by", carried_out_by(by_cpu))
    # Of the first sample: others have layouts and dtypes without a kernel, and the report counts what ran on the CPU.
    if HAS_KERNELS and sample_count is not None and dtype in DTYPES_OF_KERNELS and op.full_name not in OF_OTHER_DTYPES:
        ran = {operator for operators in by_cpu.values() for operator in operators if is_core(operator)}
        if not HAS_ALL_OPERATORS:
            ran &= module.operator_kinds().keys()
        without = {operator.removeprefix("aten::").partition(".")[0] for operator in ran}
        known = WITHOUT_KERNELS | WITHOUT_KERNELS_OF.get(dtype, set())
        known |= OF_COMPLEX if op.name.startswith("fft.") else set()
        assert without <= known, "core operators that no kernel carried out"


def forward(op, sample):
    yield sample, lambda input, args, kwargs: op(input, *args, **kwargs)


def backward(op, sample):
    def run(input, args, kwargs):
        results = op(input, *args, **kwargs)
        return gradients(sample.output_process_fn_grad(results), (input, args, kwargs))

    yield sample, run


def in_place(op, sample):
    def run(input, args, kwargs):
        # A leaf that requires grad can't be written.
        written = input.clone()
        returned = op.get_inplace()(written, *args, **kwargs)
        return detached(written), returned is written, gradients(written, (input, args, kwargs))

    if not sample.broadcasts_input:
        yield sample, run


def noncontiguous(op, sample):
    def run(input, args, kwargs):
        results = op(input, *args, **kwargs)
        return detached(results), gradients(other.output_process_fn_grad(results), (input, args, kwargs))

    # A compressed tensor has no strides of its own.
    if all(tensor.layout == torch.strided for tensor in tensors_in((sample.input, sample.args, sample.kwargs))):
        other = sample.noncontiguous()
        yield other, run


def out(op, sample):
    """Into tensors as the operator would make them, and into some that have to be resized."""

    def too_small(result):
        return torch.ones(result.numel() // 2, dtype=result.dtype, device=result.device)

    yield sample, into(op, torch.ones_like)
    yield sample, into(op, too_small)


def out_strided(op, sample):
    def strided(result):
        # Every second element, the first dimension the innermost one.
        room = torch.ones([*reversed(result.shape), 2], dtype=result.dtype, device=result.device)
        return room[..., 0].permute(list(reversed(range(result.dim()))))

    yield sample, into(op, strided)


def into(op, make):
    def run(input, args, kwargs):
        results = op(input, *args, **kwargs)
        several = not isinstance(results, torch.Tensor)
        out = tuple(make(result) for result in results) if several else make(results)
        op(input, *args, **kwargs, out=out)
        return out, [tensor.stride() for tensor in (out if several else [out])]

    return run
