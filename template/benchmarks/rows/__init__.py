"""All that can be timed a call at a time."""

import importlib
import importlib.util

from measure import Row
from rows import copies, graphs, layers, operators, optimizers, streams, training

MODULES = {
    "operators": operators,
    "layers": layers,
    "optimizers": optimizers,
    "training": training,
    "copies": copies,
    "streams": streams,
    "graphs": graphs,
}
if importlib.util.find_spec("rows.compile"):  # the feature of this name may be off
    MODULES["compile"] = importlib.import_module("rows.compile")


def rows() -> list[Row]:
    return [
        Row(group, name, work, module.LIMITS.get(name))
        for group, module in MODULES.items()
        for name, work in module.ROWS.items()
    ]
