"""One render() and one build() for all tests."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import variants
import yaml
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
MATRIX: dict[str, dict[str, Any]] = yaml.safe_load((TESTS / "matrix.yml").read_text(encoding="utf-8"))
ODD = "odd names-without-fallback-autoload"  # of the matrix: the oddest names, and a space in the path
DEVICE = "lumen"  # not the documentation's nova, so that a forgotten nova is found
BY_COMPILER = [f"default-{name}" for name in variants.clangs()]  # the folders of builds that aren't by gcc
OPENCL = "opencl-headers ocl-icd-libopencl1 pocl-opencl-icd"  # its packages
COUNTS = "counts"  # a property of reports, which reach the summary from any worker

needs_opencl = pytest.mark.skipif(not variants.has_opencl(), reason=f"no OpenCL: apt install {OPENCL}")

variants.compile_templates_once()


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """The working tree as Copier sees it, outside of pytest's folders, whose name could hide a forbidden word."""
    with tempfile.TemporaryDirectory(prefix="template-") as folder:
        yield variants.snapshot(Path(folder))


@pytest.fixture(scope="session")
def repository(template: Path) -> Iterator[Path]:
    """The same as users have it: a git repository, all committed."""
    with tempfile.TemporaryDirectory(prefix="repository-") as folder:
        shutil.copytree(template, folder, dirs_exist_ok=True)
        git = ["git", "-C", folder, "-c", "user.name=tests", "-c", "user.email=tests@example.com"]
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=Working tree"]):
            subprocess.run([*git, *command], check=True)
        yield Path(folder)


@pytest.fixture(scope="session")
def render(template: Path) -> Iterator[Callable[..., Path]]:
    """render(**answers) gives a rendered project. The same answers give the same one, so tests only read it."""
    folder = Path(tempfile.mkdtemp(prefix="rendered-"))
    rendered: dict[str, Path] = {}
    files: dict[str, set[Path]] = {}

    def render(**answers: Any) -> Path:
        answers = {"device_name": DEVICE} | answers
        key = repr(sorted(answers.items()))
        if key not in rendered:
            rendered[key] = variants.render(template, folder / str(len(rendered)), answers)
            files[key] = set(rendered[key].rglob("*"))
        return rendered[key]

    yield render
    written = [path for key, project in rendered.items() for path in project.rglob("*") if path not in files[key]]
    shutil.rmtree(folder)
    assert not written, f"a test wrote into what others read: {written}"


def by_compiler(name: str, device: str = DEVICE) -> dict[str, str]:
    """What the environment says to compile with it, or with the usual one. Warnings are errors."""
    return ({"CXX": name} if name else {}) | {"CMAKE_ARGS": f"-D{device.upper()}_WERROR=ON"}


def open_the_emulator(project: Path) -> None:
    """By the line that chooses between it and OpenCL, which a machine may not have. What tests OpenCL names it."""
    settings = project / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('_RUNTIME_KIND = "opencl"', '_RUNTIME_KIND = "emulator"'), encoding="utf-8")


@pytest.fixture(scope="session")
def build(template: Path) -> Callable[..., Path]:
    """build(**answers) gives a project that is rendered, compiled and installed for its own Python.

    Its folder is kept, so the next run compiles only what has changed since. Each compiler has folders of its own.
    """
    built: dict[str, Path] = {}

    def build(compiler: str = "", **answers: Any) -> Path:
        answers = {"device_name": DEVICE} | answers
        name = next((name for name, row in MATRIX.items() if {"device_name": DEVICE} | row == answers), None)
        if name is None:
            raise ValueError("tests/matrix.yml has no such variant: add it there, so that its folder has a name.")
        if compiler:
            name = f"{name}-{compiler}"
        if name not in built:
            kept = variants.KEPT / f"{DEVICE}-{name}"
            project = variants.render_kept(template, kept, answers, open_the_emulator)
            print(f"building {project}", flush=True)
            done = variants.make(project, "build", extra=by_compiler(compiler, answers["device_name"]))
            assert done.returncode == 0, f"{project} doesn't build, see above"
            built[name] = project
        return built[name]

    return build


@pytest.fixture
def counts(record_property: Callable[[str, object], None]) -> Callable[[str], dict[str, int]]:
    """counts(name) is filled with passed, skipped and the like of a built variant: a row of the table at the end."""

    def counts(name: str) -> dict[str, int]:
        row: dict[str, int] = {}
        record_property(COUNTS, (name, row))
        return row

    return counts


class TwoWorkers(LoadScopeScheduling):
    """What is built is used by one worker of pytest-xdist; the other one has what only reads, each render at one go."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, name = nodeid.partition("::")
        built = Path(file).stem in ("test_build", "test_docs", "test_examples")
        return "built" if built else file + name.partition("[")[2]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return TwoWorkers(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    if not variants.clangs():
        terminalreporter.line("No clang is installed, so that no build by clang was tested: `apt install clang-14`.")
    if not any(Path(path).exists() for path in ("/usr/include/gtest/gtest.h", "/usr/src/googletest")):
        terminalreporter.line("No GoogleTest is installed, so that no test in C++ was run: `apt install libgtest-dev`.")
    if shutil.which("doxygen") is None:
        terminalreporter.line("No Doxygen is installed, so that no page of C++ was built: `apt install doxygen`.")
    if not variants.has_opencl():
        terminalreporter.line(f"No OpenCL is installed, so that no test on it was run: `apt install {OPENCL}`.")
    rows = [value for report in reports for name, value in report.user_properties if name == COUNTS]
    if rows:
        terminalreporter.section("suites of the built variants")
        for name, row in rows:
            terminalreporter.line(f"{name:34}" + "".join(f"{count:6} {what:8}" for what, count in row.items()))
