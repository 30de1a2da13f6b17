"""Directives that show what a render of the template contains, so that the guide can't say what isn't so."""

import tempfile
import textwrap
from pathlib import Path
from typing import Any

import variants
import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)
ANSWERS = variants.ROOT / "examples" / "opencl.yml"
PROJECT = variants.ROOT / "build" / "docs" / "rendered"
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}


def excerpt(text: str, first: str | None, last: str | None) -> str:
    """The lines from the one that contains `first` to the next one that contains `last`, both included.

    A `last` that begins with ^ is how that line begins.
    """
    lines = text.splitlines()
    begin = 0 if first is None else next((n for n, line in enumerate(lines) if first in line), None)
    if begin is None:
        raise ValueError(f"no line contains {first!r}")
    if last is None:
        return "\n".join(lines[begin:])
    ends = (lambda line: line.startswith(last[1:])) if last.startswith("^") else (lambda line: last in line)
    end = next((n for n, line in enumerate(lines[begin:], begin) if ends(line)), None)
    if end is None:
        raise ValueError(f"no line behind {first!r} contains {last!r}")
    return "\n".join(lines[begin : end + 1])


class Rendered(SphinxDirective):
    """Lines of a rendered file: its path, and the texts that the first and the last line contain.

    What stands in a page of the rendered project becomes a part of this page; all else is shown as code.
    """

    required_arguments = 1
    option_spec = {"from": directives.unchanged, "to": directives.unchanged}  # noqa: RUF012 (docutils' own form)

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = PROJECT / name
        try:
            shown = excerpt(path.read_text(encoding="utf-8"), self.options.get("from"), self.options.get("to"))
        except (OSError, ValueError) as problem:
            LOGGER.warning("%s: %s", name, problem, location=self.get_location())
            return []
        if path.suffix == ".md":
            return self.parse_text_to_nodes(shown)
        shown = textwrap.dedent(shown)
        block = nodes.literal_block(shown, shown, language=LANGUAGES.get(path.suffix, "text"))
        caption = nodes.caption("", "", nodes.literal(text=name))
        return [nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])]


class Capabilities(SphinxDirective):
    """The table of docs/capabilities.yml, if every file and test in it is there."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir) / "capabilities.yml"
        self.env.note_dependency(str(source))
        rows: dict[str, list[dict[str, Any]]] = yaml.safe_load(source.read_text(encoding="utf-8"))
        lines: list[str] = []
        for title, capabilities in rows.items():
            lines += [f"**{title}**", "", "| capability | where | test |", "|---|---|---|"]
            for row in capabilities:
                for name in [*row["where"], *(test.partition("::")[0] for test in row["test"])]:
                    if not any(PROJECT.glob(name)) and not any(variants.ROOT.glob(name + "*")):  # with .jinja behind it
                        LOGGER.warning("capabilities.yml: there is no %s", name, location=self.get_location())
                where, test = ("<br>".join(f"`{name}`" for name in row[key]) for key in ("where", "test"))
                lines.append(f"| {row['what']} | {where} | {test} |")
            lines.append("")
        return self.parse_text_to_nodes("\n".join(lines))


class Minimal(SphinxDirective):
    """The table of the minimal operators, from the data that the rendered project tests."""

    def run(self) -> list[nodes.Node]:
        listed = yaml.safe_load((PROJECT / "tests" / "aten" / "minimal_operators.yml").read_text(encoding="utf-8"))
        rows = [f"| `{row['op']}` | {row['for']} | {row['used_by']} fails |" for row in listed]
        head = ["| operator | what it is for | without it |", "|---|---|---|"]
        return self.parse_text_to_nodes("\n".join([*head, *rows]))


def render(app: Sphinx) -> None:
    answers = yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as template:
        try:
            variants.render_kept(variants.snapshot(Path(template)), PROJECT, answers)
        except SystemExit as problem:
            raise ExtensionError(str(problem)) from None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("rendered", Rendered)
    app.add_directive("minimal", Minimal)
    app.add_directive("capabilities", Capabilities)
    app.connect("builder-inited", render)
    return {"parallel_read_safe": False}
