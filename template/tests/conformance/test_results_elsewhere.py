"""Results on the CPU of tensors on the device: no operator takes them, and none writes to them."""

import pytest
import torch
from parity import DEVICE, tensors_in
from torch.testing._internal.common_methods_invocations import op_db

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]

# Without a tensor among the arguments, the result decides where they compute.
OTHERS = {"arange", "empty", "eye", "full", "linspace", "logspace", "normal", "ones", "zeros"}
# torch itself copies to the result: addbmm before it looks at the devices, lu in Python. Two return no tensor, or tensors
# in a tuple of tuples. The first samples of the last have no elements.
OTHERS |= {"addbmm", "lu", "equal", "histogramdd", "sparse.sampled_addmm"}
OPERATORS = [op for op in op_db if op.supports_out and op.supports_dtype(torch.float32, "cpu") and op.name not in OTHERS]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.full_name)
def test_a_result_on_the_cpu_is_refused(op):
    samples = op.sample_inputs_func(op, DEVICE, torch.float32, False)
    sample = next(sample for sample in samples if all(each.numel() > 0 for each in tensors_in(sample.input)))
    results = op(sample.input, *sample.args, **sample.kwargs)
    written = [torch.full_like(result, 1, device="cpu") for result in tensors_in(results)]
    before = [result.clone() for result in written]
    out = written[0] if isinstance(results, torch.Tensor) else tuple(written)
    with pytest.raises(RuntimeError):
        op(sample.input, *sample.args, **sample.kwargs, out=out)
    assert all(torch.equal(a, b) for a, b in zip(written, before, strict=True))
