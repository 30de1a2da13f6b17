"""Trains a model whose halves are on two devices: activations and gradients travel between them."""

import copy

import torch
from torch import nn
from workload import check, check_equal_losses, minimize, parse

STEPS = 12


class Halves(nn.Module):
    """Two layers, each where its weights are."""

    def __init__(self) -> None:
        super().__init__()
        self.lower = nn.Sequential(nn.Linear(16, 48), nn.Tanh())
        self.upper = nn.Linear(48, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.lower(x.to(self.lower[0].weight.device))
        return self.upper(x.to(self.upper.weight.device))


def train(model: Halves, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> list[float]:
    def loss_of(batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        inputs, wanted = batch
        output = model(inputs)
        return nn.functional.mse_loss(output, wanted.to(output.device))

    return minimize(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), loss_of, batches)


def main() -> None:
    device, module = parse(__doc__ or "")
    if device == "cpu" or module.device_count() < 2:
        print(f"there is one device '{device}', so there is nothing to show")
        return
    model = Halves()
    twin = copy.deepcopy(model)
    model.lower.to(f"{device}:0")
    model.upper.to(f"{device}:1")
    batches = [(torch.randn(32, 16), torch.randn(32, 4)) for _ in range(STEPS)]
    ours = train(model, batches)
    for name, parameter in model.named_parameters():
        print(f"{name}: {parameter.device}, gradient on {parameter.grad.device}")
    check("each gradient is where its weight is", all(p.grad.device == p.device for p in model.parameters()))
    check("the current device is what it was", module.current_device() == 0)
    check_equal_losses(ours, train(twin, batches), 1e-4)


if __name__ == "__main__":
    main()
