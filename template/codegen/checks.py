"""What only the operators' schemas can tell of a line."""

from __future__ import annotations

from lines import Line, did_you_mean
from schemas import Schemas


def check(lines: list[Line], schemas: Schemas) -> list[str]:
    return [f"{line.where}: {problem}" for line in lines if (problem := _problem(line, schemas))]


def _problem(line: Line, schemas: Schemas) -> str:
    if line.op not in schemas:
        return f"torch has no operator aten::{line.op}; {schemas.nearest(line.op)}"
    if schemas.cuts_autograd(line.op):
        return (
            f"aten::{line.op} is composite (CompositeImplicitAutograd): its gradient comes from the operators it is "
            "made of, and a kernel for it would silently cut that; remove the line and list those operators instead."
        )
    if line.kind == "aten" and line.function not in (kernels := schemas.kernels(line.op)):
        return f"aten::{line.op} has no function at::native::{line.function}; {did_you_mean(line.function, [*kernels])}"
    return ""
