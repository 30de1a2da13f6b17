"""Makes OpenCL C of the formulas of the kernel contract: of each elementwise kernel and each reduction a line of a table.

    python formulas.py ELEMENTWISE.inc REDUCTIONS.inc KERNELS.yaml ...

A formula that says what has no counterpart here makes no kernel, which is told: its operators are carried out by other
means, until the file that it stands in says less, or this one more.
"""

import ast
import json
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    sys.exit(f"{sys.executable} has no PyYAML, which reads the kernels' formulas: pip install pyyaml")

SECTIONS = ("dtypes", "elementwise", "reductions", "others", "pairs")
DTYPES = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "bool")
# By the number of arguments. What isn't OpenCL's own stands in source/functions.cl.
SAME = {
    1: "exp exp2 expm1 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh erf erfc sinc sigmoid".split(),
    2: "hypot copysign maximum minimum power logaddexp".split(),
}
FUNCTIONS = {
    **{(name, count): name for count, names in SAME.items() for name in names},
    **{(f"arc{name}", 1): f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    ("tanh", 1): "saturated_tanh",
    ("arctan2", 2): "atan2",
    **{(name, 1): "absolute" for name in ("abs", "absolute", "fabs")},
    ("square", 1): "square",
    ("sign", 1): "sign_of",
    ("isnan", 1): "is_nan",
    ("isinf", 1): "is_infinite",
    ("isfinite", 1): "is_finite",
    ("fmax", 2): "greater",
    ("fmin", 2): "less",
    ("fmod", 2): "modulo",
    ("remainder", 2): "python_modulo",
    ("floor_divide", 2): "floored",
}
# OpenCL has these for floats alone, and so has functions.cl.
OF_FLOATS = {name for names in SAME.values() for name in names} - {"maximum", "minimum", "power"}
OF_FLOATS |= {name for name, _ in FUNCTIONS if name.startswith("arc")}
# Of whole numbers these are what they are given.
ROUNDING = {"ceil": "ceil", "floor": "floor", "trunc": "trunc", "round": "rint", "rint": "rint"}
CONSTANTS = {"pi": "3.14159265358979323846", "e": "2.71828182845904523536", "inf": "INFINITY"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
CALLED = {ast.Div: "divided", ast.FloorDiv: "floored", ast.Mod: "python_modulo"}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
# What a reduction begins with, what it makes of what it has and one more, and what it ends with; `all` is that of
# source/reduce.cl. Of sums it keeps what rounding lost.
REDUCTIONS = {
    "sum": ("0", "add_to(&all, {})", "all.value + all.lost"),
    "mean": ("0", "add_to(&all, {})", "(all.value + all.lost) / (A)(n)"),
    "prod": ("1", "all.value *= {}", "all.value"),
    "max": ("LEAST", "all.value = MAXIMUM(all.value, {})", "all.value"),
    "min": ("GREATEST", "all.value = MINIMUM(all.value, {})", "all.value"),
    "any": ("0", "all.value = all.value != 0 || {} != 0", "all.value"),
    "all": ("1", "all.value = all.value != 0 && {} != 0", "all.value"),
}


class Unknown(Exception):
    """What can't be said in OpenCL C."""


def written(node, names, floating):
    """The expression in OpenCL C. `names` has the words for parts that have a name, `floating` is false where there may be
    whole numbers."""

    def part(one):
        return written(one, names, floating)

    if (known := names.get(ast.unparse(node))) is not None:
        return known
    match node:
        case ast.Name(id=name) if name in CONSTANTS and floating:
            return f"(C){CONSTANTS[name]}"
        case ast.Constant(value=int(value)):
            return f"(C){int(value)}"
        case ast.Constant(value=float(value)) if floating:
            return f"(C){value!r}"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{part(operand)})"
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return f"NOT({part(operand)})"
        case ast.BinOp(op=ast.Pow(), left=left, right=ast.Constant(value=(2 | 3) as exponent)):
            return f"{'square' if exponent == 2 else 'cube'}({part(left)})"
        case ast.BinOp(op=ast.Pow(), left=left, right=right):
            return f"power({part(left)}, {part(right)})"
        case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATORS:
            return f"({part(left)} {OPERATORS[type(op)]} {part(right)})"
        case ast.BinOp(op=op, left=left, right=right) if type(op) in CALLED:
            return f"{CALLED[type(op)]}({part(left)}, {part(right)})"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            return f"({part(left)} {COMPARISONS[type(op)]} {part(right)})"
        case ast.Call(func=ast.Name(id="where"), args=[condition, one, other], keywords=[]):
            return f"({part(condition)} != 0 ? {part(one)} : {part(other)})"
        case ast.Call(func=ast.Name(id="clip"), args=[value, low, high], keywords=[]):
            return f"minimum(maximum({part(value)}, {part(low)}), {part(high)})"
        case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if name in ROUNDING:
            return f"WHOLE({ROUNDING[name]}, {part(value)})"
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if (name, len(arguments)) in FUNCTIONS:
            if floating or name not in OF_FLOATS:
                return f"{FUNCTIONS[name, len(arguments)]}({', '.join(map(part, arguments))})"
    raise Unknown(ast.unparse(node))


def parsed(entry):
    formula = entry.get("formula")
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, TypeError):
        raise Unknown(formula or entry.get("computes")) from None


