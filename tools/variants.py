"""Renders projects from the working tree, into folders that are kept, and runs make in them.

    python tools/variants.py examples/default.yml --make test

Kept means: rendering again writes only what changed, so the next build compiles only that. The tests build their
variants the same way.
"""

import argparse
import filecmp
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable, Iterable, Mapping
from ctypes.util import find_library
from pathlib import Path
from typing import Any

USER_ENVIRONMENT = dict(os.environ)
# Copier's git shall not see the developer's configuration. It copies the environment when it is imported.
os.environ["GIT_CONFIG_GLOBAL"] = os.devnull

import copier  # noqa: E402
import jinja2  # noqa: E402
import plumbum  # noqa: E402
import yaml  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(os.environ.get("VARIANTS_DIR", ROOT / "build" / "variants")).resolve()
MANIFEST = ".rendered.json"
OPENCL_HEADER = Path("/usr/include/CL/cl.h")


def compile_templates_once() -> None:
    """Renders differ in answers and hardly in templates: what Jinja has compiled for one serves the next ones."""
    compiled: dict[tuple[object, ...], Any] = {}
    compile_ = jinja2.Environment.compile

    def remembered(self: Any, source: Any, name: Any = None, filename: Any = None, *rest: Any) -> Any:
        if not isinstance(source, str):
            return compile_(self, source, name, filename, *rest)
        key = (source, name, rest, self.trim_blocks, self.lstrip_blocks)
        if key not in compiled:
            compiled[key] = compile_(self, source, name, filename, *rest)
        return compiled[key]

    jinja2.Environment.compile = remembered  # type: ignore[assignment, method-assign]


def questions() -> dict[str, dict[str, Any]]:
    """What copier.yml asks: neither its settings nor the computed values."""
    entries = yaml.safe_load((ROOT / "copier.yml").read_text(encoding="utf-8"))
    return {name: entry for name, entry in entries.items() if name[0] != "_" and entry.get("when") is not False}


RENDERING = ["copier.yml", "hooks", "template", "examples"]  # what it reads: digits.py is included by the template


def snapshot(destination: Path, used: Iterable[str] = RENDERING) -> Path:
    """A copy of the working tree or some of it, uncommitted changes included.

    From a repository Copier would take the last tag, clone it for every render, and commit the changes there.
    """
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *used]
    for name in subprocess.check_output(listing, cwd=ROOT, env=USER_ENVIRONMENT, text=True).split("\0")[:-1]:
        if (ROOT / name).is_file():  # not when it is deleted, but still in the index
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, destination / name)
    return destination


def render(template: Path, destination: Path, answers: dict[str, Any]) -> Path:
    """Copier ignores an answer that no question asks for; here it is an error."""
    if unknown := answers.keys() - questions().keys():
        raise ValueError(f"copier.yml asks no question called {', '.join(sorted(unknown))}.")
    settings = copier.Settings()  # not the developer's own
    # Where Copier finds git, it asks it for every single file whether modes count in the repository that this is not.
    without_git = {} if (template / ".git").exists() else {"PATH": os.devnull}
    with plumbum.local.env(**without_git):
        copier.run_copy(str(template), destination, answers, settings=settings, defaults=True, unsafe=False, quiet=True)
    return destination


def render_kept(
    template: Path, destination: Path, answers: dict[str, Any], edit: Callable[[Path], object] = lambda project: None
) -> Path:
    """`edit` is called with what was rendered, as its vendor might."""
    with tempfile.TemporaryDirectory() as temporary:
        project = render(template, Path(temporary), answers)
        edit(project)
        return keep(project, destination)


def render_checks(project: Path, destination: Path | None = None) -> Path:
    """The tests of what the template brings along: with the names of a project, beside it, for nobody but us."""
    recorded = yaml.safe_load((project / ".copier-answers.yml").read_text(encoding="utf-8"))
    answers = {name: answer for name, answer in recorded.items() if name in questions()}
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder)
        shutil.copy2(ROOT / "copier.yml", template)
        shutil.copytree(ROOT / "hooks", template / "hooks")
        shutil.copytree(ROOT / "tests" / "project", template / "template")
        return render_kept(template, destination or project.with_name(project.name + ".checks"), answers)


