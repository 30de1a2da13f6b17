"""The lines of ops.yaml and ops.vendor.yaml, each with the place it stands at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import yaml

KINDS = ("native", "aten", "emulated", "fallback")
TIERS = ("minimal", "core", "full")
KEYS = ("op", "kind", "tier", "function", "into", "with_fallback", "torch")
FORM = "`- {op: NAME, kind: KIND, tier: TIER}`"
NEED_FUNCTION = ("native", "aten")


@dataclass(frozen=True)
class Line:
    op: str
    kind: str
    tier: str
    function: str
    into: str
    with_fallback: bool
    torch: str
    where: str

    def is_in(self, op_set: str, fallback: bool) -> bool:
        return TIERS.index(self.tier) <= TIERS.index(op_set) or (fallback and self.with_fallback)

    def fits(self, release: tuple[int, ...]) -> bool:
        """Whether the line is for this release of torch: operators come and go."""
        bound = tuple(int(number) for number in re.findall(r"\d+", self.torch))
        return not bound or (release < bound if self.torch.startswith("<") else release >= bound)


def did_you_mean(word: str, words: list[str] | tuple[str, ...]) -> str:
    close = get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else f"it can be {', '.join(words)}."


def read(path: Path, problems: list[str]) -> list[Line]:
    # The base loader leaves every value a string: `no` and `1e3` would be something else to the others.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.append(f"{path}:{mark.line + 1 if mark else 1}: this is not YAML: {error.problem}.")
        return []
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        problems.append(f"{path}:{root.start_mark.line + 1}: the file has to be a list, with a {FORM} per operator.")
        return []
    lines = [line for node in root.value if (line := _line(path, node, problems)) is not None]
    first: dict[str, Line] = {}
    for line in lines:
        if first.setdefault(line.op, line) is not line:
            problems.append(f"{line.where}: {line.op} is listed already at {first[line.op].where}; remove one of them.")
    return list(first.values())


def _line(path: Path, node: yaml.Node, problems: list[str]) -> Line | None:
    where = f"{path}:{node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode):
        problems.append(f"{where}: a line has to be {FORM}.")
        return None
    values: dict[str, str] = {}
    found = len(problems)
    for key, value in node.value:
        if key.value not in KEYS:
            problems.append(f"{where}: there is no key {key.value}; {did_you_mean(key.value, KEYS)}")
        elif not isinstance(value, yaml.ScalarNode):
            problems.append(f"{where}: {key.value} has to be one word.")
        elif key.value in values:
            problems.append(f"{where}: {key.value} is given twice.")
        else:
            values[key.value] = value.value
    for key in ("op", "kind"):
        if not values.get(key) and len(problems) == found:
            problems.append(f"{where}: the line needs `{key}`.")
    for key, words in (("kind", KINDS), ("tier", TIERS), ("with_fallback", ("true", "false"))):
        if key in values and values[key] not in words:
            problems.append(f"{where}: there is no {key} {values[key]}; {did_you_mean(values[key], words)}")
    torch = values.get("torch", "")
    if torch and not re.fullmatch(r"(<|>=)\d+\.\d+", torch):
        problems.append(f"{where}: torch has to be a release like '<2.14' or '>=2.14', not {torch}.")
    kind, function, into = values.get("kind"), values.get("function", ""), values.get("into", "")
    if len(problems) == found and into and (function or kind != "native"):
        problems.append(
            f"{where}: `into: {into}` is for native operators, in the place of `function`; remove one of them."
        )
    if len(problems) == found and kind in NEED_FUNCTION and not (function or into):
        problems.append(f"{where}: {values['op']} is {kind}, so the line needs `function: NAME`.")
    if len(problems) == found and kind == "fallback" and function:
        problems.append(f"{where}: {kind} operators have no function of their own; remove `function: {function}`.")
    if len(problems) > found:
        return None
    # Without a tier the line holds in every operator set: what a vendor has written is always wanted.
    tier, with_fallback = values.get("tier", TIERS[0]), values.get("with_fallback") == "true"
    op = values["op"].removeprefix("aten::")
    return Line(op, values["kind"], tier, function, into, with_fallback, torch, where)


def merge(template: list[Line], vendor: list[Line]) -> list[Line]:
    lines = {line.op: line for line in template} | {line.op: line for line in vendor}
    return [lines[op] for op in sorted(lines)]
