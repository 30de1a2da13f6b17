"""Each operation of Inductor as an expression in C."""

import functools
import math
from collections.abc import Callable
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._inductor.codegen.common import CSEVariable, IndentedBuffer, OpOverrides
from torch._inductor.ops_handler import OpsHandler
from torch._inductor.virtualized import V


class COperators(OpOverrides):
    """Operands are variables whose types are those of `Language.types`."""

    @staticmethod
    def constant(value: bool | float, dtype: torch.dtype) -> str:
        if dtype == torch.bool:
            return "true" if value else "false"
        if not dtype.is_floating_point:
            # No literal is the lowest number, because C applies the sign afterwards.
            return f"({int(value) + 1}L - 1)" if value == -(1 << 63) else f"{int(value)}{'L' if abs(value) >= 1 << 31 else ''}"
        if not math.isfinite(value):
            return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
        return repr(float(value)) if dtype == torch.float64 else f"{float(value)!r}f"

    @staticmethod
    def to_dtype(x: Any, dtype: torch.dtype, src_dtype: torch.dtype | None = None, use_compute_types: bool = True) -> str:
        if dtype == torch.bool:
            return f"({x} != 0)"
        # A negative float has no unsigned value in C; through a signed integer it wraps around, as on the CPU.
        through = "(long)" if not dtype.is_signed and dtype.itemsize < 8 and _is_floating(x) else ""
        return f"(({V.kernel.dtype_to_str(dtype)}){through}{x})"

    @staticmethod
    def to_dtype_bitcast(x: Any, dtype: torch.dtype, src_dtype: torch.dtype) -> str:
        narrow = (torch.float16, torch.bfloat16)
        if dtype in narrow or src_dtype in narrow:
            raise NotImplementedError("a view of floats of 16 bits as another dtype, in compiled code: they compute in float")
        return V.kernel.language.bitcast(x, dtype)

    @staticmethod
    def index_expr(expr: sympy.Expr, dtype: torch.dtype) -> str:
        return COperators.to_dtype(f"({V.kernel.index_to_str(V.kernel.prepare_indexing(expr))})", dtype)

    value_expr = index_expr

    @staticmethod
    def masked(mask: CSEVariable, body: Callable[[], CSEVariable], other: float) -> CSEVariable:
        inner = IndentedBuffer()
        with V.kernel.swap_buffers(inner):
            result = body()
        kernel, dtype = V.kernel, result.dtype
        assert dtype is not None
        value = kernel.cse.newvar(dtype=dtype)
        kernel.compute.writelines(
            [f"{kernel.dtype_to_str(dtype)} {value} = {COperators.constant(other, dtype)};", f"if ({mask}) " + "{"]
        )
        with kernel.compute.indent():
            kernel.compute.splice(inner)
            kernel.compute.writeline(f"{value} = {result};")
        kernel.compute.writeline("}")
        return value

    @staticmethod
    def add(a: Any, b: Any) -> str:
        return _wrapping(a, "+", b)

    @staticmethod
    def sub(a: Any, b: Any) -> str:
        return _wrapping(a, "-", b)

    @staticmethod
    def mul(a: Any, b: Any) -> str:
        return _wrapping(a, "*", b)

    @staticmethod
    def neg(x: Any) -> str:
        return f"(-{x})" if _is_floating(x) else _wrapping(0, "-", x)

    @staticmethod
    def where(condition: Any, a: Any, b: Any) -> str:
        return f"({condition} ? {a} : {b})"

    @staticmethod
    def maximum(a: Any, b: Any) -> str:
        return f"MAXIMUM({a}, {b})"

    @staticmethod
    def minimum(a: Any, b: Any) -> str:
        return f"MINIMUM({a}, {b})"

    @staticmethod
    def abs(x: Any) -> str:
        return f"fabs({x})" if _is_floating(x) else f"({x} < 0 ? {COperators.neg(x)} : {x})"

    @staticmethod
    def sign(x: Any) -> str:
        return f"(({x} > 0) - ({x} < 0))"

    @staticmethod
    def signbit(x: Any) -> str:
        return f"(signbit({x}) != 0)" if _is_floating(x) else f"({x} < 0)"

    @staticmethod
    def isnan(x: Any) -> str:
        return f"({x} != {x})"

    @staticmethod
    def isinf(x: Any) -> str:
        return f"(fabs({x}) == INFINITY)" if _is_floating(x) else "false"

    @staticmethod
    def rsqrt(x: Any) -> str:
        return f"(1 / sqrt({x}))"

    @staticmethod
    def round(x: Any) -> str:
        return f"rint({x})"

    @staticmethod
    def ldexp(x: Any, n: Any) -> str:
        return f"ldexp({x}, (int){n})"

    @staticmethod
    def fmod(a: Any, b: Any) -> str:
        return f"fmod({a}, {b})" if _is_floating(a) else f"mod_trunc({a}, {b})"

    @staticmethod
    def mod(a: Any, b: Any) -> str:
        return COperators.fmod(a, b)

    @staticmethod
    def floordiv(a: Any, b: Any) -> str:
        return f"div_floor({a}, {b})"

    @staticmethod
    def truncdiv(a: Any, b: Any) -> str:
        return f"div_trunc({a}, {b})"

    @staticmethod
    def logical_and(a: Any, b: Any) -> str:
        return f"({a} && {b})"

    @staticmethod
    def logical_or(a: Any, b: Any) -> str:
        return f"({a} || {b})"

    @staticmethod
    def logical_xor(a: Any, b: Any) -> str:
        return f"(({a} != 0) != ({b} != 0))"

    @staticmethod
    def logical_not(x: Any) -> str:
        return f"(!{x})"

    @staticmethod
    def bitwise_not(x: Any) -> str:
        return f"(!{x})" if getattr(x, "dtype", None) == torch.bool else f"(~{x})"

    # In C a count beyond the width may do anything.
    @staticmethod
    def bitwise_left_shift(a: Any, count: Any) -> str:
        return f"({count} >= 0 && {count} < {torch.iinfo(a.dtype).bits} ? {a} << {count} : 0)"

    @staticmethod
    def bitwise_right_shift(a: Any, count: Any) -> str:
        beyond = f"-({a} < 0)"  # an unsigned number never is
        return f"({count} >= 0 && {count} < {torch.iinfo(a.dtype).bits} ? {a} >> {count} : {beyond})"

    @staticmethod
    def rand(seed: Any, offset: Any) -> str:
        return f"uniform({seed}, {offset})"

    @staticmethod
    def randn(seed: Any, offset: Any) -> str:
        return f"normal({seed}, {offset})"

    @staticmethod
    def randint64(seed: Any, offset: Any, low: Any, high: Any) -> str:
        return f"randint64({seed}, {offset}, {low}, {high})"


