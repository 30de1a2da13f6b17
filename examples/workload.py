"""What the workloads share: their arguments, the device's module, and the check at the end."""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TypeVar

import torch

Batch = TypeVar("Batch")


def parse(description: str) -> tuple[str, ModuleType]:
    """Reads --device and --package. Returns the device's name and module, or ends the program where it is absent."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--device", required=True, help="the device's name, or cpu")
    parser.add_argument("--package", help="the backend, where torch doesn't load it (torch_<device>)")
    options = parser.parse_args()
    try:
        if not hasattr(torch, options.device):
            importlib.import_module(options.package or f"torch_{options.device}")
        module = torch.get_device_module(options.device)
    except (ImportError, RuntimeError) as error:
        sys.exit(f"there is no device '{options.device}' here: {error}")
    if not module.is_available():
        why = getattr(module, "unavailable_reason", lambda: "it is not available")()
        sys.exit(f"there is no device '{options.device}' on this machine: {why}.")
    torch.set_num_threads(1)  # such small models gain nothing from more
    torch.manual_seed(0)
    return options.device, module


def minimize(
    optimizer: torch.optim.Optimizer, loss_of: Callable[[Batch], torch.Tensor], batches: Iterable[Batch]
) -> list[float]:
    """Takes a step of the optimizer for each batch, and returns the losses."""
    losses = []
    for batch in batches:
        loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def check(what: str, holds: bool) -> None:
    """Prints the outcome; a failure ends the program with status 1."""
    print(f"{what}: {'ok' if holds else 'FAILED'}")
    if not holds:
        sys.exit(1)


def check_equal_losses(ours: list[float], theirs: list[float], tolerance: float) -> None:
    """Compares the losses of two runs, step by step, relative to their size."""
    worst = max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(ours, theirs, strict=True))
    check(
        f"losses of {len(ours)} steps differ from the CPU's by at most {worst:.1g} (allowed: {tolerance:g})",
        worst <= tolerance,
    )
