"""The lines of ops.yaml and ops.vendor.yaml, each with the place it stands at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import yaml

KINDS = ("native", "aten", "stub", "emulated", "fallback")
# A CPU kernel carries these out.
OF_CPU = ("emulated", "fallback")
# These take a function of ATen's own.
OF_ATEN = ("aten", "stub")
TIERS = ("minimal", "core", "full")
# In the place of a function: the glue is written by kernels.py.
FAMILIES = ("kernel", "reduction")
KEYS = (
    *("op", "kind", "tier", "function", "into", *FAMILIES, "result", "dtypes", "contiguous", "undefined", "backward"),
    *("meta", "needs", "with_fallback", "torch"),
)
LISTS = ("dtypes",)
MAPPINGS = ("backward",)
# The features that an operator's kernel may need.
NEEDS = ("generator",)
FORM = "`- {op: NAME, kind: KIND, tier: TIER}`"
FORMULAS = "a formula for each argument: `{self: grad * 2}`"
FROM_TO = "{aten::x: NAMESPACE::y}"
UNSUPPORTED = "unsupported_dtypes"
AUTOCAST = "autocast"
POLICIES = ("lower_precision_fp", "fp32", "promote", "none")
NAME_POLICY = "{aten::erf: fp32}"
# And what C++ calls them.
DTYPES = {
    "float32": "kFloat",
    "float64": "kDouble",
    "float16": "kHalf",
    "bfloat16": "kBFloat16",
    "complex32": "kComplexHalf",
    "complex64": "kComplexFloat",
    "complex128": "kComplexDouble",
    "bool": "kBool",
    "uint8": "kByte",
    "int8": "kChar",
    "int16": "kShort",
    "int32": "kInt",
    "int64": "kLong",
    "uint16": "kUInt16",
    "uint32": "kUInt32",
    "uint64": "kUInt64",
    "float8_e4m3fn": "kFloat8_e4m3fn",
    "float8_e4m3fnuz": "kFloat8_e4m3fnuz",
    "float8_e5m2": "kFloat8_e5m2",
    "float8_e5m2fnuz": "kFloat8_e5m2fnuz",
    "float8_e8m0fnu": "kFloat8_e8m0fnu",
}
NEED_FUNCTION = ("native", *OF_ATEN)
FUNCTIONS = ("function", "into", "meta")
# No function and no argument can be called any of these.
OF_CPP = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await "
    "co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do "
    "double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw "
    "true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq".split()
)


@dataclass(frozen=True)
class Line:
    """What is said of an operator; or, of kind `unsupported_dtypes` and `autocast`, of the device."""

    op: str
    kind: str
    tier: str
    function: str
    into: str
    with_fallback: bool
    torch: str
    where: str
    dtypes: tuple[str, ...] = ()
    contiguous: bool = False
    undefined: bool = False  # its function takes undefined tensors for arguments of type Tensor
    target: str = ""  # of kind `reroute`: the operator that is called in its place; of `autocast`: the one it is of
    schema: str = ""  # of an operator of the vendor's own
    backward: tuple[tuple[str, str], ...] = ()
    meta: str = ""  # the function that tells its results' shapes
    kernel: str = ""  # of an elementwise operator: the family of kernels that carries it out
    reduction: str = ""
    result: str = ""  # "bool", where that isn't the dtype that is computed in
    needs: str = ""

    @property
    def name(self) -> str:
        return self.op if "::" in self.op else f"aten::{self.op}"

    def is_in(self, op_set: str, fallback: bool) -> bool:
        return TIERS.index(self.tier) <= TIERS.index(op_set) or (fallback and self.with_fallback)

    def where_it_can(self, features: list[str]) -> Line:
        """The line itself, or, where what it needs is missing, one of kind `emulated` in its place."""
        if not self.needs or self.needs in features:
            return self
        return replace(self, kind="emulated", function="", into="", dtypes=(), contiguous=False)

    @property
    def is_operator(self) -> bool:
        return self.kind not in (UNSUPPORTED, AUTOCAST)

    def fits(self, release: tuple[int, ...]) -> bool:
        """Whether the line is for this release of torch: operators come and go."""
        bound = tuple(int(number) for number in re.findall(r"\d+", self.torch))
        return not bound or (release < bound if self.torch.startswith("<") else release >= bound)


def did_you_mean(word: str, words: list[str] | tuple[str, ...]) -> str:
    close = get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"it can be {', '.join(words)}."


def is_word(text: str) -> bool:
    """Whether C++, Python and torch's schemas all take it for a name, if it isn't a word of their own."""
    return re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) is not None


def read(path: Path, problems: list[str]) -> list[Line]:
    root = _compose(path, problems)
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        problems.append(f"{path}:{root.start_mark.line + 1}: the file has to be a list, with a {FORM} per operator.")
        return []
    lines = [line for node in root.value for line in _lines(path, node, problems)]
    first: dict[str, Line] = {}
    for line in lines:
        if first.setdefault(line.op, line) is not line:
            problems.append(f"{line.where}: {line.op} is listed already at {first[line.op].where}; remove one of them.")
    return list(first.values())


def _compose(path: Path, problems: list[str]) -> yaml.Node | None:
    """Returns None for an empty or unreadable file."""
    # The base loader leaves every value a string: `no` and `1e3` would be something else to the others.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        problems.append(f"{path}:{number}: byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8.")
        return None
    if strange := yaml.reader.Reader.NON_PRINTABLE.search(text):
        number = text.count("\n", 0, strange.start()) + 1
        advice = "which YAML doesn't take: remove it, or save the file as UTF-8 if it is in another encoding."
        problems.append(f"{path}:{number}: here is the character U+{ord(strange[0]):04X}, {advice}")
        return None
    try:
        return yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        problems.append(_not_yaml(path, text, error))
        return None


def read_emulated(path: Path, problems: list[str]) -> list[Line]:
    """Of a file of names by operator set: a line of kind `emulated` for each."""
    root = _compose(path, problems)
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        problems.append(f"{path}:1: the file has to be names of operators by operator set, as in `core: [exp, log]`.")
        return []
    lines = []
    for tier, ops in root.value:
        if tier.value not in TIERS or not isinstance(ops, yaml.SequenceNode) or not _are_words(ops.value):
            advice = f"`{tier.value}` has to be one of {', '.join(TIERS)}, with a list of operators."
            problems.append(f"{path}:{tier.start_mark.line + 1}: {advice}")
            continue
        for op in ops.value:
            where = f"{path}:{op.start_mark.line + 1}"
            lines.append(Line(op.value, "emulated", tier.value, "", "", False, "", where))
    return lines


def _not_yaml(path: Path, text: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if re.fullmatch(r"\[\s*\]\s*(#.*)?", line) and any(re.match(r"\s*-", below) for below in lines[number:]):
            return f"{path}:{number}: this `[]` is an empty list, which ends here: remove it, so that the lines below count."
    number = mark.line + 1 if mark else 1
    if number <= len(lines) and re.match(r"\s+- ", lines[number - 1]):
        return f"{path}:{number}: this line is indented further than others: begin each with `- ` in the first column."
    return f"{path}:{number}: this is not YAML: {error.problem}."


def unread(template: Path, vendor: Path) -> list[str]:
    """What looks like a list of operators and is none, wherever in the room it stands."""
    beside = {path for path in vendor.parent.rglob("*.*") if path.suffix.lower() in (".yaml", ".yml")}
    advice = f"no list of operators has this name, so nothing reads it: move its lines into {vendor.name}."
    return [f"{path}:1: {advice}" for path in sorted(beside - {template, vendor})]


def _lines(path: Path, node: yaml.Node, problems: list[str]) -> list[Line]:
    keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    if keys == ["reroute"]:
        return _reroutes(path, node.value[0][1], problems)
    if keys == [UNSUPPORTED]:
        return _unsupported(path, node.value[0][1], problems)
    if keys == [AUTOCAST]:
        return _policies(path, node.value[0][1], problems)
    line = _line(path, node, problems)
    return [] if line is None else [line]


def _pairs(path: Path, node: yaml.Node, says: str, problems: list[str]) -> list[tuple[str, str, str]]:
    """What a mapping of words to words holds: where each pair stands, and its two words."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else [()]
    if not all(pair and _are_words(pair) for pair in pairs):
        problems.append(f"{path}:{node.start_mark.line + 1}: {says}.")
        return []
    return [(f"{path}:{one.start_mark.line + 1}", one.value, other.value) for one, other in node.value]


