"""A small Llama-like model in plain torch: rotary positions, gated layers, and a cache of fixed size."""

import torch
from torch import nn

WIDTH, HEADS, LENGTH, WORDS = 32, 4, 16, 50


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.projections = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.register_buffer("keys", torch.zeros(HEADS, LENGTH, WIDTH // HEADS))
        self.register_buffer("values", torch.zeros(HEADS, LENGTH, WIDTH // HEADS))

    def forward(self, x, position, turns):
        query, key, value = self.projections(x).view(3, HEADS, WIDTH // HEADS).unbind(0)
        query, key = rotated(query, turns), rotated(key, turns)
        self.keys.index_copy_(1, position, key.unsqueeze(1))
        self.values.index_copy_(1, position, value.unsqueeze(1))
        scores = (self.keys @ query.unsqueeze(2)).squeeze(2) / (WIDTH // HEADS) ** 0.5
        later = torch.arange(LENGTH, device=x.device) > position
        weights = scores.masked_fill(later, -1e9).softmax(1)
        return self.output((weights.unsqueeze(1) @ self.values).reshape(1, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(2))
        self.attention = Attention()
        self.gate, self.up = (nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x, position, turns):
        x = x + self.attention(self.norms[0](x), position, turns)
        y = self.norms[1](x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """One token at a position gives the scores of the next."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.RMSNorm(WIDTH)
        half = torch.arange(WIDTH // HEADS // 2)
        self.register_buffer("frequencies", 100.0 ** (-half / len(half)))

    def forward(self, token, position):
        x, turns = self.words(token), position * self.frequencies
        for block in self.blocks:
            x = block(x, position, turns)
        return self.norm(x) @ self.words.weight.t()


def rotated(x, turns):
    first, second = x.chunk(2, dim=-1)
    cos, sin = turns.cos(), turns.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def llama(device):
    torch.manual_seed(0)
    return Llama().to(device)
