"""Every optimizer of torch takes the CPU's steps on the device, in each of the ways that it knows."""

import inspect

import pytest
import torch
from torch import nn

pytestmark = [pytest.mark.requires_ops("core"), pytest.mark.once]

OF_TORCH = [
    kind
    for _, kind in sorted(vars(torch.optim).items())
    if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer
]
SPARSE = torch.optim.SparseAdam  # takes sparse gradients only, which fall back: tests/emulation
OPTIONS = [{}, {"foreach": False}, {"foreach": True}, {"fused": True}, {"maximize": True}, {"weight_decay": 0.1}, {"capturable": True}]


def ways():
    for kind in OF_TORCH:
        known = set(inspect.signature(kind).parameters)
        for options in OPTIONS:
            if kind is not SPARSE and known.issuperset(options):
                # The one fused optimizer that has no kernel of the device.
                emulated = kind is torch.optim.Adagrad and "fused" in options
                marks = pytest.mark.requires_ops("full") if emulated else ()
                yield pytest.param(kind, options, id=f"{kind.__name__} {options}", marks=marks)


def trained(kind, options, device):
    torch.manual_seed(0)
    weight, x, wanted = torch.randn(4, 4), torch.randn(8, 4), torch.randn(8, 4)
    weight, x, wanted = nn.Parameter(weight.to(device)), x.to(device), wanted.to(device)
    optimizer = kind([weight], **options)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(x @ weight, wanted)
        loss.backward()
        return loss

    for _ in range(4):
        optimizer.step(closure)
    return weight.detach().cpu()


@pytest.mark.parametrize("kind, options", ways())
def test_steps(kind, options, device):
    on_host = {name: value for name, value in options.items() if name != "capturable"}
    # Muon orthogonalizes in bfloat16, in which the last digit of a sum decides.
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if kind.__name__ == "Muon" else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(trained(kind, options, device), trained(kind, on_host, "cpu"), **tolerance)