def _reroutes(path: Path, node: yaml.Node, problems: list[str]) -> list[Line]:
    lines = []
    for where, source, target in _pairs(path, node, f"reroute has to be `{FROM_TO}`", problems):
        space, _, name = target.partition("::")
        if not name or space == "aten":
            problems.append(f"{where}: {target} has to be an operator of your own, as in `reroute: {FROM_TO}`.")
        else:
            op = source.removeprefix("aten::")
            lines.append(Line(op, "reroute", TIERS[0], "", "", False, "", where, target=target))
    return lines


def _policies(path: Path, node: yaml.Node, problems: list[str]) -> list[Line]:
    lines = []
    for where, op, policy in _pairs(path, node, f"autocast has to be `{NAME_POLICY}`", problems):
        name = op if "::" in op else f"aten::{op}"
        if policy not in POLICIES:
            problems.append(f"{where}: there is no policy {policy}; {did_you_mean(policy, POLICIES)}")
        # Named by kind too: an operator may have a line of its own beside this.
        lines.append(Line(f"autocast of {name}", AUTOCAST, TIERS[0], policy, "", False, "", where, target=name))
    return lines


def _unsupported(path: Path, node: yaml.Node, problems: list[str]) -> list[Line]:
    where = f"{path}:{node.start_mark.line + 1}"
    dtypes = _list_of_dtypes(UNSUPPORTED, node, where, problems)
    return [Line(UNSUPPORTED, UNSUPPORTED, TIERS[0], "", "", False, "", where, dtypes=dtypes)]


