"""Variants that are compiled, tested by their own suites, and packed."""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import variants
from conftest import DEVICE, MATRIX, ODD, by_compiler, needs_opencl
from test_render import expected_files

FEATURES = ("op_set", "fallback", "autoload", "generator", "amp", "profiler", "distributed", "compile", "runtime")
WHOLE = ["default", "minimal"]  # have all their tests run by `make test`, in `make long`
DISCRETE = ("minimal-with-everything", "core-without-generator-amp")
# The same in every variant but for names, so that tests/project needn't be run on all of them.
SAME = "runtime/ codegen/ benchmarks/ csrc/aten/ops.yaml csrc/aten/ops.vendor.yaml tests/cpp/ tests/support/".split()
ANSWERED = (
    "runtime/opencl/",
    "runtime/CMakeLists.txt",
    "runtime/tests/images.py",
    "benchmarks/rows/compile.py",
    "benchmarks/distributed.py",
    "benchmarks/enqueue.py",
    "benchmarks/profiler.py",
    "codegen/shims.py",
    "tests/cpp/own_stream.cpp",
    "tests/support/opened_runtime.py",
    "tests/support/ranks.py",
    "tests/support/traced_profile.py",
)  # but these
REST = [name for name in MATRIX if name not in (*WHOLE, "full")]
# Of these a quick slice in `make matrix`, without the contract, because their runtime is the default variant's.
# `make long` runs all tests of all.
SOME = ["minimal", "core-without-generator-amp"]


def when(names, matrix=(), long=()):
    """Parameters, some of which wait for `make matrix` or for `make long`."""
    later = dict.fromkeys(matrix, pytest.mark.matrix) | dict.fromkeys(long, pytest.mark.long)
    return [pytest.param(name, marks=later.get(name, ())) for name in names]


def test_matrix_covers_every_pair():
    values: dict[str, list[object]] = {name: [True, False] for name in FEATURES}
    values |= {"op_set": ["minimal", "core", "full"], "runtime": ["emulator", "opencl"]}
    for (one, these), (other, those) in itertools.combinations(values.items(), 2):
        for pair in itertools.product(these, those):
            assert any((row[one], row[other]) == pair for row in MATRIX.values()), (one, other, pair)


SHOWN = "-rfEs --color=no"  # what failed and what was skipped, by name


