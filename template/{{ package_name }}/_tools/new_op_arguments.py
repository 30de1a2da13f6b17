"""Finds arguments that the CPU takes for an operator, by trying, and the operators that a composite one calls with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SHAPES = ("3, 4", "4, 4", "2, 4, 6, 6", "2, 4, 6", "2, 4, 4", "4", "2, 4, 6, 6, 6")
INTEGERS = ("1", "2", "4", "0")
# Names that say that a tensor holds positions, not values.
POSITIONS = ("index", "indices", "target", "offsets", "indexes")

SIMPLE = {
    "float": "0.5",
    "number": "2",
    "bool": "False",
    "str": '""',
    "Device": 'torch.device("cpu")',
    "Generator": "torch.default_generator",
    "List[float]": "[1.0]",
    "List[number]": "[2]",
    "List[bool]": "[False]",
    "List[str]": '[""]',
}


@dataclass
class Arguments:
    """Arguments as Python expressions. Tensors become the test's inputs; the others stand in the call."""

    tensors: dict[str, str] = field(default_factory=dict)
    call: list[str] = field(default_factory=list)
    refused: str = ""  # the CPU's error, if it takes none of the arguments that were tried
    dtype: str = "torch.float32"  # of the result
    is_random: bool = False


def sample(op: str) -> Arguments:
    import torch

    overload = overload_of(op)
    first = None
    for arguments in candidates(overload._schema):
        try:
            result = evaluate(overload, arguments)
        except Exception as error:
            arguments.refused = (str(error).splitlines() or [type(error).__name__])[0]
            first = first or arguments
            continue
        if isinstance(result, torch.Tensor):
            arguments.dtype = str(result.dtype)
        break
    else:
        arguments = first or Arguments(refused="it has an argument of an unknown type")
    arguments.is_random = torch.Tag.nondeterministic_seeded in overload.tags
    return arguments


def parts_of(op: str) -> list[str]:
    """The operators that a composite one is made of, for such arguments."""
    from torch.utils._python_dispatch import TorchDispatchMode

    found: dict[str, None] = {}

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found[function.name()] = None
            return function(*args, **(kwargs or {}))

    arguments = sample(op)
    if not arguments.refused:
        inputs = _tensors(arguments)
        with Record():
            _call(overload_of(op), arguments, inputs)
    return [name for name in found if name != f"aten::{op}"]


def evaluate(overload: Any, arguments: Arguments, dtype: Any = None) -> Any:
    """The result for these arguments, or for their tensors in another dtype."""
    tensors = _tensors(arguments)
    return _call(overload, arguments, {name: x.to(dtype) for name, x in tensors.items()} if dtype else tensors)


def overload_of(op: str) -> Any:
    import torch

    base, _, name = op.partition(".")
    return getattr(getattr(torch.ops.aten, base), name or "default")


def _tensors(arguments: Arguments) -> dict[str, Any]:
    import torch

    return {name: eval(text, {"torch": torch}) for name, text in arguments.tensors.items()}


def _call(overload: Any, arguments: Arguments, tensors: dict[str, Any]) -> Any:
    import torch

    expression = f"overload({', '.join(arguments.call)})"
    return eval(expression, {"torch": torch, "overload": overload, **tensors})


def candidates(schema: Any) -> Iterator[Arguments]:
    for shape, integer in itertools.product(SHAPES, INTEGERS):
        arguments = Arguments()
        for argument in schema.arguments:
            if argument.has_default_value() or argument.is_out:
                continue
            text = _expression(argument, shape, integer, arguments)
            if text is None:
                return
            arguments.call.append(f"{argument.name}={text}" if argument.kwarg_only else text)
        if not arguments.tensors and any(argument.name == "device" for argument in schema.arguments):
            arguments.tensors["like"] = "torch.empty(0)"
            arguments.call.append("device=like.device")
        yield arguments


def _expression(argument: Any, shape: str, integer: str, arguments: Arguments) -> str | None:
    kind = str(argument.type)
    if kind == "Tensor":
        name = "x" if argument.name == "self" else argument.name
        if argument.name in POSITIONS:
            arguments.tensors[name] = f"torch.zeros({shape}, dtype=torch.int64)"
        else:
            arguments.tensors[name] = f"torch.rand({shape})"
        return name
    if kind == "List[Tensor]":
        arguments.tensors[argument.name] = f"[torch.rand({shape}), torch.rand({shape})]"
        return str(argument.name)
    if kind.startswith("Optional"):
        return "None"
    if kind == "List[int]":
        length = argument.N or 1
        return "[" + ", ".join([integer] * length) + "]"
    if argument.name == "dtype":
        return "torch.float32"  # of which the schema says that it is an int
    return SIMPLE.get(kind, integer if kind == "int" else None)
