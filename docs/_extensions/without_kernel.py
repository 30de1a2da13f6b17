"""A directive that lists the operators without a kernel, and why they have none."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from rendered import PROJECT
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)
REASONS = Path(__file__).parents[1] / "without_kernel.yml"


def reasons() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
    return listed


def without_kernel(project: Path) -> set[str]:
    """Names without overloads, of which no form has a kernel."""
    lines = yaml.safe_load((project / "csrc/aten/ops.yaml").read_text(encoding="utf-8"))
    emulated = yaml.safe_load((project / "csrc/emulation/operators.yaml").read_text(encoding="utf-8"))
    names = {name for names in emulated.values() for name in names}
    of_others: set[str] = set()
    for line in lines:
        if "op" in line:
            (names if line["kind"] in ("emulated", "fallback") else of_others).add(line["op"])
    return {_base(name) for name in names} - {_base(name) for name in of_others}


def problems(rows: list[dict[str, Any]], names: set[str]) -> Iterator[str]:
    for name in sorted(names):
        count = sum(_is_named(name, row) for row in rows)
        if count != 1:
            yield f"without_kernel.yml has {name} in {count} rows"
    for row in rows:
        for pattern in row["operators"]:
            if not any(fnmatchcase(name, _base(pattern)) for name in names):
                yield f"without_kernel.yml lists {pattern} for nothing"


def _base(name: str) -> str:
    name = name.partition(".")[0]
    return name if name.endswith("__") else name.removesuffix("_")


def _is_named(name: str, row: dict[str, Any]) -> bool:
    return any(fnmatchcase(name, _base(pattern)) for pattern in row["operators"])


class WithoutKernel(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(REASONS))
        for problem in problems(reasons(), without_kernel(PROJECT)):
            LOGGER.warning(problem, location=self.get_location())
        rows = ["| operators | why |", "|---|---|", *(f"| {row['what']} | {row['why']} |" for row in reasons())]
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app):
    app.add_directive("without-kernel", WithoutKernel)
    return {"parallel_read_safe": False}
