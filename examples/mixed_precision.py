"""Trains with autocast to float16 and a GradScaler, and shows that the scaler skips a step whose gradients overflow."""

import copy

import torch
from torch import Tensor, nn
from workload import check, check_equal_losses, parse

STEPS, OVERFLOW = 12, 5


def train(model: nn.Module, batches: list[tuple[Tensor, Tensor]], device: str) -> tuple[list[float], list[float]]:
    """Returns the losses and the scale after each step. At step OVERFLOW the loss is made to overflow."""
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler(device, init_scale=1024.0)
    losses, scales = [], []
    for step, (inputs, wanted) in enumerate(batches):
        with torch.autocast(device, dtype=torch.float16 if device != "cpu" else torch.bfloat16):
            output = model(inputs.to(device))
        loss = nn.functional.mse_loss(output.float(), wanted.to(device))
        optimizer.zero_grad()
        scaler.scale(loss * (float("inf") if step == OVERFLOW else 1.0)).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    return losses, scales


def main() -> None:
    device, module = parse(__doc__ or "")
    if device != "cpu" and not hasattr(module, "get_amp_supported_dtype"):
        print(f"'{device}' was rendered without amp, so there is nothing to show")
        return
    model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4))
    twin = copy.deepcopy(model)
    batches = [(torch.randn(32, 16), torch.randn(32, 4)) for _ in range(STEPS)]

    ours, scales = train(model, batches, device)
    print("scale after each step: " + " ".join(f"{scale:g}" for scale in scales))
    theirs, cpu_scales = train(twin, batches, "cpu")
    check("the overflow halved the scale, once", scales == cpu_scales and scales[OVERFLOW] == scales[0] / 2)
    check(
        "the weights stayed float32 and finite",
        all(p.dtype == torch.float32 and bool(p.isfinite().all()) for p in model.parameters()),
    )
    # Half precision on both sides, and another one on the CPU.
    check_equal_losses(ours, theirs, 0.02)


if __name__ == "__main__":
    main()
