"""Matrix products that don't depend on each other: on one stream, and on two. Without a limit: it's the machine's cores."""

from collections.abc import Callable
from functools import partial

import torch

from measure import Limit, Work

SIZE, PRODUCTS = 512, 6


def products(device: str, count: int) -> Callable[[], object]:
    operands = [[torch.rand(SIZE, SIZE, device=device) for _ in range(3)] for _ in range(2)]

    def multiply(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        for _ in range(PRODUCTS):
            torch.mm(a, b, out=out)

    if device == "cpu":
        return lambda: [multiply(*each) for each in operands]
    module = torch.get_device_module(device)
    streams = [module.Stream() for _ in range(count)]

    def on_streams() -> None:
        for number, each in enumerate(operands):
            with module.stream(streams[number % count]):
                multiply(*each)
        for stream in streams:
            module.current_stream().wait_stream(stream)

    module.synchronize()
    return on_streams


ROWS: dict[str, Work] = {
    f"2 x {PRODUCTS} mm {SIZE}, one stream": partial(products, count=1),
    f"2 x {PRODUCTS} mm {SIZE}, two streams": partial(products, count=2),
}
LIMITS: dict[str, Limit] = {}
