"""Prints what Inductor computes at compile time, indices above all, as C."""

import sympy  # type: ignore[import-untyped]
from torch.utils._sympy.printers import ExprPrinter


class CPrinter(ExprPrinter):
    """Integers divide towards zero in C and towards minus infinity in Python, which differs for negative ones."""

    def _of(self, expr: sympy.Expr) -> list[str]:
        return [f"({self._print(argument)})" for argument in expr.args]

    def _print_Integer(self, expr: sympy.Expr) -> str:
        return f"{int(expr)}L" if abs(int(expr)) >= 1 << 31 else str(int(expr))

    def _print_FloorDiv(self, expr: sympy.Expr) -> str:
        a, b = self._of(expr)
        return f"({a} / {b})" if _is_natural(expr) else f"div_floor({a}, {b})"

    def _print_PythonMod(self, expr: sympy.Expr) -> str:
        a, b = self._of(expr)
        return f"({a} % {b})" if _is_natural(expr) else f"mod_floor({a}, {b})"

    def _print_ModularIndexing(self, expr: sympy.Expr) -> str:
        x, divisor, modulus = self._of(expr)
        return f"({x} / {divisor} % {modulus})" if _is_natural(expr) else f"mod_floor(div_floor({x}, {divisor}), {modulus})"

    def _print_IntTrueDiv(self, expr: sympy.Expr) -> str:
        a, b = self._of(expr)
        return f"((real){a} / (real){b})"

    def _print_Rational(self, expr: sympy.Expr) -> str:
        return f"((real){int(expr.p)} / (real){int(expr.q)})"

    def _print_PowByNatural(self, expr: sympy.Expr) -> str:
        base, exponent = expr.args
        if not exponent.is_Integer:
            raise NotImplementedError(f"a power with the exponent {exponent}")
        return "(" + " * ".join([f"({self._print(base)})"] * int(exponent) or ["1"]) + ")"

    def _print_FloatPow(self, expr: sympy.Expr) -> str:
        base, exponent = self._of(expr)
        return f"pow((real){base}, (real){exponent})"

    def _print_ToFloat(self, expr: sympy.Expr) -> str:
        return f"((real){self._of(expr)[0]})"

    def _print_TruncToInt(self, expr: sympy.Expr) -> str:
        return f"((long){self._of(expr)[0]})"

    def _print_TruncToFloat(self, expr: sympy.Expr) -> str:
        return f"trunc({self._of(expr)[0]})"

    def _print_FloorToInt(self, expr: sympy.Expr) -> str:
        return f"((long)floor((real){self._of(expr)[0]}))"

    _print_floor = _print_FloorToInt

    def _print_CeilToInt(self, expr: sympy.Expr) -> str:
        return f"((long)ceil((real){self._of(expr)[0]}))"

    _print_ceiling = _print_CeilToInt

    def _print_RoundToInt(self, expr: sympy.Expr) -> str:
        return f"((long)rint({self._of(expr)[0]}))"

    def _print_Abs(self, expr: sympy.Expr) -> str:
        (x,) = self._of(expr)
        return f"({x} < 0 ? -{x} : {x})"

    def _print_Min(self, expr: sympy.Expr) -> str:
        return self._chosen(expr, "<")

    def _print_Max(self, expr: sympy.Expr) -> str:
        return self._chosen(expr, ">")

    def _chosen(self, expr: sympy.Expr, sign: str) -> str:
        best, *others = self._of(expr)
        for other in others:
            best = f"({best} {sign} {other} ? {best} : {other})"
        return best

    def _print_Where(self, expr: sympy.Expr) -> str:
        condition, yes, no = self._of(expr)
        return f"({condition} ? {yes} : {no})"

    def _print_And(self, expr: sympy.Expr) -> str:
        return "(" + " && ".join(self._of(expr)) + ")"

    def _print_Or(self, expr: sympy.Expr) -> str:
        return "(" + " || ".join(self._of(expr)) + ")"

    def _print_Not(self, expr: sympy.Expr) -> str:
        return f"(!{self._of(expr)[0]})"

    def _print_BooleanTrue(self, expr: sympy.Expr) -> str:
        return "true"

    def _print_BooleanFalse(self, expr: sympy.Expr) -> str:
        return "false"

    def _print_Infinity(self, expr: sympy.Expr) -> str:
        return "INFINITY"

    def _print_NegativeInfinity(self, expr: sympy.Expr) -> str:
        return "-INFINITY"

    def _print_NaN(self, expr: sympy.Expr) -> str:
        return "NAN"

    def _print_OpaqueUnaryFn_sqrt(self, expr: sympy.Expr) -> str:
        return f"sqrt((real){self._of(expr)[0]})"


def _is_natural(expr: sympy.Expr) -> bool:
    return all(argument.is_nonnegative for argument in expr.args)