def run_check(project: Path, checks: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Python for what `render_checks` made: the project's own, in its folder, with what its tests can import."""
    python = project_python(project)
    folders = [checks, *(project / "tests" / name for name in ("", "support", "conformance"))]
    variables = environment(python) | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.run([str(python), *arguments], cwd=project, env=variables, text=True, check=False, **options)


def keep(fresh: Path, destination: Path) -> Path:
    """Brings a folder to what is in another one, and writes only what differs."""
    manifest = destination / MANIFEST
    before: dict[str, str] = json.loads(manifest.read_text()) if manifest.exists() else {}
    files = [path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file()]
    after = {name: digest(fresh / name) for name in files}
    for name, rendered in before.items():
        if digest(destination / name) not in (None, rendered, after.get(name)):
            raise SystemExit(
                f"{destination / name} was edited: take the edit back with tools/carry_back.py, or delete the file."
            )
    for name in after:
        source, target = fresh / name, destination / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or not filecmp.cmp(source, target, shallow=False):
            shutil.copy(source, target)
    for name in before.keys() - after.keys():
        (destination / name).unlink(missing_ok=True)
    manifest.write_text(json.dumps(after, indent=1))
    return destination


def digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def thin_environment(folder: Path) -> Path:
    """A virtual environment that sees everything installed beside this Python: torch needn't be installed again."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))
    (folder / "lib" / version / "site-packages" / "base.pth").write_text("\n".join(packages) + "\n")
    return python


def environment(python: Path) -> dict[str, str]:
    """The user's environment, less what an outer make, pytest or virtual environment put into it."""
    inherited = ("MAKE", "MFLAGS", "PYTEST", "VIRTUAL_ENV", "TORCH_DEVICE_BACKEND_AUTOLOAD")
    variables = {name: value for name, value in USER_ENVIRONMENT.items() if not name.startswith(inherited)}
    variables.pop("PYTHON", None)  # a rendered project would take it for the one to use
    folders = [str(python.parent), str(Path(sys.executable).parent), variables.get("PATH", os.defpath)]
    return variables | {"PATH": os.pathsep.join(folders)}


def make(
    project: Path, target: str, *variables: str, extra: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Makes a target of a rendered project, with a Python of its own, and with what is extra in the environment."""
    python = project_python(project)
    command = ["make", "--no-print-directory", "-C", str(project), target, f"PYTHON={python}", *variables]
    return subprocess.run(command, env=environment(python) | dict(extra or {}), text=True, check=False, **options)


def clangs() -> list[str]:
    """Of what is installed here: the newest clang, and the oldest that a rendered project promises to build with."""
    computed = yaml.safe_load((ROOT / "copier.yml").read_text(encoding="utf-8"))
    oldest = int(computed["clang_minimum"]["default"])
    here = [name for number in range(oldest, oldest + 50) if shutil.which(name := f"clang++-{number}")]
    return here[-1:] + [name for name in here[:-1] if name == f"clang++-{oldest}"]


def has_opencl() -> bool:
    drivers = list(Path("/etc/OpenCL/vendors").glob("*.icd"))
    return OPENCL_HEADER.exists() and bool(drivers) and find_library("OpenCL") is not None


def project_python(project: Path) -> Path:
    return thin_environment(project.with_name(project.name + ".venv"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="a file with answers, such as examples/default.yml")
    parser.add_argument("--make", metavar="TARGET", default="build", help="what to make in it (build)")
    parser.add_argument(
        "--run", nargs=argparse.REMAINDER, metavar="MODULE", help="what its Python runs, in place of make"
    )
    arguments = parser.parse_args()
    answers = yaml.safe_load(arguments.answers.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        project = render_kept(snapshot(Path(temporary)), KEPT / arguments.answers.stem, answers)
    print(f"Rendered {arguments.answers} into {project}", flush=True)
    if arguments.run:
        return run_check(project, render_checks(project), "-m", *arguments.run).returncode
    return make(project, arguments.make).returncode


if __name__ == "__main__":
    sys.exit(main())
