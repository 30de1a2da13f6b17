"""Directives that list what the installed torch's headers say."""

import importlib.util
import re
from collections import defaultdict
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


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
        for name in re.findall(r"^\s*DECLARE_DISPATCH\(.*?,\s*(\w+)\s*\)", text, re.MULTILINE | re.DOTALL):
            declared[path.relative_to(include).as_posix()].append(name)
    return declared


class Stubs(SphinxDirective):
    """A table of all dispatch stubs."""

    def run(self) -> list[nodes.Node]:
        rows = [
            f"| `{header}` | {', '.join(f'`{name}`' for name in sorted(names))} |"
            for header, names in stubs(include_folder()).items()
        ]
        return self.parse_text_to_nodes("\n".join(["| header | stubs |", "|---|---|", *rows]))


def setup(app):
    app.add_directive("stubs", Stubs)
    return {"parallel_read_safe": True}
