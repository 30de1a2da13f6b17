"""Trains a small CNN on handwritten digits, on a device and on the CPU from the same weights and batches.

Checks the test accuracy and that both runs have the same losses, and shows what ran where on the device.
"""

import argparse
import contextlib
import copy
import importlib
import io
import math
import sys
import time

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

EPOCHS, BATCH, TRAIN = 8, 64, 1437  # 1437 of the 1797 images train, the other 360 test
ACCURACY = 0.95
# Other summing orders or float64 change a loss by at most 4e-6, a layer's weights in half precision by 1e-4.
TOLERANCE = 2e-5
LEVELS = "▁▂▃▄▅▆▇█"


def device_module(device: str, package: str):
    """`torch.<device>`, after importing the backend's package where `import torch` does not do it."""
    try:
        if not hasattr(torch, device):
            importlib.import_module(package)
        module = torch.get_device_module(device)
    except (ImportError, RuntimeError) as error:
        sys.exit(f"digits: there is no device '{device}' here: {error}")
    if not module.is_available():
        why = getattr(module, "unavailable_reason", lambda: "it is not available")()
        sys.exit(f"digits: there is no device '{device}' on this machine: {why}.")
    return module


def network() -> nn.Module:
    # Smooth on purpose: at a kink of ReLU or max pooling, rounding flips a gradient and the two runs drift apart.
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.GELU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.GELU(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(32 * 4 * 4, 10),
    )  # fmt: skip


def mark(loss: float) -> str:
    """A loss as one character: full height for guessing among ten digits, one level less each time it halves."""
    if not loss > 0:
        return "?" if math.isnan(loss) else LEVELS[0]
    level = len(LEVELS) - 1 + math.log2(loss / math.log(10))
    return LEVELS[round(max(0, min(level, len(LEVELS) - 1)))]


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        correct = (model(images).argmax(1) == labels).sum().item()
    model.train()
    return correct / len(labels)


def step(model: nn.Module, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor) -> Tensor:
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def write_trace(file: str, device: str, model: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Profiles a few more steps, for https://ui.perfetto.dev."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    step(model, optimizer, images[:BATCH].to(device), labels[:BATCH].to(device))  # what is made once isn't shown
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.PrivateUse1] * (device != "cpu")
    with profile(activities=activities) as steps:
        for batch in torch.arange(3 * BATCH).split(BATCH):
            step(model, optimizer, images[batch].to(device), labels[batch].to(device))
    steps.export_chrome_trace(file)
    print(f"wrote a trace of {len(steps.events())} events to {file}, which https://ui.perfetto.dev shows")


def train(device: str, model: nn.Module, images: Tensor, labels: Tensor) -> tuple[list[float], float]:
    """Returns the loss of every step and the test accuracy."""
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    shuffle = torch.Generator().manual_seed(1)
    test = images[TRAIN:].to(device), labels[TRAIN:].to(device)
    losses: list[float] = []
    score = 0.0
    for epoch in range(EPOCHS):
        begin = time.perf_counter()
        print(f"  epoch {epoch + 1}/{EPOCHS} ", end="")
        for batch in torch.randperm(TRAIN, generator=shuffle).split(BATCH):
            losses.append(step(model, optimizer, images[batch].to(device), labels[batch].to(device)).item())
            print(mark(losses[-1]), end="", flush=True)
        score = accuracy(model, *test)
        print(f" loss {losses[-1]:.4f}, test accuracy {score:.1%}, {time.perf_counter() - begin:.1f} s", flush=True)
    return losses, score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", required=True, help="the device's name, or cpu")
    parser.add_argument("--package", help="the backend, where torch doesn't load it (torch_<device>)")
    parser.add_argument("--trace", metavar="FILE", help="write a chrome trace of some steps")
    options = parser.parse_args()
    device, on_cpu = options.device, options.device == "cpu"
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where blocks can't be printed a step is still a mark

    module = device_module(device, options.package or f"torch_{device}")
    counting = getattr(module, "count_operators", contextlib.nullcontext)
    digits = load_digits()
    torch.set_num_threads(1)  # so small a model gains nothing from more, and on a busy machine waits for them
    torch.manual_seed(0)
    order = torch.randperm(len(digits.target))
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)[order] / 16
    labels = torch.tensor(digits.target)[order]
    model = network()
    twin = copy.deepcopy(model)

    print(f"training on {device}: {TRAIN} images, batches of {BATCH}, one mark a step")
    with counting() as counts:
        losses, score = train(device, model, images, labels)
    if options.trace:
        write_trace(options.trace, device, copy.deepcopy(model), images, labels)
    failures = []
    if {parameter.device.type for parameter in model.parameters()} != {device}:
        failures.append(f"the model's parameters are not on '{device}'")
    if score < ACCURACY:
        failures.append(f"test accuracy is {score:.1%}, below {ACCURACY:.0%}")
    else:
        print(f"test accuracy {score:.1%}, at least {ACCURACY:.0%} wanted: ok")

    if not on_cpu:
        print("the same on cpu")
        expected, expected_score = train("cpu", twin, images, labels)
        worst = (torch.tensor(losses) - torch.tensor(expected)).abs().max().item()
        if worst <= TOLERANCE:
            print(f"losses of {len(losses)} steps differ from the CPU's by at most {worst:.2g}: ok")
        else:
            failures.append(f"losses differ from the CPU's by up to {worst:.2g}, more than float rounding explains")
        # Evaluation reads what training left in buffers, which no loss shows.
        if abs(score - expected_score) > 0.01:
            failures.append(f"test accuracy is {score:.1%}, but {expected_score:.1%} on the CPU")

    if counts is not None:
        print(f"what ran where, during the training on {device}")
        print(counts)
        if not sum(counts.by_kind.values()):
            failures.append(f"no operator was counted on '{device}'")
    else:
        print(f"what ran where: torch.{device} counts no operators, so there is no table")
    if failures:
        sys.exit("digits: " + "; ".join(failures) + ".")


if __name__ == "__main__":
    main()
