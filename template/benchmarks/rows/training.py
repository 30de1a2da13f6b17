"""Whole training steps: forward, backward, AdamW. The losses have to be the CPU's."""

from collections.abc import Callable

import torch
from torch import nn

from measure import Limit, Work


def train_step(make: Callable[[], nn.Module], *size: int) -> Callable[[str], Callable[[], object]]:
    def prepare(device: str) -> Callable[[], object]:
        torch.manual_seed(0)
        model = make().to(device)
        batch = torch.randn(size).to(device)
        # The default mode depends on the device; both sides shall do the same work.
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)

        def step() -> torch.Tensor:
            result = model(batch)
            loss = (result[0] if isinstance(result, tuple) else result).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    return prepare


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def cnn() -> nn.Module:
    def block(channels: int, out: int) -> list[nn.Module]:
        return [nn.Conv2d(channels, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*block(3, 16), *block(16, 32), nn.Flatten(), nn.Linear(32 * 8 * 8, 10))


def lstm() -> nn.Module:
    return nn.LSTM(32, 64, num_layers=2, batch_first=True)


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def tiny_backward(device: str) -> Callable[[], object]:
    x = torch.randn(4).to(device).requires_grad_()
    return lambda: x.sum().backward()


def tiny_backward_alone(device: str) -> Callable[[], object]:
    x = torch.randn(4).to(device).requires_grad_()

    def step() -> None:
        with torch.autograd.set_multithreading_enabled(False):
            x.sum().backward()

    return step


ROWS: dict[str, Work] = {
    "MLP train step": train_step(mlp, 64, 64),
    "CNN train step": train_step(cnn, 16, 3, 32, 32),
    "LSTM train step": train_step(lstm, 16, 20, 32),
    "transformer encoder train step": train_step(transformer, 8, 16, 64),
    "tiny backward": tiny_backward,
    "tiny backward (one thread)": tiny_backward_alone,
}
LIMITS = {name: Limit(1.25) for name in ROWS if name.endswith("train step")}
# Autograd runs an accelerator's backward on a thread of its own, and no backend can avoid the handover. So the tiny
# ones are shown and not judged.