def run_suites(project, counts, *arguments, target="test", extra=None):
    """Runs the suites of a rendered project and adds up what pytest counts in each of its runs."""
    # A variable on make's command line is in the environment of what it runs.
    options = [*arguments, f"PYTEST_ADDOPTS={SHOWN}"]
    done = variants.make(project, target, *options, extra=extra, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return add_up(done, counts)


def add_up(done, counts):
    counts.update(passed=0, skipped=0, failed=0)
    for summary in re.findall(r"^=* ?(\d+ .*) in [\d.]+s\b.*$", done.stdout, re.MULTILINE):
        for count, what in re.findall(r"(\d+) (passed|skipped|failed|errors?|xfailed|deselected)", summary):
            counts[what] = counts.get(what, 0) + int(count)
    if done.returncode != 0 or not counts["passed"]:
        pytest.fail(f"{shlex.join(done.args)} failed:\n{done.stdout[-8000:]}", pytrace=False)
    return done.stdout


SKIPPED = re.compile(r"^SKIPPED \[\d+\] [^:]+(?::\d+)?: (.*)$", re.MULTILINE)


def check_skips(output, answers, *lacking):
    """A skip is only for a feature that is off, and its reason has that question's name in it; or for the kernel; or
    for what the machine may lack."""
    off = [name for name in FEATURES[1:] if not answers[name]] + ["op_set"] * (answers["op_set"] != "full")
    off += ["network namespaces", "OpenCL", *lacking]  # two machines on one; a device beside the emulator
    for reason in SKIPPED.findall(output):
        assert any(re.search(rf"\b{name}\b", reason) for name in off), f"skipped although nothing is off: {reason}"


# With the runtime's tests and those in C++. `make test`: a quick slice of the default variant in one kind of memory.
# `make matrix`: of the full one in the other. `make long`: all of the default one in both.
SUITES = {
    "default-quick": ("default", ["MEMORY=unified", "PYTEST_ARGS=-m quick"]),
    "full-discrete-quick": ("full", ["MEMORY=discrete", "PYTEST_ARGS=-m quick"]),
    "minimal": ("minimal", ["MEMORY=unified"]),
    "default": ("default", ["MEMORY=unified"]),
    "default-discrete": ("default", ["MEMORY=discrete"]),
    "full": ("full", ["MEMORY=unified"]),
    # No test may hold only because the emulator is fast.
    "default-late": ("default", ["MEMORY=discrete", "PYTEST_ARGS=-m quick", f"{DEVICE.upper()}_DELAY=2500"]),
}


@pytest.mark.parametrize(
    "suite",
    when(
        SUITES,
        ["full-discrete-quick"],
        ["minimal", "default", "default-discrete", "full", "default-late"],
    ),
)
def test_suite(build, counts, suite):
    name, arguments = SUITES[suite]
    check_skips(run_suites(build(**MATRIX[name]), counts(suite), *arguments), MATRIX[name])


@pytest.mark.long
def test_distributed(build, counts):
    """On two and four processes, all of it: `make test` has a slice."""
    output = run_suites(build(**MATRIX["default"]), counts("default: distributed"), target="distributed")
    check_skips(output, MATRIX["default"])


@pytest.mark.long
def test_sanitize(build, counts):
    """The contract, all tests and the stress program: memory, undefined behaviour, races, and what a process loses."""
    check_skips(run_suites(build(**MATRIX["full"]), counts("full: sanitizers"), target="sanitize"), MATRIX["full"])


@pytest.mark.long
def test_conformance(build, counts):
    """All of torch's databases of operators and modules, in every dtype."""
    run_suites(build(**MATRIX["full"]), counts("full: conformance"), "RUNTIME_KIND=emulator", target="conformance")


@pytest.mark.long
def test_a_transport_of_ones_own(render, tmp_path):
    """The project's one file for it takes the collectives away from Gloo; what fails there is told in the same way."""
    sources = shutil.copytree(render(**MATRIX["minimal"]), tmp_path / "sources")
    transport = Path(__file__).parent / "transport"
    text = (transport / "vendor.cpp").read_text(encoding="utf-8")
    (sources / "csrc/distributed/vendor.cpp").write_text(text.replace("DEVICE", DEVICE), encoding="utf-8")
    project = variants.keep(sources, variants.KEPT / f"{DEVICE}-transport")
    assert variants.make(project, "build").returncode == 0
    python = variants.project_python(project)
    command = [str(python), str(transport / "two_ranks.py")]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store"), f"torch_{DEVICE}", DEVICE],
            env=variants.environment(python),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    for rank, process in enumerate(ranks):
        said = process.communicate(timeout=300)[0]
        assert process.returncode == 0, said
        assert f"rank {rank} of 2: all_reduce of group '0' failed" in said
        assert "the store carries no ALLREDUCE" in said


@pytest.mark.long
def test_libraries(build, counts):
    """The newest releases that go with this torch, installed from the package index."""
    output = run_suites(build(**MATRIX["full"]), counts("full: ecosystem"), target="ecosystem")
    check_skips(output, MATRIX["full"])


@pytest.mark.parametrize(
    ("name", "chosen"),
    [pytest.param(name, "-m quick", marks=pytest.mark.matrix) for name in SOME]
    + [pytest.param(name, "", marks=pytest.mark.long) for name in REST],
)
def test_rest(build, counts, name, chosen):
    project = build(**MATRIX[name])
    if name == ODD:
        output = run_suites(project, counts(name), "MEMORY=unified")
    else:
        python = variants.project_python(project)
        command = [str(python), *f"-m pytest tests --numprocesses 2 {chosen} {SHOWN}".split()]
        environment = variants.environment(python)
        environment[f"{DEVICE.upper()}_MEMORY"] = "discrete" if name in DISCRETE else "unified"
        if name in DISCRETE:
            environment[f"{DEVICE.upper()}_LAUNCH_BLOCKING"] = "0"
        options = {"cwd": project, "env": environment, "text": True}
        output = add_up(
            subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options),
            counts(f"{name}-quick" if chosen else name),
        )
    check_skips(output, MATRIX[name])


