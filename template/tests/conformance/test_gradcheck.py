"""The device's gradients against those that differences give, first and second derivatives."""

from itertools import islice

import pytest
import torch
from parity import DEVICE, copied, seed, tensors_in
from selection import parameters
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import gradcheck, gradgradcheck
from torch.utils._pytree import tree_flatten, tree_unflatten

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]


def pytest_generate_tests(metafunc):
    checks = {"gradcheck": gradcheck, "gradgradcheck": gradgradcheck}
    found = [
        (kind, str(dtype).removeprefix("torch."), op.full_name, (check, dtype, op))
        for dtype in (torch.float64, torch.complex128)
        for kind, check in checks.items()
        for op in op_db
        if dtype in op.supported_backward_dtypes("cpu") and (kind == "gradcheck" or op.supports_gradgrad)
    ]
    metafunc.parametrize(("check", "dtype", "op"), parameters(metafunc.config, found))


def test_gradients(check, dtype, op, record_property):
    compared = 0
    for sample in islice(op.sample_inputs_func(op, DEVICE, dtype, True), 2):
        arguments = (sample.input, sample.args, sample.kwargs)
        # Where the CPU's own don't hold, the operator isn't differentiable at this point.
        if holds_on_cpu(check, op, sample, arguments):
            assert holds(check, op, sample, arguments)
            compared += 1
    record_property("compared", compared)


def holds_on_cpu(check, op, sample, arguments):
    try:
        return holds(check, op, sample, copied(arguments, "cpu"))
    except Exception:
        return False


def holds(check, op, sample, arguments):
    leaves, form = tree_flatten(arguments)
    variables = [tensor for tensor in tensors_in(leaves) if tensor.requires_grad]

    def function(*values):
        values = dict(zip(map(id, variables), values, strict=True))
        input, args, kwargs = tree_unflatten([values.get(id(leaf), leaf) for leaf in leaves], form)
        seed(0)
        results = op.gradcheck_wrapper(op, input, *args, **kwargs)
        return tuple(result for result in tensors_in(sample.output_process_fn_grad(results)) if result.requires_grad)

    return bool(variables) and check(function, variables, check_batched_grad=False, nondet_tol=op.gradcheck_nondet_tol)
