"""Steps of an optimizer over a hundred small parameters, in each of its modes."""

from collections.abc import Callable
from functools import partial

import torch

from measure import Limit, Work


def step(device: str, make: Callable[..., torch.optim.Optimizer], **modes: bool) -> Callable[[], object]:
    parameters = [torch.randn(32, 32).to(device).requires_grad_() for _ in range(100)]
    for parameter in parameters:
        parameter.grad = torch.randn(32, 32).to(device)
    return make(parameters, **modes).step


SGD = partial(torch.optim.SGD, lr=1e-3, momentum=0.9)
MODES = {"for loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
ROWS: dict[str, Work] = {
    f"{name} 100x(32,32) {mode}": partial(step, make=make, **chosen)
    for name, make in (("AdamW", torch.optim.AdamW), ("SGD", SGD))
    for mode, chosen in MODES.items()
}
LIMITS = {name: Limit(1.1 if name.endswith("fused") else 1.3) for name in ROWS}
