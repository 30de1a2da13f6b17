"""`copier update` brings projects that exist to the working tree: what their vendor did stays, the rest is new."""

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import copier
import pytest
import variants
import yaml
from conftest import DEVICE, TESTS
from test_build import run_suites

RENDERED = ["copier.yml", "hooks", "template", "examples"]
# What stands for released versions until there are some: states after large steps.
SNAPSHOTS = {"v0.0.1": "e232376", "v0.0.2": "7faad58", "v0.0.3": "c9c66a7", "v0.0.4": "d0cb807"}
OLDER, NEWEST = "v998.0.0", "v999.0.0"
ANSWERS = {path.stem: path for path in sorted((variants.ROOT / "examples").glob("*.yml"))}
TAGS = subprocess.check_output(["git", "tag", "--list", "v*"], cwd=variants.ROOT, text=True).split()
RELEASES = {tag: tag for tag in TAGS} or SNAPSHOTS


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=tests", "-c", "user.email=tests@example.com", "-c", "core.hooksPath=/dev/null"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Edit(NamedTuple):
    """A line that a vendor changes, in the releases that have it; DEVICE and the like stand for the names."""

    path: str
    old: str
    new: str


END = ""

EDITS = [
    Edit("README.md", "## Use\n", "## Drivers\n\nInstall ours first.\n\n## Use\n"),
    Edit("pyproject.toml", 'version = "0.1.0"\n', 'version = "3.4.5"\n'),
    Edit("pyproject.toml", 'UPPER_RUNTIME_DIR = "runtime"', 'UPPER_RUNTIME_DIR = "runtime/mine"'),
    Edit(".github/workflows/ci.yml", "runs-on: ubuntu-24.04", "runs-on: [self-hosted, device]"),
    Edit("runtime/emulator/device.cpp", '"there is no ', '"this machine lacks a '),
    Edit("examples/first_light.py", "import torch\n", "import torch  # and nothing else\n"),
]
# Files that are made once: an update leaves them as they are.
OWNED = [
    Edit("CHANGELOG.md", "# Changelog\n", "# What is new\n"),
    Edit(
        "csrc/aten/ops.vendor.yaml",
        END,  # in the older snapshots of an empty list, which a vendor takes away
        "- {op: exp, kind: native, into: vendor_exp}\n- {op: tanh, kind: native, into: vendor_tanh}\n",
    ),
    Edit("PACKAGE/DEVICE/vendor.py", '"""Yours', '"""Ours'),
]
ADDED = {path.relative_to(TESTS / "vendor"): path for path in (TESTS / "vendor").rglob("*") if path.is_file()}
DELETED = "runtime/tests/test_emulator.py"


def fill(text: str, answers: dict[str, Any]) -> str:
    device, package = answers["device_name"], answers.get("package_name", f"torch_{answers['device_name']}")
    return text.replace("UPPER", device.upper()).replace("PACKAGE", package).replace("DEVICE", device)


def edited(edit: Edit, text: str, answers: dict[str, Any]) -> str:
    if edit.old == END:
        return text.removesuffix("[]\n") + fill(edit.new, answers)
    return text.replace(fill(edit.old, answers), fill(edit.new, answers))


def work_on(project: Path, answers: dict[str, Any]) -> None:
    """A vendor's first weeks, committed."""
    for edit in EDITS + OWNED:
        path = project / fill(edit.path, answers)
        path.write_text(edited(edit, path.read_text(encoding="utf-8"), answers), encoding="utf-8")
    for target, source in ADDED.items():
        path = project / fill(str(target), answers)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fill(source.read_text(encoding="utf-8"), answers), encoding="utf-8")
    (project / DELETED).unlink()
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=Work")


def find(template: Path, rendered: str) -> Path:
    names = (rendered, rendered + ".jinja")
    (path,) = (path for path in template.rglob("*") if path.relative_to(template).as_posix() in names)
    return path


