"""A directive that lists the optional functions of the runtime's header, as the header tells of them."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from rendered import PROJECT
from sphinx.util.docutils import SphinxDirective


def reader(project: Path) -> ModuleType:
    """What `python -m torch_nova doctor` reads the header by."""
    name = "runtime_header"
    spec = importlib.util.spec_from_file_location(name, project / "torch_nova" / "_tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def table(functions: list[Any]) -> list[str]:
    """A row for each section, and for each function without one."""
    rows = ["| section | functions | without them |", "|---|---|---|"]
    groups: dict[str, list[Any]] = {}  # a section may stand at several places of the header
    for each in functions:
        if not each.required:
            groups.setdefault(each.section or each.name, []).append(each)
    for members in groups.values():
        names = ", ".join(f"`{each.name}`" + ("" if each.called else " (`csrc/` doesn't call it)") for each in members)
        without = re.sub(r"; (csrc/|it) doesn't call (it|these)( yet)?$", "", members[0].without)
        rows.append(f"| {members[0].section} | {names} | {without.replace('csrc/', '`csrc/`')} |")
    return rows


class OptionalFunctions(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        header = PROJECT / "runtime" / "include" / "nova_runtime.h"
        return self.parse_text_to_nodes("\n".join(table(reader(PROJECT).functions(header))))


def setup(app):
    app.add_directive("optional-functions", OptionalFunctions)
    return {"parallel_read_safe": False}
