"""The comparison itself: what it must not let pass."""

import pytest
import torch
from parity import DEVICE, check_all, check_parity, copied

pytestmark = pytest.mark.requires_ops("core")

ONES = (torch.ones(50, device=DEVICE),)


def is_ours(tensor):
    return tensor.device.type == DEVICE


def test_what_is_alike_passes():
    assert check_parity(lambda x: [x + 1, x.sum().item(), x.shape], ONES)


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x + 0.01 * is_ours(x),
        lambda x: x.half() if is_ours(x) else x,
        lambda x: x[:-1] if is_ours(x) else x,
        lambda x: (x, x) if is_ours(x) else x,
        lambda x: x.sum().item() + is_ours(x),
        lambda x: torch.rand_like(x) + 3 * is_ours(x),
        lambda x: torch.full_like(x[:4], 7) if is_ours(x) else x[:4] * float("nan"),
        lambda x: 7.0 if is_ours(x) else float("nan"),
    ],
    ids=["value", "dtype", "shape", "structure", "number", "mean", "a NaN of few", "a NaN as a number"],
)
def test_a_difference_is_found(run):
    with pytest.raises(AssertionError):
        check_parity(run, ONES)


def test_random_numbers_are_compared_by_their_statistics():
    def seeds_for_itself(x):
        torch.manual_seed(42)
        return torch.rand_like(x)

    for run in (torch.rand_like, seeds_for_itself):
        assert check_parity(run, ONES)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_held_to_the_result_in_float32(dtype):
    ones = (ONES[0].to(dtype),)
    assert check_parity(lambda x: x * (1 if is_ours(x) or x.dtype == torch.float32 else 1.2), ones)
    with pytest.raises(AssertionError):
        check_parity(lambda x: x * (1.2 if is_ours(x) else 1), ones)


def test_what_overflows_allows_nothing_elsewhere():
    halves = (torch.tensor([300, 1, 2], dtype=torch.float16, device=DEVICE),)
    assert check_parity(lambda x: x * x, halves)
    assert check_parity(lambda x: (x.float() * x).to(x.dtype) if is_ours(x) else x * x, halves)
    with pytest.raises(AssertionError):
        check_parity(lambda x: torch.zeros_like(x) if is_ours(x) else x * x, halves)


def test_what_the_cpu_refuses_is_not_compared():
    def refused(x):
        raise RuntimeError("not on the CPU")

    assert not check_parity(refused, ONES)


def test_all_failures_are_told_in_one_error():
    def fails(x):
        if is_ours(x):
            raise RuntimeError("not on the device")

    with pytest.raises(AssertionError, match=r"1 of 2 calls\ncall 1: RuntimeError: not on the device"):
        check_all([(torch.neg, ONES), (fails, ONES)])


def test_copies_keep_strides_sharing_and_lazy_bits():
    base = torch.randn(3, 4, dtype=torch.complex64)
    view, conjugate = copied([base[1:, ::2], base.conj()], DEVICE)
    assert is_ours(view) and is_ours(conjugate)
    assert (view.stride(), view.storage_offset()) == ((4, 2), 4)
    assert conjugate.is_conj() and torch.equal(conjugate.cpu(), base.conj())
    assert view.untyped_storage().data_ptr() == conjugate.untyped_storage().data_ptr()
