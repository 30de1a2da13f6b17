"""What the guide says of a rendered project is what stands there."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def rows(text, pattern):
    return re.findall(rf"^\| `\w*?({pattern}\w+)` \| (.*) \|$", text, re.MULTILINE)


def test_every_status_has_the_row_that_the_project_has(render):
    project = render(device_name="nova")
    header = (project / "runtime/include/nova_runtime.h").read_text(encoding="utf-8")
    statuses = re.findall(r"^  NOVA_(ERROR_\w+) = \d+", header, re.MULTILINE)
    told = rows((DOCS / "device.md").read_text(encoding="utf-8"), "ERROR_")
    assert [name for name, _ in told] == statuses
    assert told == rows((project / "README.md").read_text(encoding="utf-8"), "ERROR_")


def test_the_files_that_the_guide_names_are_there(render):
    project = render(device_name="nova")
    named = set()
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        named |= set(re.findall(r"`((?:runtime|csrc|tests|codegen|examples)/[\w./]+)`", text))
    assert len(named) > 15
    suffixes = ("", ".h", ".cpp", ".py")
    missing = [name for name in sorted(named) if not any(Path(f"{project / name}{end}").exists() for end in suffixes)]
    assert missing == []