def repeated(formula):
    """The calls that occur more than once, the inner ones first. Not every compiler sees that they are the same."""
    calls = [ast.unparse(node) for node in ast.walk(formula) if isinstance(node, ast.Call)]
    return [call for call in dict.fromkeys(reversed(calls)) if calls.count(call) > 1]


def elementwise(entry, dtypes):
    """What a line says: kernel, dtypes, inputs, parameters, definitions, expression, whether a bool comes out."""
    inputs = {name: name for name in "abc"[: entry.get("inputs", 1)]}
    parameters = {name: f"p{number}" for number, name in enumerate(entry.get("parameters") or {})}
    formula, names, defined = parsed(entry), inputs | parameters, ""
    for number, call in enumerate(repeated(formula)):
        defined += f"const C s{number} = {written(ast.parse(call, mode='eval').body, names, is_floating(dtypes))}; "
        names[call] = f"s{number}"
    said = written(formula, names, is_floating(dtypes))
    return [entry["kernel"], dtypes, len(inputs), len(parameters), defined, said, to_bool(entry)]


def reduction(entry, dtypes):
    """Kernel, dtypes; how it begins, goes on, is put together and ends; whether a bool comes out."""
    floating, node, finish = is_floating(dtypes), parsed(entry), "{}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        finish = written(ast.Call(node.func, [ast.Name("all")], []), {"all": "{}"}, floating)
        node = node.args[0]
    match node:
        case ast.Call(func=ast.Name(id=name), args=[value, ast.Name(id="dims")], keywords=[]) if name in REDUCTIONS:
            start, add, end = REDUCTIONS[name]
            element = written(value, {"a": "x"}, floating)
            combine = add.format("other.value") + "; all.lost += other.lost"
            return [entry["kernel"], dtypes, start, add.format(element), combine, finish.format(end), to_bool(entry)]
    raise Unknown(ast.unparse(node))


def is_floating(dtypes):
    return all("float" in dtype for dtype in dtypes)


def to_bool(entry):
    return entry.get("result") == "bool"


def in_cpp(value):
    return "{" + ", ".join(map(in_cpp, value)) + "}" if isinstance(value, list) else json.dumps(value)


def table(entries, groups, line):
    rows = []
    for entry in entries:
        try:
            if entry["dtypes"] not in groups:
                raise Unknown(entry["dtypes"])
            dtypes = [dtype for dtype in groups[entry["dtypes"]] if dtype in DTYPES]
            rows.append(in_cpp(line(entry, dtypes)) + ",\n")
        except Unknown as unknown:
            print(f"OpenCL gets no kernel {entry['kernel']} by its formula: formulas.py has no words for `{unknown}`.")
    return "".join(rows)


def read_contract(path):
    """What is read here of such a file; runtime/tests/entries.py has what `make contract` says of the rest."""
    try:
        listed = yaml.safe_load(Path(path).read_bytes()) or {}
    except yaml.YAMLError as error:
        mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error).splitlines()[0]
        sys.exit(f"{path}:{mark.line + 1 if mark else 1}: this is not YAML: {said}.")
    if not isinstance(listed, dict) or (unknown := listed.keys() - SECTIONS):
        said = f"there is no section {', '.join(sorted(map(str, unknown)))}" if isinstance(listed, dict) else "a list"
        sys.exit(f"{path}: {said}; the file has one or more of the sections {', '.join(SECTIONS)}.")
    dtypes = listed.get("dtypes") or {}
    if not isinstance(dtypes, dict) or not all(map(is_words, dtypes.values())):
        sys.exit(f"{path}: dtypes has to be names of groups, each with a list of dtypes.")
    for section in ("elementwise", "reductions"):
        if not isinstance(listed.get(section) or [], list):
            sys.exit(f"{path}: {section} has to be a list of entries.")
        for number, entry in enumerate(listed.get(section) or [], 1):
            if said := problem(entry):
                name = isinstance(entry, dict) and entry.get("kernel")
                sys.exit(f"{path}: {name or f'entry {number} of {section}'} {said}.")
    return listed


def is_words(value):
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def problem(entry):
    """What keeps an entry from being read, in words that follow its name."""
    if not isinstance(entry, dict):
        return "has to have keys, as in `- {kernel: vendor_k, dtypes: floating}`"
    for key in ("kernel", "dtypes"):
        if not isinstance(entry.get(key), str):
            return f"needs `{key}: NAME`"
    if type(inputs := entry.get("inputs", 1)) is not int or not 1 <= inputs <= 3:
        return f"has {inputs!r} for inputs, which has to be 1, 2 or 3"
    if not isinstance(entry.get("parameters") or {}, dict):
        return "needs names for its parameters, as in {alpha: [1, 2]}"
    return ""


def main(elementwise_table, reductions_table, *contracts):
    read = [read_contract(path) for path in contracts]
    groups = {name: dtypes for one in read for name, dtypes in (one.get("dtypes") or {}).items()}
    for path, section, line in (
        (elementwise_table, "elementwise", elementwise),
        (reductions_table, "reductions", reduction),
    ):
        entries = [entry for one in read for entry in one.get(section) or []]
        Path(path).write_text(table(entries, groups, line), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