def in_all_projects(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines that don't depend on an answer: no Jinja, and none around it."""
    depth = 0
    for number, line in enumerate(lines):
        depth += len(re.findall(r"{%-? *(?:if|for)\b", line)) - len(re.findall(r"{%-? *end(?:if|for)\b", line))
        if depth == 0 and re.match(r" *[a-z#-]", line):
            yield number


def make_older(template: Path) -> None:
    """The working tree as an older release could have been: without a line of each file that the vendor edits, and
    without a kernel and an operator that the vendor needed earlier."""
    for edit in EDITS:
        path = find(template, edit.path)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        # Not beside the vendor's line, which would be a conflict whatever the layout is, and a line that all have.
        known = edit.old.splitlines()[0].removeprefix("UPPER")
        vendor = next(number for number, line in enumerate(lines) if known in line)
        far = [number for number in in_all_projects(lines) if abs(number - vendor) > 4]
        del lines[far[len(far) // 2]]
        path.write_text("".join(lines), encoding="utf-8")
    operators = find(template, "csrc/aten/ops.yaml")
    text = operators.read_text(encoding="utf-8")
    text, natives = re.subn(r"(op: exp(_|\.out)?, kind: )native, kernel: exp", r"\1emulated", text)
    operators.write_text(text, encoding="utf-8")
    emulated = find(template, "csrc/emulation/operators.yaml")
    text, removed = re.subn(r"^- lgamma\.out\n", "", emulated.read_text(encoding="utf-8"), flags=re.MULTILINE)
    emulated.write_text(text, encoding="utf-8")
    assert natives == 3 and removed == 1


@pytest.fixture(scope="session")
def history() -> Iterator[Path]:
    """A repository with the releases, the working tree as it could have been before, and as it is."""
    with tempfile.TemporaryDirectory(prefix="history-") as folder:
        root = Path(folder)
        git(root, "init", "--quiet")

        def release(tag: str) -> None:
            git(root, "add", "--all")
            git(root, "commit", "--quiet", "--allow-empty", f"--message={tag}")
            git(root, "tag", tag)

        def clear() -> None:
            for name in RENDERED:
                path = root / name
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

        for tag, revision in RELEASES.items():
            clear()
            packed = subprocess.check_output(["git", "archive", revision, *RENDERED], cwd=variants.ROOT)
            subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
            release(tag)
        for tag in (OLDER, NEWEST):
            clear()
            variants.snapshot(root)
            if tag == OLDER:
                make_older(root / "template")
            release(tag)
        yield root


@pytest.fixture
def project(history: Path, tmp_path: Path) -> Callable[..., Path]:
    """project(release, answers) gives what a vendor has made of a release, as a repository."""

    def project(release: str, answers: dict[str, Any]) -> Path:
        destination = tmp_path / f"project-{release}"
        settings = copier.Settings()
        copier.run_copy(
            str(history), destination, answers, vcs_ref=release, defaults=True, quiet=True, settings=settings
        )
        git(destination, "init", "--quiet")
        git(destination, "add", "--all")
        git(destination, "commit", "--quiet", "--message=Render the template")
        return destination

    return project


def update(project: Path, **options: Any) -> None:
    # Without `unsafe`, as a user who trusts nobody.
    copier.run_update(project, defaults=True, overwrite=True, quiet=True, settings=copier.Settings(), **options)


def files(folder: Path) -> dict[str, str]:
    names = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in names}


def check_merged(project: Path) -> None:
    assert git(project, "ls-files", "--unmerged") == ""
    changed = git(project, "diff", "HEAD")
    assert not re.search(r"^\+(<<<<<<<|=======$|>>>>>>>)", changed, re.MULTILINE), changed[-4000:]
    assert not list(project.rglob("*.rej"))


def read_answers(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = yaml.safe_load(ANSWERS[name].read_text(encoding="utf-8"))
    return answers


# Every release is updated, and every example; not every pair of them, since one takes some seconds.
PAIRS = [(OLDER, name) for name in ANSWERS]
PAIRS += [(tag, list(ANSWERS)[number % len(ANSWERS)]) for number, tag in enumerate(RELEASES)]
FIRST = [(OLDER, "default")]
SECOND = [(OLDER, "full"), PAIRS[-1]]


def when(pair: tuple[str, str]) -> Any:
    """A pair, which waits for `make matrix` or `make long` unless it is among the first."""
    later = pytest.mark.matrix if pair in SECOND else pytest.mark.long
    return pytest.param(*pair, marks=() if pair in FIRST else later)


@pytest.mark.parametrize(("release", "name"), [when(pair) for pair in PAIRS])
def test_edits_are_kept_and_the_rest_is_new(project, history, tmp_path, release, name):
    answers = read_answers(name)
    mine = project(release, answers)
    untouched = files(mine)
    work_on(mine, answers)
    update(mine)
    check_merged(mine)

    # A question that the release didn't ask yet is answered by its default.
    asked = yaml.safe_load(untouched[".copier-answers.yml"])
    same = {name: answer for name, answer in answers.items() if name in asked}
    fresh = tmp_path / "fresh"
    copier.run_copy(str(history), fresh, same, vcs_ref=NEWEST, defaults=True, quiet=True, settings=copier.Settings())
    wanted = files(fresh)
    for edit in EDITS:
        path = fill(edit.path, answers)
        if release == OLDER:
            assert wanted[path] != untouched[path], f"the update doesn't touch {path}"
            assert fill(edit.old, answers) in untouched[path], f"{path} has no {edit.old!r}"
        if fill(edit.old, answers) in untouched[path]:
            wanted[path] = edited(edit, wanted[path], answers)
    for edit in OWNED:
        path = fill(edit.path, answers)
        wanted[path] = edited(edit, untouched[path], answers)
    for target, source in ADDED.items():
        wanted[fill(str(target), answers)] = fill(source.read_text(encoding="utf-8"), answers)
    del wanted[DELETED]

    found = files(mine)
    assert found.keys() == wanted.keys()
    for path, text in wanted.items():
        assert found[path] == text, path


@pytest.mark.long
def test_an_updated_project_is_green(project, counts):
    """With the vendor's kernels beside those that the template has got since; and built in a folder that is kept."""
    answers = {"device_name": DEVICE}
    mine = project(OLDER, answers)
    work_on(mine, answers)
    update(mine)
    shutil.rmtree(mine / ".git")
    built = variants.keep(mine, variants.KEPT / f"{DEVICE}-updated")
    run_suites(built, counts("updated"), "PYTEST_ARGS=-m quick", "MEMORY=unified")


def owners(project: Path) -> dict[str, str]:
    """The table in CONTRIBUTING.md: a path, or a folder that ends with /, and whose it is."""
    text = (project / "CONTRIBUTING.md").read_text(encoding="utf-8")
    whose, found = "", {}
    for first, cell in re.findall(r"^\| (.*?) ?\| (.*?) \| .* \|$", text.split("## Updating")[1], re.MULTILINE):
        whose = first.strip("* ") or whose
        for path in re.findall(r"`([^`]+)`", cell):
            if "/" in path or (project / path).exists():
                assert path not in found, f"{path} stands in two rows"
                found[path] = whose
    return found


@pytest.mark.parametrize("op_set", ["full", "minimal"])
def test_every_file_has_an_owner(render, op_set):
    features = ("generator", "amp", "profiler", "distributed", "compile", "fallback", "autoload")
    off = features if op_set == "minimal" else ()
    project = render(op_set=op_set, **dict.fromkeys(off, False))
    table = owners(project)

    def owner(path: str) -> str:
        return table[max((row for row in table if path == row or (row[-1] == "/" and path.startswith(row))), key=len)]

    settings = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    made_once = [pattern.removeprefix("/").split("/") for pattern in settings["_skip_if_exists"]]
    for path in files(project):
        parts = path.split("/")
        skipped = any(
            len(pattern) == len(parts) and all(map(fnmatch.fnmatchcase, parts, pattern)) for pattern in made_once
        )
        assert (owner(path) == "yours") == skipped, path
    for path in table:
        assert (project / path).exists(), f"{path} isn't rendered"


@pytest.mark.matrix
def test_features_come_and_go(project, history, render):
    answers = {"device_name": "nova", "generator": False, "op_set": "minimal"}
    mine = project(NEWEST, answers)
    before = files(mine)
    # An edit in what a feature brought leaves with it: the rendered CONTRIBUTING says so.
    lost, kept = mine / "torch_nova/nova/random_on_cpu.py", mine / "csrc/aten/vendor/mine.cpp"
    lost.write_text(lost.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    kept.write_text("// mine\n", encoding="utf-8")
    git(mine, "add", "--all")
    git(mine, "commit", "--quiet", "--message=Work")

    update(mine, vcs_ref=copier.VcsRef.CURRENT, data={"generator": True, "op_set": "full"})
    check_merged(mine)
    found = files(mine)
    expected = files(render(device_name="nova", generator=True, op_set="full"))
    assert found.pop("csrc/aten/vendor/mine.cpp") == "// mine\n"
    assert "csrc/random/generator.cpp" in found and not lost.exists()
    of_copier = ".copier-answers.yml"
    assert {**found, of_copier: ""} == {**expected, of_copier: ""}
    git(mine, "add", "--all")
    git(mine, "commit", "--quiet", "--message=On")

    update(mine, vcs_ref=copier.VcsRef.CURRENT, data={"generator": False, "op_set": "minimal"})
    found = files(mine)
    del found["csrc/aten/vendor/mine.cpp"]
    assert found == before


def test_check_update(project):
    answers = read_answers("default")

    def check() -> dict[str, Any]:
        command = [sys.executable, "-m", "copier", "check-update", "--output-format", "json", str(mine)]
        answer: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
        return answer

    mine = project(OLDER, answers)
    told = check()
    assert told["update_available"] is True and told["latest_version"] == NEWEST[1:]
    # The way of the rendered workflow: the status alone.
    quiet = subprocess.run([sys.executable, "-m", "copier", "check-update", "--quiet", str(mine)])
    assert quiet.returncode == 2

    mine = project(NEWEST, answers)
    assert check()["update_available"] is False
