"""Writes what nova_kernels.h says of each kernel, from nova_kernels.yaml.

    python tools/kernel_header.py           writes it into the template
    python tools/kernel_header.py --check   says whether it is up to date

The header describes structs and layouts by hand. A comment that begins with "Kernels of the group" is written here.
"""

import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml

INCLUDE = Path(__file__).resolve().parent.parent / "template" / "runtime" / "include"
# What a render puts in their place is short here, so that most devices' lines are no longer than 120 characters.
NAMES = {"{{ device_name }}": "nova", "{{ DEVICE }}": "NOVA"}
WIDTH = 112
GROUP = re.compile(r"/\* Kernels of the group (\w+)\b.*?\*/", re.DOTALL)

Entry = dict[str, Any]


def main() -> int:
    (header,) = INCLUDE.glob("*_kernels.h.jinja")
    (contract,) = INCLUDE.glob("*device_name }}_kernels.yaml.jinja")
    text = header.read_text(encoding="utf-8")
    made = with_kernels(text, plain(contract.read_text(encoding="utf-8")))
    if "--check" in sys.argv:
        if made != text:
            print(f"{header.name} isn't what {contract.name} says: run python tools/kernel_header.py.")
        return int(made != text)
    header.write_text(made, encoding="utf-8")
    return 0


def plain(template: str) -> str:
    for name, short in NAMES.items():
        template = template.replace(name, short)
    return template


def with_kernels(header: str, contract: str) -> str:
    listed = yaml.safe_load(contract)
    groups = {"elementwise": listed["elementwise"], "reductions": listed["reductions"], **listed["others"]}
    groups["casts"] = listed["pairs"]
    written: list[str] = []

    def comment(match: re.Match[str]) -> str:
        written.append(match[1])
        return as_template(comment_of(match[1], groups[match[1]]))

    made = GROUP.sub(comment, header)
    if missing := groups.keys() - set(written):
        raise SystemExit(f"the header has no comment for {', '.join(sorted(missing))}.")
    return made


def as_template(text: str) -> str:
    for name, short in NAMES.items():
        text = re.sub(rf"\b{short}(?=_)", name, text)
    return text


def comment_of(group: str, entries: list[Entry]) -> str:
    lines = [f"/* Kernels of the group {group}, as nova_kernels.yaml has them.", " *"]
    for entry in entries:
        if "arguments" in entry:
            lines += wrapped(head(entry), "   ") + [line for what in computed(entry) for line in wrapped(what, "     ")]
        else:
            lines += wrapped(f"{head(entry)}: {entry['formula']}", "   ")
    return "\n".join([*lines, " */"])


def head(entry: Entry) -> str:
    name = f"{entry['kernel']}_" + {"bytes": "N", "single": "float32"}.get(entry["dtypes"], "D")
    group = "" if entry["dtypes"] in ("bytes", "single") else f"{entry['dtypes']}, "
    exact = "exact" if entry["tolerance"] == 0 else f"tolerance {entry['tolerance']}"
    to_bool = "to bool, " if entry.get("result") == "bool" else ""
    named = ", ".join(entry.get("parameters", ()))
    said = f"{name} ({group}{to_bool}{exact}{'; ' + named if named else ''})"
    return f"{said}: {', '.join(entry['arguments'])}" if "arguments" in entry else said


def computed(entry: Entry) -> list[str]:
    what = entry.get("formula") or entry["computes"]
    return what if isinstance(what, list) else [str(what)]


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" *" + indent,
        subsequent_indent=" *" + indent + "    ",
        break_on_hyphens=False,
        break_long_words=False,
    )


if __name__ == "__main__":
    sys.exit(main())
