"""Carries edits made in a rendered tree back into the template.

    tools/carry_back.py TREE              every rendered file that differs from what the template renders now
    tools/carry_back.py TREE PATH ...     only these; files that the template does not have yet are added

Names become Jinja again (nova -> {{ device_name }}, …), so TREE must have been rendered with a package name that is
not made of the device's: examples/development.yml. Where a template file has conditionals, the edit is merged into it
as git does; a conflict is left in the file, with markers, and makes the exit status 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from copier import Settings, run_copy

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template"


def names(answers: dict) -> list[tuple[str, str]]:
    """What to replace by what, the longest first: a package's name may contain the device's."""
    device, package = answers["device_name"], answers["package_name"]
    if package == f"torch_{device}":
        sys.exit(f"{package} could mean the package or the C++ namespace: render with examples/development.yml")
    pairs = {
        package: "{{ package_name }}",
        package.replace("_", "-"): "{{ distribution }}",
        device.upper(): "{{ DEVICE }}",
        device: "{{ device_name }}",
    }
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))


def templated(text: str, pairs: list[tuple[str, str]]) -> str:
    for name, expression in pairs:
        text = text.replace(name, expression)
    # A brace before the two of Jinja would be taken for one of them.
    return re.sub(r"\{\{\{ (\w+) \}\}", r'{{ "{" ~ \1 }}', text)


def rendered_path(path: Path, answers: dict) -> Path | None:
    """Where a template file lands; None when its condition is false. Conditions in names are `{% if a and not b %}`."""

    def condition(match: re.Match[str]) -> str:
        return match[2] if eval(match[1], {"__builtins__": {}}, dict(answers)) else ""  # our own file names

    parts = []
    for part in path.parts:
        part = re.sub(r"\{% if (.*?) %\}(.*?)\{% endif %\}", condition, part)
        part = part.replace("{{ package_name }}", answers["package_name"])
        part = part.replace("{{ device_name }}", answers["device_name"])
        part = part.replace("{{ _copier_conf.answers_file }}", ".copier-answers.yml").replace(
            "{{_copier_conf.answers_file}}", ".copier-answers.yml"
        )
        if not part.removesuffix(".jinja"):
            return None
        parts.append(part)
    return Path(*parts[:-1], parts[-1].removesuffix(".jinja"))


def merge(ours: str, base: str, theirs: str) -> tuple[str, bool]:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("template", "before", "edited")]
        for file, text in zip(files, (ours, base, theirs), strict=True):
            file.write_text(text)
        done = subprocess.run(
            ["git", "merge-file", "-p", *map(str, files)], capture_output=True, text=True, check=False
        )
    return done.stdout, done.returncode == 0


def new_file(path: Path, known: dict[Path, Path], pairs: list[tuple[str, str]]) -> Path:
    """The template path of a file that has none yet: the folder of its neighbours, which may be conditional."""
    for neighbour, source in known.items():
        if neighbour.parent == path.parent:
            return source.parent / templated(path.name, pairs)
    return TEMPLATE / templated(str(path), pairs)


def main(tree: Path, wanted: list[str]) -> int:
    answers = yaml.safe_load((tree / ".copier-answers.yml").read_text())
    pairs = names(answers)
    known = {
        target: source
        for source in sorted(TEMPLATE.rglob("*"))
        if source.is_file() and (target := rendered_path(source.relative_to(TEMPLATE), answers)) is not None
    }
    conflicts = 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "fresh"
        data = {key: value for key, value in answers.items() if not key.startswith("_")}
        run_copy(str(ROOT), fresh, data, vcs_ref="HEAD", defaults=True, quiet=True, settings=Settings())
        for path in [Path(name) for name in wanted] or [path for path in known if (tree / path).exists()]:
            edited = (tree / path).read_text()
            source = known.get(path)
            if source is None:
                body, clean = templated(edited, pairs), True
                source = new_file(path, known, pairs)
            elif edited == (fresh / path).read_text() or path.name == ".copier-answers.yml":
                continue
            else:
                before = templated((fresh / path).read_text(), pairs)
                body, clean = merge(source.read_text(), before, templated(edited, pairs))
            target = source
            if "{{ " in body and source.suffix != ".jinja":
                target = source.with_name(source.name + ".jinja")
                source.unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body)
            target.chmod((tree / path).stat().st_mode & 0o777)
            conflicts += not clean
            print(f"{'' if clean else 'CONFLICT '}{path} -> {target.relative_to(ROOT)}")
    return 1 if conflicts else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