def _list_of_dtypes(key: str, node: yaml.Node, where: str, problems: list[str]) -> tuple[str, ...]:
    if not (isinstance(node, yaml.SequenceNode) and node.value and _are_words(node.value)):
        problems.append(f"{where}: {key} has to be a list, such as `[float32, float16]`.")
        return ()
    dtypes = tuple(word.value for word in node.value)
    problems += [
        f"{where}: there is no dtype {dtype}; {did_you_mean(dtype, [*DTYPES])}"
        for dtype in dtypes
        if dtype not in DTYPES
    ]
    return dtypes


def _line(path: Path, node: yaml.Node, problems: list[str]) -> Line | None:
    where = f"{path}:{node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode) or not _are_words([key for key, _ in node.value]):
        problems.append(f"{where}: a line has to be {FORM}.")
        return None
    values: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    mappings: dict[str, tuple[tuple[str, str], ...]] = {}
    found = len(problems)
    for key, value in node.value:
        if key.value not in KEYS:
            problems.append(f"{where}: there is no key {key.value}; {did_you_mean(key.value, KEYS)}")
        elif key.value in (values.keys() | lists.keys() | mappings.keys()):
            problems.append(f"{where}: {key.value} is given twice.")
        elif key.value in LISTS:
            lists[key.value] = _list_of_dtypes(key.value, value, where, problems)
        elif key.value in MAPPINGS:
            if isinstance(value, yaml.MappingNode) and value.value and all(map(_are_words, value.value)):
                mappings[key.value] = tuple((name.value, formula.value) for name, formula in value.value)
            else:
                problems.append(f"{where}: {key.value} has to be {FORMULAS}.")
        elif not isinstance(value, yaml.ScalarNode):
            problems.append(f"{where}: {key.value} has to be one word.")
        else:
            values[key.value] = value.value
    for key in ("op", "kind"):
        if not values.get(key) and len(problems) == found:
            problems.append(f"{where}: the line needs `{key}`.")
    flags = ((key, ("true", "false")) for key in ("with_fallback", "contiguous", "undefined"))
    for key, words in (("kind", KINDS), ("tier", TIERS), ("needs", NEEDS), *flags):
        if key in values and values[key] not in words:
            problems.append(f"{where}: there is no {key} {values[key]}; {did_you_mean(values[key], words)}")
    for key in FUNCTIONS:
        if (name := values.get(key)) and (name in OF_CPP or not is_word(name)):
            problems.append(f"{where}: {key} has to be a C++ function's name, which {name} can't be; choose another.")
    for key in FAMILIES:
        if (name := values.get(key)) and not is_word(re.sub(r"_\{\w+\}$", "", name)):
            problems.append(f"{where}: {key} has to be the name of a family of kernels, which {name} can't be.")
    torch = values.get("torch", "")
    if torch and not re.fullmatch(r"(<|>=)\d+\.\d+", torch):
        problems.append(f"{where}: torch has to be a release like '<2.14' or '>=2.14', not {torch}.")
    kind, function, into = values.get("kind"), values.get("function", ""), values.get("into", "")
    if len(problems) == found and into and (function or kind != "native"):
        problems.append(
            f"{where}: `into: {into}` is for native operators, in the place of `function`; remove one of them."
        )
    families = [key for key in FAMILIES if values.get(key)]
    if len(problems) == found and families and (function or into or kind != "native" or len(families) > 1):
        problems.append(
            f"{where}: `{families[0]}` is for native operators, without `function`, `into` or another such key."
        )
    if len(problems) == found and values.get("result", "bool") != "bool":
        problems.append(
            f"{where}: result can only be bool, not {values['result']}: else it has the dtype of the operands."
        )
    if len(problems) == found and kind in NEED_FUNCTION and not (function or into or families):
        problems.append(f"{where}: {values['op']} is {kind}, so the line needs `function: NAME`.")
    if len(problems) == found and kind == "fallback" and function:
        problems.append(f"{where}: {kind} operators have no function of their own; remove `function: {function}`.")
    schema = values.get("op", "") if "(" in values.get("op", "") else ""
    if len(problems) == found and values.get("needs") and (schema or kind in OF_CPU or not (function or into)):
        problems.append(f"{where}: `needs` is for operators of aten with a `function` or `into`; remove it.")
    limits = "dtypes" if "dtypes" in lists else "contiguous" if values.get("contiguous") == "true" else ""
    if len(problems) == found and limits and (kind != "native" or schema):
        problems.append(
            f"{where}: `{limits}` is for native operators of aten, whose other calls are emulated; remove it, and let "
            "the function check what it is given."
        )
    undefined = values.get("undefined") == "true"
    if len(problems) == found and undefined and (kind != "native" or not function or limits):
        problems.append(
            f"{where}: `undefined` is for native operators with a `function`, without `dtypes` and `contiguous`; remove it."
        )
    if len(problems) == found and schema and kind != "native":
        problems.append(f"{where}: an operator with a schema is one of your own, so it has to be native, not {kind}.")
    for key, known in (("backward", "gradients"), ("meta", "shapes")):
        if len(problems) == found and key in (mappings.keys() | values.keys()) and not schema:
            problems.append(
                f"{where}: `{key}` is for operators of your own, `op: 'NAMESPACE::NAME(Tensor self) -> Tensor'`; "
                f"PyTorch knows the {known} of its own."
            )
    if len(problems) > found:
        return None
    # Without a tier the line holds in every operator set: what a vendor has written is always wanted.
    tier, with_fallback = values.get("tier", TIERS[0]), values.get("with_fallback") == "true"
    op = values["op"].partition("(")[0].removeprefix("aten::")
    if families:
        into = op.partition(".")[0].removesuffix("_")  # all forms share a function of this name
    return Line(
        *(op, values["kind"], tier, function, into, with_fallback, torch, where),
        dtypes=lists.get("dtypes", ()),
        contiguous=values.get("contiguous") == "true",
        undefined=undefined,
        schema=schema,
        backward=mappings.get("backward", ()),
        meta=values.get("meta", ""),
        kernel=values.get("kernel", ""),
        reduction=values.get("reduction", ""),
        result=values.get("result", ""),
        needs=values.get("needs", ""),
    )


def _are_words(nodes: Iterable[yaml.Node]) -> bool:
    return all(isinstance(node, yaml.ScalarNode) and node.value for node in nodes)


def merge(template: list[Line], vendor: list[Line]) -> list[Line]:
    lines = {line.op: line for line in template} | {line.op: line for line in vendor}
    return [lines[op] for op in sorted(lines)]