CHECKED = {"default": "", "minimal": "-m quick", ODD: "-m quick"}


@pytest.mark.parametrize("name", when(CHECKED, ["default"], ["minimal", ODD]))
def test_what_the_template_brings_along(build, counts, name):
    """Generator, commands, benchmarks and the rules of includes: tests/project, which no vendor gets."""
    # The project's conftest.py isn't above these tests, so it is named.
    options = f"-m pytest -p conftest -c pyproject.toml --rootdir . --numprocesses 2 {SHOWN} {CHECKED[name]}"
    project = build(**MATRIX[name])
    checks = variants.render_checks(project)
    command = [*options.split(), str(checks)]
    done = variants.run_check(project, checks, *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check_skips(add_up(done, counts(f"{name}: tests/project")), MATRIX[name])


def test_what_the_template_brings_along_is_the_same_in_all(render):
    def same(answers):
        found = {}
        for path in render(**answers).rglob("*"):
            name = path.relative_to(render(**answers)).as_posix()
            if path.is_file() and name.startswith(tuple(SAME)) and not name.startswith(tuple(ANSWERED)):
                found[name] = path.read_text(encoding="utf-8")
        return found

    wanted = same(MATRIX["default"])
    assert len(wanted) > 100
    for name, answers in MATRIX.items():
        found = wanted if name == ODD else same(answers)
        assert not [file for file in {*found, *wanted} if found.get(file) != wanted.get(file)], name


NO_CLANG = pytest.param("clang", marks=pytest.mark.skip(reason="no clang is installed: apt install clang-14"))


@pytest.mark.long
@pytest.mark.parametrize("compiler", variants.clangs() or [NO_CLANG])
def test_clang(build, counts, compiler):
    """gcc and clang differ in more than warnings: one has hidden functions that the other exports."""
    project = build(compiler, **MATRIX["default"])
    output = run_suites(project, counts(compiler), "MEMORY=unified", extra=by_compiler(compiler))
    check_skips(output, MATRIX["default"], "OpenMP")  # clang has it by a package of its own


WITHOUT_EMULATION = """
import torch
import torch_DEVICE
from torch_DEVICE import _build_info

assert not _build_info.fallback  # which `ops` and `doctor` tell
x = torch.arange(6.0).view(2, 3).to("DEVICE")
y = (x * 2 + x).relu() @ x.t()
assert torch.equal(y.cpu(), (x.cpu() * 3) @ x.cpu().t()) and y.sum().item() == y.cpu().sum().item()
with torch.DEVICE.count_operators() as counts:
    x.clone().fill_(3)
assert {"emulated", "fallback"}.isdisjoint(counts.by_kind) and counts.by_kind["native"] == 2, counts
assert {"emulated", "fallback"}.isdisjoint(torch.DEVICE.operator_kinds().values())
for call in (lambda: x.lgamma(), lambda: x.to(torch.int16) + 1, lambda: torch.linalg.eig(x[:, :2])):
    try:
        call()
    except NotImplementedError as error:
        assert "has no kernel for DEVICE" in str(error) and "_EMULATION=OFF" in str(error), error
    else:
        raise AssertionError("a CPU kernel ran")
"""


# What needs no kernel, so that a runtime without any, or with such as compute nothing, does it.
WITHOUT_KERNELS = """
import torch
import torch_DEVICE

x = torch.arange(6.0).view(2, 3).to("DEVICE")
y = torch.empty_like(x).copy_(x)
assert torch.equal(y.cpu(), x.cpu()) and y[1].tolist() == [3, 4, 5]
assert str(y.device) == "DEVICE:0" and y.view(3, 2).shape == (3, 2)
"""


def null_and_minimal(project, folder):
    """Two libraries: the runtime that benchmarks/enqueue.py makes, and the one that a vendor begins with."""
    sources = [project / "runtime/minimal/minimal.cpp", *(project / "runtime/common").glob("*.cpp")]
    include = [f"-I{project / 'runtime'}", f"-I{project / 'runtime/include'}"]
    for name, more in (("null", [project / "benchmarks/null_runtime.cpp"]), ("minimal", [])):
        library = folder / name / f"lib{DEVICE}_runtime.so"
        library.parent.mkdir()
        command = ["g++", *"-std=c++20 -O1 -shared -fPIC -pthread".split(), *include, "-o", library, *sources, *more]
        subprocess.run(command, check=True)
        yield library


@pytest.mark.parametrize("units", when(["ON", "OFF"], matrix=["ON"], long=["OFF"]))
def test_nothing_needs_the_emulation(build, tmp_path, units):
    """The build of a vendor whose hardware the host can't see into, and who wants no CPU kernel. Without units it is
    file by file, so that a missing #include shows."""
    project = build(**MATRIX["default"])
    sources = shutil.copytree(project, tmp_path / "sources", ignore=shutil.ignore_patterns("build", "emulation"))
    assert (project / "csrc/emulation").is_dir() and not (sources / "csrc/emulation").exists()
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    site = tmp_path / "site"
    command += [site, sources]
    for option, value in (("EMULATION", "OFF"), ("UNITS", units)):
        command += ["--config-settings", f"cmake.define.{DEVICE.upper()}_{option}={value}"]
    subprocess.run([*command, "--config-settings", f"build-dir={tmp_path / 'build'}"], check=True)
    environment = variants.USER_ENVIRONMENT | {"PYTHONPATH": str(site), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}

    def run(script, **more):
        command = [sys.executable, "-c", script.replace("DEVICE", DEVICE)]
        subprocess.run(command, check=True, cwd=tmp_path, env=environment | more)

    run(WITHOUT_EMULATION)
    for library in null_and_minimal(project, tmp_path):
        run(WITHOUT_KERNELS, **{f"{DEVICE.upper()}_RUNTIME": str(library)})


@pytest.mark.long
@pytest.mark.parametrize(
    "script", [*(f"argument_fuzz.py 200 {seed}" for seed in (1, 2, 3)), "wrong_tensors.py --whole"]
)
def test_strange_arguments(build, script):
    """`make test` makes a few such calls of each operator, always the same."""
    project = build(**MATRIX["full"])
    python = variants.project_python(project)
    name, *arguments = script.split()
    command = [str(python), f"tests/aten/arguments/{name}", *arguments]
    options = {"cwd": project, "env": variants.environment(python), "text": True}
    done = subprocess.run(command, stdout=subprocess.PIPE, **options)
    assert done.returncode == 0 and not done.stdout, done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("runtime", "slice_of_it"),
    [("required", ""), ("hostile", ""), ("plain", "-m quick")],
)
def test_other_runtimes(build, counts, runtime, slice_of_it):
    """The suite and the demo on what stands for a vendor's runtime, from its first day to its last."""
    options = [f"RUNTIMES={runtime}", f"PYTEST_ARGS={slice_of_it}"]
    output = run_suites(build(**MATRIX["default"]), counts(f"runtime: {runtime}"), *options, target="runtimes")
    assert output.count("test accuracy 99.2%, at least") == 1, output[-3000:]


