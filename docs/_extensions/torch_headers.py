"""Directives that list what the installed torch's headers say."""

import importlib.util
import re
from collections import defaultdict
from pathlib import Path

import torchgen
import yaml
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from torchgen.gen import parse_native_yaml

LOGGER = logging.getLogger(__name__)
LIST = Path(__file__).parents[1] / "stubs.yml"


def include_folder() -> Path:
    """Where the headers are, without importing torch."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise RuntimeError("The guide lists stubs of the installed torch: install it first.")
    return Path(found.origin).parent / "include"


def stubs(include: Path) -> dict[str, list[str]]:
    """The dispatch stubs by the header that declares them."""
    declared = defaultdict(list)
    for path in sorted((include / "ATen" / "native").rglob("*.h")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in re.findall(r"^\s*DECLARE_DISPATCH\(.*?,\s*(\w+)\s*\)\s*;?\s*$", text, re.MULTILINE | re.DOTALL):
            declared[path.relative_to(include).as_posix()].append(name)
    return declared


# What stubs are called beside their operator, and operators beside theirs.
SUFFIXES = ("_stub", "_kernel", "_fn")
PREFIXES = ("", "_", "linalg_", "special_", "native_")
# For these a backend from outside has nothing to register.
OF_OTHERS = re.compile(r"quantized|(cudnn|miopen|mkldnn)_")


def base_name(operator: str) -> str:
    return operator.partition(".")[0]


def operators_by_stub(names: list[str], operators: set[str], listed: dict[str, list[str]]) -> dict[str, list[str]]:
    """The operators that each stub serves: by its name, else by the list; without any where neither says it."""
    bases = {base_name(operator) for operator in operators}
    served = {}
    for name in names:
        stem = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
        served[name] = listed.get(name) or [prefix + stem for prefix in PREFIXES if prefix + stem in bases]
    return served


def torch_operators() -> set[str]:
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    return {str(function.func.name) for function in parsed.native_functions}


class Stubs(SphinxDirective):
    """A table of all dispatch stubs, with the operators that they serve."""

    def run(self) -> list[nodes.Node]:
        listed = yaml.safe_load(LIST.read_text(encoding="utf-8"))
        operators, declared = torch_operators(), stubs(include_folder())
        self.env.note_dependency(str(LIST))
        rows = []
        for header, names in declared.items():
            for name, served in operators_by_stub(sorted(names), operators, listed).items():
                if not served and not OF_OTHERS.search(header + name):
                    LOGGER.warning("%s: docs/stubs.yml lacks %s", header, name, location=self.get_location())
                cells = [f"`{header.removeprefix('ATen/native/')}`", f"`{name}`", ", ".join(f"`{op}`" for op in served)]
                rows.append(f"| {' | '.join(cells)} |")
        return self.parse_text_to_nodes("\n".join(["| header | stub | operators |", "|---|---|---|", *rows]))


def setup(app):
    app.add_directive("stubs", Stubs)
    return {"parallel_read_safe": True}
