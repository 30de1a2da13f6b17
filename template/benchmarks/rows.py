"""All that can be timed a call at a time."""

import copies
import enqueue
import operators
import optimizers
import streams
import training
from measure import Row

MODULES = {"operators": operators, "optimizers": optimizers, "training": training, "copies": copies, "streams": streams}


def rows() -> list[Row]:
    """Those of `enqueue` are timed in processes of their own, which look them up here."""
    return [
        Row(group, name, work, module.LIMITS.get(name))
        for group, module in MODULES.items()
        for name, work in module.ROWS.items()
    ] + [Row("enqueue", name, work, enqueue.LIMIT) for name, work in enqueue.ROWS.items()]
