"""Single operators, from the smallest, which show what a call costs, to those that compute."""

import torch

from measure import Limit, Work

ROWS: dict[str, Work] = {
    "empty(4)": "torch.empty(4, device=device)",
    "view": "a.view(4096)",
    "transpose": "a.transpose(0, 1)",
    "slice": "a[1:3]",
    "add(4)": "x + y",
    "add(4)+1.0": "x + 1.0",
    "add_(4)": "z.add_(y)",
    "add out=": "torch.add(x, y, out=z)",
    "add 64x64": "a + b",
    "mul 64x64": "a * b",
    "sub 64x64": "a - b",
    "mm 64": "a @ b",
    "softmax 64x64": "a.softmax(1)",
    "abs 64x64": "a.abs()",
    "sum 64x64": "a.sum()",
    "atan2 64x64": "torch.atan2(a, b)",
    "cumsum 64x64": "a.cumsum(1)",
    "topk 64x64": "a.topk(8)",
    "cat 2x64x64": "torch.cat((a, b))",
    "index 64x64": "a[rows]",
    "zeros(4)": "torch.zeros(4, device=device)",
    "clone 64x64": "a.clone()",
    "item": "s.item()",
    "s[0].item()": "x[0].item()",
    "layer_norm 64x64": "torch.nn.functional.layer_norm(a, (64,), weight, bias)",
    "add 1M": "m + n",
    "mm 512": "p @ q",
    "mm 1024": "u @ v",
}
# A call may cost more than on the CPU, for its kernel is launched, but not much, and nothing where no kernel runs.
# Of the largest product the time is shown and not judged.
LIMITS = dict.fromkeys(ROWS.keys() - {"mm 1024"}, Limit(1.6, more=0.8))
LIMITS |= dict.fromkeys(("empty(4)", "view", "transpose", "slice", "item", "s[0].item()", "mm 512"), Limit(1.1))
KERNELS = ("softmax", "layer_norm", "cat", "index", "cumsum", "topk")
LIMITS |= {name: Limit(1.6) for name in ROWS if name.startswith(KERNELS)}
MEAN_LIMIT = 1.30


def operands(device: str) -> dict[str, object]:
    generator = torch.Generator().manual_seed(0)

    def random(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=generator).to(device)

    vectors = {name: random(4) for name in "xyz"}
    sizes = {"ab": 64, "pq": 512, "uv": 1024}
    matrices = {name: random(size, size) for names, size in sizes.items() for name in names}
    others = {"s": random(), "m": random(1 << 20), "n": random(1 << 20), "weight": random(64), "bias": random(64)}
    others["rows"] = torch.arange(63, -1, -1).to(device)
    return {"torch": torch, "device": device} | vectors | matrices | others
