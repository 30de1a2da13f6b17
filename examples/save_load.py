"""Stops a training halfway, saves it, and goes on from the file on the device and on the CPU."""

import copy
import tempfile
from pathlib import Path

import torch
from torch import nn
from workload import check, check_equal_losses, minimize, parse

STEPS = 10


def steps(model: nn.Module, optimizer: torch.optim.Optimizer, data: torch.Tensor) -> list[float]:
    device = next(model.parameters()).device

    def loss_of(batch: torch.Tensor) -> torch.Tensor:
        batch = batch.to(device)
        return (model(batch) - batch).square().mean()

    return minimize(optimizer, loss_of, data[:STEPS])


def main() -> None:
    device, _ = parse(__doc__ or "")
    data = torch.randn(2 * STEPS, 32, 8)
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 8)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    fresh = copy.deepcopy(model)
    steps(model, optimizer, data)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        print(f"saved after {STEPS} steps: {path.stat().st_size} bytes")
        straight_on = steps(model, optimizer, data[STEPS:])

        resumed = []
        for where in (device, "cpu"):
            checkpoint = torch.load(path, map_location=where)
            twin = copy.deepcopy(fresh).to(where)
            twin.load_state_dict(checkpoint["model"])
            theirs = torch.optim.AdamW(twin.parameters(), lr=1e-2)
            theirs.load_state_dict(checkpoint["optimizer"])
            resumed.append(steps(twin, theirs, data[STEPS:]))
        tags = {x.device.type for x in torch.load(path)["model"].values()}
    check(f"without a map_location the file loads to {device}", tags == {device})
    check(f"resumed on {device}, the losses are those of going straight on", resumed[0] == straight_on)
    check_equal_losses(resumed[0], resumed[1], 1e-4)


if __name__ == "__main__":
    main()
