"""All that can be timed a call at a time."""

import importlib
import importlib.util

import copies
import graphs
import operators
import optimizers
import streams
import training
from measure import Row

MODULES = {
    "operators": operators,
    "optimizers": optimizers,
    "training": training,
    "copies": copies,
    "streams": streams,
    "graphs": graphs,
}
if importlib.util.find_spec("compile"):  # the feature of this name may be off
    MODULES["compile"] = importlib.import_module("compile")


def rows() -> list[Row]:
    return [
        Row(group, name, work, module.LIMITS.get(name))
        for group, module in MODULES.items()
        for name, work in module.ROWS.items()
    ]
