"""Copies of 64 MiB, held against memcpy."""

import ctypes
from collections.abc import Callable
from functools import partial

import torch

from measure import Limit, Work

ELEMENTS = 16 << 20


def memcpy() -> Callable[[], object]:
    source, target = torch.ones(ELEMENTS), torch.ones(ELEMENTS)

    def copy(source: torch.Tensor, target: torch.Tensor) -> None:
        ctypes.memmove(target.data_ptr(), source.data_ptr(), target.nbytes)

    return partial(copy, source, target)


def copy(device: str, source: bool, target: bool, pinned: bool = False) -> Callable[[], object]:
    if device == "cpu":
        return memcpy()
    here, there = torch.ones(ELEMENTS), torch.ones(ELEMENTS)
    if pinned:
        here, there = here.pin_memory(), there.pin_memory()
    return partial((there.to(device) if target else there).copy_, here.to(device) if source else here)


def copy_to_peer(device: str) -> Callable[[], object]:
    if device == "cpu":
        return memcpy()
    if torch.get_device_module(device).device_count() < 2:
        raise NotImplementedError("there is no second device")
    return partial(torch.ones(ELEMENTS).to(f"{device}:1").copy_, torch.ones(ELEMENTS).to(f"{device}:0"))


ROWS: dict[str, Work] = {
    "copy H2D 64 MiB": partial(copy, source=False, target=True),
    "copy D2H 64 MiB": partial(copy, source=True, target=False),
    "copy H2D 64 MiB, pinned": partial(copy, source=False, target=True, pinned=True),
    "copy D2H 64 MiB, pinned": partial(copy, source=True, target=False, pinned=True),
    "copy D2D 64 MiB": partial(copy, source=True, target=True),
    "copy to a peer 64 MiB": copy_to_peer,
}
LIMITS = dict.fromkeys(ROWS, Limit(1 / 0.9))
