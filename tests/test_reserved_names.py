"""The reserved names, against the torch that is installed."""

import contextlib
import re
import subprocess
import sys
from importlib import metadata

import pytest
import reserved_names
import variants

SCRIPT = variants.ROOT / "hooks" / "reserved_names.py"
LISTED = reserved_names.read()


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def check():
    return subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, cwd=variants.ROOT)


def test_the_list_has_every_name_of_this_torch():
    done = check()
    assert done.returncode == 0, f"run hooks/reserved_names.py:\n{done.stdout}{done.stderr}"


def test_the_check_finds_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(reserved_names, "FILE", tmp_path / "names.jinja")
    monkeypatch.setattr(sys, "argv", ["reserved_names.py", "--check"])
    reserved_names.write({**LISTED, "device_names": LISTED["device_names"] - {"weight", "xla"}})
    assert reserved_names.main() == 1
    monkeypatch.setattr(sys, "argv", ["reserved_names.py"])
    assert reserved_names.main() == 0
    assert reserved_names.read() == LISTED


@pytest.mark.parametrize("name", ["nova", "npu", "tpu", "acme", "lumen", "my_chip"])
def test_ordinary_names_stay_free(name):
    assert name not in LISTED["device_names"]


def test_what_the_tools_bring_along_is_reserved(render):
    """A package called pluggy would be found before pytest's own. What isn't installed here can't be looked at."""
    groups = re.findall(r'^  "([\w-]+)', (render(op_set="full") / "pyproject.toml").read_text(), re.MULTILINE)
    wanted, seen = {*groups}, set()
    while wanted:
        name = wanted.pop()
        seen.add(name)
        with contextlib.suppress(metadata.PackageNotFoundError):
            lines = [line for line in metadata.requires(name) or () if "extra ==" not in line]
            wanted |= {canonical(re.findall(r"^[\w.-]+", line)[0]) for line in lines} - seen
    modules = {
        module
        for module, owners in metadata.packages_distributions().items()
        if re.fullmatch(r"[a-z][a-z0-9_]*", module) and seen.intersection(map(canonical, owners))
    }
    assert {"pluggy", "pathspec", "yaml"} <= modules <= LISTED["module_names"]


def test_names_in_a_rendered_project_are_reserved(render):
    project = render(op_set="full", runtime="opencl")
    folders = {path.name for path in project.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert folders - {"torch_lumen"} <= LISTED["module_names"]
    # Wherever they lie: mypy, ruff and Python each take a file or a folder for a module of its name. Not tests:
    # no package is called test_x.
    paths = [path.relative_to(project) for path in project.rglob("*.py")]
    paths = [path for path in paths if path.parts[0] != "torch_lumen"]
    scripts = {path.stem for path in paths} | {name for path in paths for name in path.parts[:-1]}
    assert {name for name in scripts if not name.startswith(("_", "test_"))} <= LISTED["module_names"]
    modules = {path.stem for path in (project / "torch_lumen").iterdir()} - {"lumen"}
    assert {name for name in modules if name[0] != "_" and name != "py"} <= LISTED["device_names"]