def _is_floating(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return dtype is not None and dtype.is_floating_point


def _wrapping(a: Any, operator: str, b: Any) -> str:
    """Numbers of PyTorch wrap around. In C only unsigned ones do, and compilers make use of it that others never have to."""
    dtypes = [dtype for dtype in (getattr(a, "dtype", None), getattr(b, "dtype", None)) if dtype is not None]
    if not dtypes or any(dtype.is_floating_point or dtype == torch.bool for dtype in dtypes):
        return f"({a} {operator} {b})"
    dtype = functools.reduce(torch.promote_types, dtypes)
    wide = "unsigned long" if dtype.itemsize == 8 else "unsigned int"
    return f"(({V.kernel.dtype_to_str(dtype)})(({wide}){a} {operator} ({wide}){b}))"


def _function(name: str) -> Callable[..., str]:
    return lambda *operands: f"{name}({', '.join(map(str, operands))})"


# What <math.h> has by the same name.
for _name in (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "floor", "ceil", "trunc"),
    *("atan2", "hypot", "copysign", "nextafter", "pow", "fma"),
):
    setattr(COperators, _name, staticmethod(_function(_name)))
# And what has no such function says so by its name.
for _name in filter(str.islower, dir(OpsHandler)):
    if not _name.startswith("_") and COperators._is_unimplemented(_name):
        setattr(COperators, _name, COperators._unimplemented(_name))
