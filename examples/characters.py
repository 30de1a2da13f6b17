"""Trains a character transformer on a text, on a device and on the CPU, and has it continue a line.

The text is this repository's own CONTRIBUTING.md: small, and there.
"""

import copy
from pathlib import Path

import torch
from torch import Tensor, nn
from workload import check, check_equal_losses, parse

LENGTH, BATCH, STEPS, WIDTH = 48, 24, 60, 64
TEXT = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"


class CharacterModel(nn.Module):
    """Predicts each next character of lines of at most LENGTH characters."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, text: Tensor) -> Tensor:
        length = text.shape[1]
        x = self.characters(text) + self.positions(torch.arange(length, device=text.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=text.device)
        return self.head(self.layers(x, mask=mask, is_causal=True))


def train(model: nn.Module, text: Tensor, device: str) -> list[float]:
    model.to(device)
    text = text.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    positions = torch.Generator().manual_seed(1)
    losses = []
    for step in range(STEPS):
        starts = torch.randint(len(text) - LENGTH - 1, (BATCH,), generator=positions).tolist()
        lines = torch.stack([text[start : start + LENGTH + 1] for start in starts])
        logits = model(lines[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), lines[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 19:
            print(f"  step {step + 1}: loss {losses[-1]:.3f}", flush=True)
    return losses


@torch.no_grad()
def continued(model: nn.Module, line: Tensor, count: int) -> list[int]:
    model.eval()
    for _ in range(count):
        best = model(line[None, -LENGTH:])[0, -1].argmax()
        line = torch.cat([line, best[None]])
    return line.tolist()


def main() -> None:
    device, _ = parse(__doc__ or "")
    raw = TEXT.read_text(encoding="utf-8")
    letters = sorted(set(raw))
    number = {letter: n for n, letter in enumerate(letters)}
    text = torch.tensor([number[letter] for letter in raw])
    model = CharacterModel(len(letters))
    twin = copy.deepcopy(model)

    print(f"training on {device}: {len(text)} characters, {len(letters)} different ones")
    ours = train(model, text, device)
    start = "An operator "
    line = continued(model, torch.tensor([number[letter] for letter in start], device=device), 20)
    print("continued: " + repr("".join(letters[n] for n in line)))
    print("the same on cpu")
    theirs = train(twin, text, "cpu")
    check("the loss fell below three quarters of what it was", ours[-1] < 0.75 * ours[0])
    check_equal_losses(ours, theirs, 1e-3)


if __name__ == "__main__":
    main()
