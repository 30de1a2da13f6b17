"""Operators on numbers at the edges of their dtype: zeros of both signs, infinities, NaN, the largest and the smallest.

Samples of torch's database hold none of these.
"""

import pytest
import torch
from parity import DEVICE, check_all
from selection import parameters, tolerance_of
from torch.testing._internal.common_methods_invocations import binary_ufuncs, unary_ufuncs

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool]


def pytest_generate_tests(metafunc):
    found = [
        ("special", str(dtype).removeprefix("torch."), op.full_name, (dtype, op))
        for dtype in DTYPES
        for op in [*unary_ufuncs, *binary_ufuncs]
        if op.supports_dtype(dtype, "cpu") and not op.full_name.startswith("_refs.")
        if "polynomial" not in op.full_name  # the largest number is a degree that takes for ever
    ]
    metafunc.parametrize(("dtype", "op"), parameters(metafunc.config, found))


def special(dtype):
    if dtype == torch.bool:
        return torch.tensor([True, False])
    if not dtype.is_floating_point:
        limits = torch.iinfo(dtype)
        below = [-1, -2, -7, limits.min + 1] if limits.min < 0 else []  # of the least, divided by -1, the CPU dies
        return torch.tensor([0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.max // 2, *below], dtype=dtype)
    limits = torch.finfo(dtype)
    both = [0.0, 0.5, 1.0, 1.5, 2.5, 3.7, 100.0, limits.tiny, limits.eps, limits.max, float("inf")]
    return torch.tensor([*both, *(-x for x in both), float("nan")], dtype=torch.float64).to(dtype)


def test_special_values(dtype, op):
    x = special(dtype).to(DEVICE)
    # As often as vectors are full, and once so that none is.
    few, many = x[:3], x.repeat(4)
    given = [(few,), (many,)] if op in unary_ufuncs else [(x[:, None], x), (many, x[1]), (x[-1], many)]
    check_all([(op, arguments) for arguments in given], atol=tolerance_of(dtype, op.full_name))
