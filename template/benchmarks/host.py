"""CPU tensors in a process that has loaded the backend, against one that hasn't."""

from collections.abc import Iterator

from compare import Remote
from measure import Result, Row, geometric_mean, measure
from rows import rows

ROWS = ("empty(4)", "view", "add(4)", "add 64x64", "sum 64x64", "mm 64", "AdamW 100x(32,32) foreach", "MLP train step")
# Of all together: what the backend costs, it costs all of them, and one by one they differ by where memory happens to
# lie in a process.
MEAN_LIMIT = 1.03


def results(rounds: int, threads: int, seconds: float) -> Iterator[Result]:
    without = "TORCH_DEVICE_BACKEND_AUTOLOAD=0 :cpu"
    sides = [Remote(side, threads, seconds) for side in (without, "cpu", without)]
    for side in sides:
        side.begin()
    measured = []
    for row in rows():
        if row.name in ROWS:
            measured.append(measure(Row("host", row.name, row.work), *sides, rounds))
            yield measured[-1]
    for side in sides:
        side.close()
    yield geometric_mean("host", measured, MEAN_LIMIT)