def divided(device=DEVICE):
    """Two OpenCL devices out of one; a processor with one core can't be divided."""
    return {f"{device.upper()}_OPENCL_SUBDEVICES": "2"} if (os.cpu_count() or 1) > 1 else {}


# As far as every runtime must go, and all of it: the kernels are most of that.
CONTRACT = {"slice": "-k 'not kernels or test_launch'", "whole": ""}


@pytest.mark.parametrize("part", when(CONTRACT, ["slice"], ["whole"]))
@needs_opencl
def test_contract_on_opencl(build, counts, part):
    """A device whose memory the host can't see."""
    chosen = ["RUNTIME_KIND=opencl", f"PYTEST_ARGS={CONTRACT[part]}"]
    said = run_suites(
        build(**MATRIX["full"]), counts(f"opencl: contract, {part}"), *chosen, target="contract", extra=divided()
    )
    # What a kernel declines csrc does in another way; none is missing.
    for reason in SKIPPED.findall(said):
        assert re.fullmatch(r"optional: (not in this runtime|\w+ declines: .+)", reason), reason
    assert re.search(r"^contract: (\d+) of \1 functions hold$", said, re.MULTILINE), said[-3000:]


@pytest.mark.matrix
@needs_opencl
def test_demo_on_opencl(build):
    project = build(**MATRIX["full"])
    done = variants.make(project, "demo", "RUNTIME_KIND=opencl", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert "test accuracy 99.2%, at least" in done.stdout, done.stdout
    assert re.search(r"^all operators +native +[1-9]", done.stdout, re.MULTILINE), done.stdout
    assert not re.search(r"^all operators +(emulated|fallback)", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.long
@needs_opencl
def test_a_package_that_opens_opencl(build):
    """Nothing in the environment says so: the build did."""
    project = build(**MATRIX["full"])
    python = variants.project_python(project)
    # What asks for the runtime from outside has to find the same one: the doctor, and the tests' own deselection.
    script = f"import torch; print(torch.{DEVICE}.get_device_properties().architecture)"
    suite = [*"-m pytest -q tests/device/test_device.py tests/memory/test_memory.py".split(), *SHOWN.split()]
    try:
        assert variants.make(project, "build", "RUNTIME_KIND=opencl").returncode == 0
        said = [
            subprocess.run(
                [str(python), *command],
                cwd=project,
                env=variants.environment(python),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for command in (["-c", script], ["-m", f"torch_{DEVICE}", "doctor"], suite)
        ]
    finally:
        assert variants.make(project, "build", "RUNTIME_KIND=emulator").returncode == 0
    assert [done.returncode for done in said] == [0, 0, 0], "\n".join(done.stdout for done in said)
    assert said[0].stdout.startswith("OpenCL")
    assert f"lib/lib{DEVICE}_opencl.so," in said[1].stdout, said[1].stdout


@pytest.mark.long
@needs_opencl
def test_a_folder_of_ones_own_keeps_opencl(build, tmp_path):
    project = build(**MATRIX["full"])
    python = variants.project_python(project)
    choices = [f"-D{DEVICE.upper()}_RUNTIME_DIR=runtime/minimal", f"-D{DEVICE.upper()}_RUNTIME_KIND=opencl"]
    command = [
        str(python),
        *"-m cmake -G Ninja -S . -B".split(),
        str(tmp_path),
        f"-DPython_EXECUTABLE={python}",
        *choices,
    ]
    options = {"cwd": project, "env": variants.environment(python), "capture_output": True, "text": True}
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"The runtime is built from {project / 'runtime/minimal'}" in done.stdout
    done = subprocess.run(
        [str(python), *f"-m cmake --build {tmp_path} --target {DEVICE}_opencl {DEVICE}_runtime".split()], **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {file.name for file in (tmp_path / "lib").iterdir()} >= {f"lib{DEVICE}_opencl.so", f"lib{DEVICE}_runtime.so"}


@pytest.mark.long
@needs_opencl
def test_conformance_on_opencl(build, counts):
    """torch's database of operators, in the one dtype that every device has."""
    chosen = ["RUNTIME_KIND=opencl", "DTYPES=float32"]
    counted = counts("opencl: conformance")
    run_suites(build(**MATRIX["full"]), counted, *chosen, target="conformance")
    assert counted["passed"] > 1000


@pytest.mark.parametrize("seconds", when(["5", "60"], ["5"], ["60"]))
@needs_opencl
def test_storm_on_opencl(build, seconds):
    """Threads that share streams and events lose nothing, whatever comes first."""
    chosen = ["RUNTIME_KIND=opencl", f"STRESS_SECONDS={seconds}"]
    project, pipe = build(**MATRIX["full"]), subprocess.PIPE
    done = variants.make(project, "stress", *chosen, extra=divided(), stdout=pipe, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    lost_nothing = r"^stress: \d+ calls, [1-9]\d+ buffers compared, 0 injected"
    assert re.search(lost_nothing, done.stdout, re.MULTILINE), done.stdout


@pytest.mark.matrix
@needs_opencl
def test_cpp_on_opencl(build, counts):
    """On one device with all cores, as for a user; the suites below divide it."""
    project = build(**MATRIX["full"])
    tests = next(project.glob("build/cp*/tests/cpp/cpp_tests"), None)
    if tests is None:
        pytest.skip("no GoogleTest: apt install libgtest-dev")
    (library,) = project.glob(f"build/cp*/lib/lib{DEVICE}_opencl.so")
    environment = variants.environment(variants.project_python(project)) | {f"{DEVICE.upper()}_RUNTIME": str(library)}
    for _ in range(3):  # what threads do differs each time
        done = subprocess.run(
            [str(tests)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout
    passed = re.search(r"PASSED.* (\d+) tests", done.stdout)
    assert passed is not None, done.stdout
    counts("opencl: C++")["passed"] = int(passed[1])


# Models that train by kernels of OpenCL alone; and whole rooms. What only the emulator can do is deselected.
TRAINING = "(alone or autocast and bfloat16) and fused or replayed or generated or loaded_as_modules"
COMPILED = ["tests/compile/test_device_code.py"]
ROOMS = "device streams memory random amp aten emulation graphs profiler distributed compile python models".split()
ROOMS += ["runtimes", "cpp"]
PRODUCTS = ["tests/models/test_convolution.py", "tests/models/test_rnn.py"]
ON_OPENCL = {
    "training": ["-k", TRAINING, "tests/models/test_training.py", "tests/graphs/test_decode.py", *COMPILED],
    "runtime": ["tests/runtimes/test_opencl.py"],
    "local memory": PRODUCTS,
    "rooms": [f"tests/{room}" for room in ROOMS],
    "profiler": ["tests/profiler"],
    "no CPU kernels": ["tests"],
    "few operators": ["tests"],
}
# The full variant has a fallback and no profiler.
OTHERS = {"profiler": ODD, "no CPU kernels": ODD, "few operators": "minimal-with-everything"}
LOCAL_MEMORY = {f"{DEVICE.upper()}_OPENCL_LOCAL_MEMORY": "1"}


@pytest.mark.matrix
@needs_opencl
def test_products_by_way_of_local_memory(build, counts):
    """As on a GPU: the driver of a CPU says that it has none of its own."""
    chosen = ["RUNTIME_KIND=opencl", "PYTEST_ARGS=-k 'gemm or convolution'"]
    run_suites(build(**MATRIX["full"]), counts("opencl: products"), *chosen, target="contract", extra=LOCAL_MEMORY)


@pytest.mark.parametrize("part", when(ON_OPENCL, ["training", "runtime", "local memory"], ["rooms", *OTHERS]))
@needs_opencl
def test_suite_on_opencl(build, counts, part):
    answers = {"device_name": DEVICE} | MATRIX[OTHERS.get(part, "full")]
    device = answers["device_name"]
    project = build(**answers)
    python = variants.project_python(project)
    (library,) = python.parent.parent.rglob(f"lib{device}_opencl.so")
    extra = {f"{device.upper()}_RUNTIME": str(library)} | divided(device)
    extra |= LOCAL_MEMORY if part == "local memory" else {}
    command = [str(python), *f"-m pytest --numprocesses 2 {SHOWN}".split(), *ON_OPENCL[part]]
    options = {"cwd": project, "env": variants.environment(python) | extra, "text": True}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    check_skips(add_up(done, counts(f"opencl: {part}")), answers)


@pytest.mark.parametrize("name", when(WHOLE, ["minimal"]))
def test_demo(build, name, tmp_path):
    trace = tmp_path / "trace.json"
    trains = MATRIX[name]["op_set"] != "minimal"
    arguments = [f"TRACE={trace}"] if trains else []
    done = variants.make(build(**MATRIX[name]), "demo", *arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert ("test accuracy" in done.stdout) == trains
    if trains:
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        on_the_device = {event["name"] for event in events if event.get("cat") == "kernel"}
        assert any(name.startswith("gemm") for name in on_the_device), on_the_device
    # Kernels of the device do all of it.
    assert bool(re.search(r"^all operators +native +[1-9]", done.stdout, re.MULTILINE)) == trains
    assert not re.search(r"^all operators +(emulated|fallback)", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("preset", "flag"),
    [
        ("release", "-O2"),
        pytest.param("debug", "-g", marks=pytest.mark.matrix),
        pytest.param("profile", "-fno-omit-frame-pointer", marks=pytest.mark.matrix),
        ("asan", "-fsanitize=address,undefined"),
    ],
)
def test_presets_compile_as_they_say_and_as_torch_does(build, preset, flag):
    project = build(**MATRIX["default"])
    python = variants.project_python(project)
    command = [str(python), "-m", "cmake", "--preset", preset, f"-DPython_EXECUTABLE={python}"]
    done = subprocess.run(command, cwd=project, env=variants.environment(python), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads((project / "build" / preset / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [each["command"].split() for each in listed if f"torch_{DEVICE}.dir" in each["output"]]
    assert len(commands) > 5
    assert all(flag in words and "-DNDEBUG" in words for words in commands)


@pytest.mark.long
def test_an_isolated_build_leaves_the_torch_that_is_there(render, tmp_path):
    """With what the package index has. The newest torch would need gigabytes, and replace the one that is installed."""
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(tmp_path / "venv", with_pip=True)
    sources = shutil.copytree(render(), tmp_path / "sources")
    command = [str(python), *"-m pip install".split(), str(sources)]
    done = subprocess.run(command, env=variants.environment(python), capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install --no-build-isolation ." in done.stderr and "Traceback" not in done.stderr


def exported(library):
    done = subprocess.run(["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True, check=True)
    return done.stdout


def pip(python, *arguments):
    command = [str(python), "-m", "pip", *arguments, "--quiet", "--no-deps"]
    # Not in the project: it would be imported from there.
    subprocess.run(command, cwd=variants.KEPT, env=variants.environment(python), check=True)


def pack(project, folder):
    """The project's wheel, built with what is installed."""
    pip(variants.project_python(project), "wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(project))
    (wheel,) = folder.iterdir()
    return wheel


def contents(wheel):
    """Name and bytes of each file, without the folder of the metadata and without the suffix of an extension."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    return {re.sub(r"^[^/]+\.dist-info/|(?<=/_C)\.[^/]+(?=\.so$)", "", name): data for name, data in files.items()}


def expected_contents(answers):
    device, package = answers["device_name"], answers["package_name"]
    compiled = {"_C.so", "_build_info.py", f"lib/libtorch_{device}.so", f"lib/lib{device}_runtime.so"}
    if answers["runtime"] == "opencl" and variants.OPENCL_HEADER.exists():
        compiled.add(f"lib/lib{device}_opencl.so")
    names = {f"{package}/{name}" for name in compiled} | {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
    names |= {f"{package}/cmake/Torch.cmake", f"{package}/cmake/{package}-config.cmake"}
    if answers["autoload"]:
        names.add("entry_points.txt")
    for name in expected_files(answers):
        folder, _, rest = name.partition("/")
        if folder == "<package>" and not name.endswith(".in"):
            names.add(f"{package}/{rest}")
        if name.startswith("runtime/include/") or (name.startswith("csrc/") and name.endswith(".h")):
            names.add(f"{package}/include/{name.removeprefix('csrc/').removeprefix('runtime/include/')}")
    if answers["compile"]:
        names.add(f"{package}/include/compile/c_shim_{device}.h")
    return {name.replace("<device>", device) for name in names}


def torch_release():
    return ".".join(metadata.version("torch").split(".")[:2])


@pytest.mark.long
def test_the_sources_build_the_same_wheel(build, tmp_path):
    project = build(**MATRIX["default"])
    assert variants.make(project, "sdist", f"SDIST={tmp_path / 'sdist'}").returncode == 0
    (sources,) = (tmp_path / "sdist").iterdir()
    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    (unpacked / variants.MANIFEST).unlink()  # of the kept folder, not of the project
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    rendered = expected_files(MATRIX["default"])
    left_out = {name for name in rendered if name.startswith((".github/", ".copier-", ".pre-commit-"))}
    names = {name.replace("<package>", f"torch_{DEVICE}").replace("<device>", DEVICE) for name in rendered - left_out}
    assert found == names | {"PKG-INFO"}

    # Where it is kept, so that what was compiled for the project is found again.
    again = variants.keep(unpacked, variants.KEPT / f"{DEVICE}-sdist")
    ours, theirs = contents(pack(project, tmp_path / "ours")), contents(pack(again, tmp_path / "theirs"))
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert name.endswith(".so") or name == "RECORD" or ours[name] == theirs[name], name


@pytest.mark.parametrize("name", when(["default", ODD], long=[ODD]))
def test_wheel_in_a_clean_environment(build, tmp_path, name):
    answers = {"device_name": DEVICE, "package_name": f"torch_{DEVICE}"} | MATRIX[name]
    device, package = answers["device_name"], answers["package_name"]
    project = build(**MATRIX[name])
    made = pack(project, tmp_path / "dist")
    repaired = variants.make(project, "repair", f"WHEEL={made}", f"REPAIRED={tmp_path / 'repaired'}")
    assert repaired.returncode == 0
    (wheel,) = (tmp_path / "repaired").iterdir()
    assert "manylinux" in wheel.name
    # The same files: nothing of torch, or of the system, was copied into it.
    assert set(contents(wheel)) == set(contents(made)) == expected_contents(answers)
    assert f"Requires-Dist: torch=={torch_release()}.*\n" in contents(wheel)["METADATA"].decode()

    clean = variants.thin_environment(tmp_path / "clean")
    pip(clean, "install", "--no-index", str(wheel))

    load = "" if answers["autoload"] else f"import {package}\n"
    program = f"""import torch
{load}x = torch.arange(6, device="{device}").view(2, 3)
assert x.device.type == "{device}" and x.t().cpu().tolist() == [[0, 3], [1, 4], [2, 5]]
import {package}
print({package}.__file__)
"""
    command = [str(clean), "-c", program]
    used = subprocess.run(command, cwd=tmp_path, env=variants.environment(clean), capture_output=True, text=True)
    assert used.returncode == 0, used.stderr
    assert used.stdout.strip().startswith(str(tmp_path / "clean")), "the wheel isn't what was imported"

    others = [word for word in ("nova", "openreg", DEVICE, "my_odd_chip", "acme_backend") if word not in str(answers)]
    forbidden = re.compile("|".join(others), re.IGNORECASE)
    installed = tmp_path / "clean" / "lib"
    libraries = list(installed.rglob(f"{package}/**/*.so"))
    # OpenCL stands beside the emulator.
    assert len(libraries) == (4 if answers["runtime"] == "opencl" else 3)
    for library in libraries:
        symbols = exported(library)
        assert symbols
        assert not forbidden.search(symbols)
    for path in installed.rglob(f"{package}*/**/*"):
        assert not forbidden.search(str(path.relative_to(installed)))
        if path.is_file() and path.suffix not in (".so", ".pyc"):
            assert not forbidden.search(path.read_text(encoding="utf-8")), path
