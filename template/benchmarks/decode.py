"""A decode step of a small Llama-like model: called, and replayed from a graph."""

import sys
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from llama import llama


@torch.no_grad()
def step(device: str, replayed: bool) -> Callable[[], object]:
    model = llama(device)
    token, position = torch.tensor([1], device=device), torch.tensor([0], device=device)

    @torch.no_grad()
    def call() -> object:
        return [model(token, position)]  # a list, whose values nobody compares

    if device == "cpu" or not replayed:
        return call
    call()
    torch.accelerator.synchronize()
    graph = torch.accelerator.Graph()
    with torch.Stream(device), graph:
        result = call()

    def replay() -> object:
        graph.replay()
        return result

    return replay
