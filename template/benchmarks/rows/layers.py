"""Calls at the sizes of a model's layers, one for each kind of loop that kernels have: a slow one shows here."""

from collections.abc import Callable
from functools import cache, partial

import torch
from torch.nn import functional

from measure import Limit, Work


@cache
def tensors(device: str) -> dict[str, object]:
    generator = torch.Generator().manual_seed(0)

    def random(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=generator).to(device)

    tokens, images = random(64, 32, 64), random(4, 16, 64, 64)
    return {
        "torch": torch,
        "functional": functional,
        "x": tokens,
        "y": random(64, 32, 64),
        "mask": tokens > 0,
        "h": tokens.half(),
        "images": images,
        "last": images.to(memory_format=torch.channels_last),
        "weight": random(16, 16, 3, 3),
        "table": random(1000, 64),
        "words": torch.randint(0, 1000, (4096,), generator=generator).to(device),
        "places": torch.randint(0, 64, (64, 1, 64), generator=generator).to(device).expand(64, 32, 64),
        "line": random(100_000),
        "heads": random(2, 4, 128, 32),
    }


def call(expression: str, device: str) -> Callable[[], object]:
    made: Callable[[], object] = eval(f"lambda: {expression}", tensors(device))
    return made


CALLS = {
    "exp": "x.exp()",
    "gelu": "functional.gelu(x)",
    "leaky_relu": "functional.leaky_relu(x)",
    "add of a row": "x + y[:1]",
    "add of a column": "x + y[..., :1]",
    "add of a transposed tensor": "x + y.transpose(0, 2)[:64]",
    "add in float16": "h + h",
    "to float16": "x.half()",
    "where": "torch.where(mask, x, y)",
    "sum over the first dimension": "x.sum(0)",
    "sum over rows": "x.sum(2)",
    "amax over rows": "x.amax(2)",
    "softmax over rows": "x.softmax(2)",
    "softmax over the first dimension": "x.softmax(0)",
    "cumsum over rows": "x.cumsum(2)",
    "sort of rows": "x.sort(2)",
    "layer_norm": "functional.layer_norm(x, (64,))",
    "transposed": "x.transpose(1, 2).contiguous()",
    "heads": "x.view(64, 32, 4, 16).transpose(1, 2).contiguous()",
    "windows": "images.view(4, 16, 8, 8, 8, 8).permute(0, 2, 4, 3, 5, 1).contiguous()",
    "pixel_shuffle": "functional.pixel_shuffle(images, 2)",
    "cat of halves": "torch.cat((-x[..., 32:], x[..., :32]), -1)",
    "flip of rows": "x.flip(2)",
    "pad, reflected": "functional.pad(images, (1, 1, 1, 1), mode='reflect')",
    "embedding": "functional.embedding(words, table)",
    "gather": "x.gather(2, places)",
    "scatter_add": "x.scatter_add(2, places, y)",
    "index_put": "table.index_put((words,), table[words], accumulate=True)",
    "nonzero": "mask.nonzero()",
    "unique": "words.unique()",
    "dot": "torch.dot(line, line)",
    "linear": "functional.linear(x, table[:64])",
    "attention": "functional.scaled_dot_product_attention(heads, heads, heads)",
    "conv2d": "functional.conv2d(images, weight, padding=1)",
    "conv2d, channels last": "functional.conv2d(last, weight, padding=1)",
    "conv2d, depthwise": "functional.conv2d(images, weight[:, :1], padding=1, groups=16)",
    "max_pool2d": "functional.max_pool2d(images, 2)",
    "max_pool2d, channels last": "functional.max_pool2d(last, 2)",
    "batch_norm": "functional.batch_norm(images, None, None, training=True)",
    "bilinear": "functional.interpolate(images, scale_factor=2, mode='bilinear')",
    "cross_entropy": "functional.cross_entropy(table, words[:1000] % 64)",
    "rand": "torch.rand(100_000, device=x.device)",
    "randperm": "torch.randperm(100_000, device=x.device)",
}
ROWS: dict[str, Work] = {name: partial(call, expression) for name, expression in CALLS.items()}
# Of a single one the time is shown and not judged: the CPU has written some of them by hand.
LIMITS: dict[str, Limit] = {}
MEAN_LIMIT = 2.0
