"""A directive that lists ATen's core operators, and what of the rendered project carries each one out."""

from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import torchgen
import yaml
from docutils import nodes
from rendered import PROJECT
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from torchgen.gen import parse_native_yaml

LOGGER = logging.getLogger(__name__)
REASONS = Path(__file__).parents[1] / "core_operators.yml"


def core_operators() -> list[str]:
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    return sorted(str(function.func.name) for function in parsed.native_functions if "core" in function.tags)


def read(name: str) -> Any:
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


class CoreOperators(SphinxDirective):
    """A table of the core operators: the kernels that a native one launches, or why another one has none."""

    def run(self) -> list[nodes.Node]:
        lines = {line["op"]: line for line in read("csrc/aten/ops.yaml") if "op" in line}
        emulated = {name for names in read("csrc/emulation/operators.yaml").values() for name in names}
        (contract,) = (PROJECT / "runtime" / "include").glob("*_kernels.yaml")
        kernels = defaultdict(list)
        listed = read(contract.relative_to(PROJECT).as_posix())
        groups = [listed["elementwise"], listed["reductions"], *listed["others"].values(), listed["pairs"]]
        for entry in chain(*groups):
            for operator in entry.get("operators", [entry["kernel"]]):
                kernels[operator].append(entry["kernel"])
        said: dict[str, dict[str, str]] = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
        reasons, calls = said["emulated"], said["calls"]
        self.env.note_dependency(str(REASONS))

        counts: Counter[str] = Counter()
        rows = []
        for name in core_operators():
            line = lines.get(name, {})
            kind = line.get("kind") or ("emulated" if name in emulated else "composite")
            counts[kind] += 1
            launched = [line[key] for key in ("kernel", "reduction") if key in line] or kernels[name.partition(".")[0]]
            what = ", ".join(f"`{kernel}`" for kernel in launched)
            if kind == "emulated":
                what = reasons.pop(name, "")
                if not what:
                    LOGGER.warning("core_operators.yml lacks %s", name, location=self.get_location())
            elif kind == "native" and not what:
                what = "those of the operators that it calls, or none"
            if name in calls:
                what = "; ".join(filter(None, [what, f"emulated: {calls.pop(name)}"]))
            rows.append(f"| `{name}` | {kind} | {what} |")
        for name in reasons | calls:
            LOGGER.warning("core_operators.yml lists %s for nothing", name, location=self.get_location())
        text = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        table = ["| operator | kind | kernels, or why there are none |", "|---|---|---|", *rows]
        return self.parse_text_to_nodes("\n".join([f"Of {len(rows)} operators: {text}.", "", *table]))


def setup(app):
    app.add_directive("core-operators", CoreOperators)
    return {"parallel_read_safe": False}
