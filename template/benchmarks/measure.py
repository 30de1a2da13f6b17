"""What all benchmarks share: sides that are timed in turn, rows with a limit, and results with a verdict."""

import math
import resource
import statistics
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

# A statement over operands(), or a function that makes the callable to be timed for a device.
Work = str | Callable[[str], Callable[[], object]]


@dataclass(frozen=True)
class Limit:
    """What the second side may take: `ratio` times what the first takes, or `more` µs above it if that is more."""

    ratio: float
    more: float = 0.0


@dataclass(frozen=True)
class Row:
    group: str
    name: str
    work: Work
    limit: Limit | None = None


@dataclass
class Result:
    """Of what has two sides `ratio` is judged, else `second` is. `noise`: A/A, the first side measured twice."""

    group: str
    row: str
    unit: str = "µs"
    first: float | None = None
    second: float | None = None
    ratio: float | None = None
    noise: float | None = None
    limit: float | None = None

    @property
    def judged(self) -> float | None:
        return self.second if self.ratio is None else self.ratio

    @property
    def verdict(self) -> str:
        if self.judged is None:
            return "not possible"
        if self.limit is None:
            return self.difference
        if self.judged <= self.limit:
            return "ok"
        # What the machine does to two measurements of the same thing, it may have done here.
        return "in the noise" if self.judged <= self.limit * self.uncertainty else "OVER"

    @property
    def difference(self) -> str:
        """What two sides, neither of which is the measure of the other, differ by."""
        if self.ratio is None or max(self.ratio, 1 / self.ratio) <= 1.05 * self.uncertainty:
            return ""
        return "slower" if self.ratio > 1 else "faster"

    @property
    def uncertainty(self) -> float:
        return max(self.noise, 1 / self.noise) if self.noise else 1.0


class Side(Protocol):
    """One of the two that are timed, in this process or in one of its own."""

    def prepare(self, row: Row) -> list[float]:
        """Makes a row ready; what its first calls returned, where that is a number. NotImplementedError: can't be."""

    def sample(self) -> float:
        """Seconds that one call took, of many."""


class Local:
    """A device of this process.

    Args:
        operands: makes the names that statements use.
        seconds: how long a sample takes at least.
    """

    def __init__(self, device: str, operands: Callable[[str], dict[str, object]], seconds: float):
        self.device = device
        self.seconds = seconds
        self.names = operands(device)
        self.synchronize = None if device == "cpu" else torch.get_device_module(device).synchronize
        self.timer = timeit.Timer()
        self.loops = 1

    def now(self) -> float:
        if self.synchronize is not None:
            self.synchronize()
        return time.perf_counter()

    def prepare(self, row: Row) -> list[float]:
        work = row.work if isinstance(row.work, str) else row.work(self.device)
        self.timer = timeit.Timer(work, timer=self.now, globals=self.names)
        returned = []
        if isinstance(work, str):
            self.timer.timeit(3)  # first calls build caches and would pass for a slow row
        else:
            values = [work() for _ in range(3)]
            returned = [value.item() for value in values if isinstance(value, torch.Tensor) and value.dim() == 0]
        self.loops = 1
        while self.sample() * self.loops < self.seconds:
            self.loops *= 2
        return returned

    def sample(self) -> float:
        # A time in which another process took the processor is that process's too: taken anew. timeit pauses the gc.
        seconds = 0.0
        for _ in range(8):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
            seconds = self.timer.timeit(self.loops) / self.loops
            if resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw == before:
                break
        return seconds


def measure(row: Row, first: Side, second: Side, again: Side, rounds: int) -> Result:
    """Medians of interleaved rounds.

    Args:
        again: another like the first side, which shows the noise.
    """
    result = Result(row.group, row.name)
    try:
        expected, got = first.prepare(row), second.prepare(row)
        again.prepare(row)
    except NotImplementedError:
        return result
    for ours, theirs in zip(got, expected, strict=True):
        if not math.isclose(ours, theirs, rel_tol=1e-3, abs_tol=1e-5):
            raise ArithmeticError(f"{row.name}: the two sides compute different things, {got} and not {expected}.")
    turns: list[tuple[Side, list[float]]] = [(first, []), (second, []), (again, [])]
    for turn in range(rounds):
        for side, samples in turns[turn % 3 :] + turns[: turn % 3]:
            samples.append(side.sample() * 1e6)
    result.first, result.second, repeated = (statistics.median(samples) for _, samples in turns)
    result.ratio = result.second / result.first
    result.noise = repeated / result.first
    if row.limit is not None:
        more = row.limit.more / result.first
        result.limit = max(row.limit.ratio, 1 + more if more else 0.0)
    return result


def geometric_mean(group: str, results: list[Result], limit: float | None) -> Result:
    # A row that has no limit where others have one is shown, not judged.
    judged = [result for result in results if result.limit is not None] or results
    ratios = [result.ratio for result in judged if result.ratio]
    noises = [result.noise for result in judged if result.noise]
    mean = statistics.geometric_mean(ratios) if ratios else None
    noise = statistics.geometric_mean(noises) if noises else None
    return Result(group, "geometric mean", ratio=mean, noise=noise, limit=limit)
