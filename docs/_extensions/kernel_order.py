"""A directive that shows by which kernels models come alive."""

from typing import Any

import yaml
from docutils import nodes
from rendered import PROJECT
from sphinx.util.docutils import SphinxDirective


class KernelOrder(SphinxDirective):
    """A table of programs, and the kernels that each needs beside those before it."""

    def run(self) -> list[nodes.Node]:
        order = PROJECT / "torch_nova" / "_tools" / "kernel_order.yml"
        programs: dict[str, dict[str, Any]] = yaml.safe_load(order.read_text(encoding="utf-8"))
        rows = ["| program | kernels that are new | of all |", "|---|---|---|"]
        count = 0
        for program in programs.values():
            count += len(program["kernels"])
            rows.append(f"| {program['what']} | {', '.join(f'`{name}`' for name in program['kernels'])} | {count} |")
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app):
    app.add_directive("kernel-order", KernelOrder)
    return {"parallel_read_safe": False}
