"""The strides of results are those of the CPU, or of the meta device: compilers plan with the latter's.

Sizes and dtypes are always those of fake tensors of the device, which differ from the CPU's here and there.
"""

from itertools import islice

import pytest
import torch
from parity import DEVICE, copied, tensors_in
from selection import parameters
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map, tree_map_only

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]


def pytest_generate_tests(metafunc):
    ops = [op for op in op_db if op.supports_dtype(torch.float32, "cpu")]
    metafunc.parametrize("op", parameters(metafunc.config, [("strides", "float32", op.full_name, (op,)) for op in ops]))


def reversed_order(x):
    order = list(range(x.dim()))[::-1]
    return x.permute(order).contiguous().permute(order)


def channels_last(x):
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x


@pytest.mark.parametrize("lay_out", [reversed_order, channels_last])
def test_strides(op, lay_out, sample_count):
    def given(value):
        return lay_out(value.detach()) if isinstance(value, torch.Tensor) and value.layout == torch.strided else value

    for sample in islice(op.sample_inputs_func(op, torch.device("cpu"), torch.float32, False), sample_count):
        arguments = tree_map(given, (sample.input, sample.args, sample.kwargs))
        expected = [found for device in ("cpu", "meta") if (found := strides(op, arguments, device)) is not None]
        # What only the CPU can do has nothing to agree with.
        if len(expected) == 2:
            ours = strides(op, arguments, DEVICE)
            assert any(agree(ours, theirs) for theirs in expected), f"{ours} instead of one of {expected}"


def test_fake_tensors(op, sample_count):
    for sample in islice(op.sample_inputs_func(op, torch.device("cpu"), torch.float32, False), sample_count):
        arguments = copied((sample.input, sample.args, sample.kwargs), DEVICE)
        if any(x.layout != torch.strided for x in tensors_in(arguments)):
            continue
        mode = FakeTensorMode()
        input, args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, arguments)
        try:
            with mode:
                expected = forms(op(input, *args, **kwargs))
        except Exception:  # whose sizes depend on values, or on what no fake tensor shows
            continue
        input, args, kwargs = arguments
        assert forms(op(input, *args, **kwargs)) == expected


def forms(results):
    return [(x.shape, x.dtype, x.device) for x in tensors_in(results)]


def agree(ours, theirs):
    return len(ours) == len(theirs) and all(
        one == other or None in (one, other) for one, other in zip(ours, theirs, strict=True)
    )


def strides(op, arguments, device):
    """Those of the results, None for one of few elements; None, if the CPU or the meta device refuses the call."""
    try:
        input, args, kwargs = copied(arguments, device)
        results = op(input, *args, **kwargs)
    except Exception:
        if device == DEVICE:
            raise
        return None
    # The strides of one element say nothing.
    return [x.stride() if x.numel() > 1 else None for x in tensors_in(results) if x.layout == torch.strided]
