"""A decode step of a small model with a cache of fixed size: its operators one by one, and as a graph that is replayed.

The CPU has no graphs: it does the same step one by one in both rows.
"""

import runpy
from collections.abc import Callable
from pathlib import Path

import torch

from measure import Limit, Work

MODEL = Path(__file__).parents[2] / "tests" / "support" / "llama.py"


def prepared(device: str) -> Callable[[], torch.Tensor]:
    model = runpy.run_path(str(MODEL))["llama"](device)
    token, position = (torch.tensor([number]).to(device) for number in (7, 3))

    @torch.no_grad()
    def step() -> torch.Tensor:
        return model(token, position)

    return step


def replayed(device: str) -> Callable[[], object]:
    step = prepared(device)
    if device == "cpu":
        return step
    graph = torch.accelerator.Graph()
    with torch.Stream(device):
        step()  # some operators make what they keep in their first call
        torch.accelerator.synchronize()
        with graph:
            step()
    return graph.replay


ROWS: dict[str, Work] = {"decode step": prepared, "decode step, replayed": replayed}
LIMITS: dict[str, Limit] = {}
