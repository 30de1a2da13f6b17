"""Every combination of features, rendered and read as text."""

import ast
import functools
import importlib
import itertools
import json
import re
import subprocess
import sys

import jinja2
import markdown_it
import pytest
import reserved_names
import variants
import yaml
from conftest import DEVICE, MATRIX, TESTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FEATURES = ("fallback", "autoload", "generator", "amp", "profiler", "distributed", "compile")
# With an odd number of features on there is OpenCL: so each of them is on and off with it, and with the emulator.
COMBINATIONS = [
    {
        "op_set": op_set,
        **dict(zip(FEATURES, values, strict=True)),
        "runtime": "opencl" if sum(values) % 2 else "emulator",
    }
    for op_set in ("minimal", "core", "full")
    for values in itertools.product([True, False], repeat=len(FEATURES))
]
FILES: dict[str, list[str]] = yaml.safe_load((TESTS / "files.yml").read_text(encoding="utf-8"))
ODD = MATRIX["odd names-without-fallback-autoload"]
EMPTY = {"description": "", "author": "", "author_email": "", "repository_url": ""}
LICENSES = {
    "BSD-3-Clause": "BSD 3-Clause License",
    "Apache-2.0": "Apache License",
    "MIT": "MIT License",
    "proprietary": "All rights reserved",
}


def parameter(answers):
    """With at most one feature off, or at most one on, each pair of answers occurs; the rest waits for `make long`."""
    on = [name for name in FEATURES if answers[name]]
    waits = 1 < len(on) < len(FEATURES) - 1
    return pytest.param(answers, id="-".join([answers["op_set"], *on]), marks=pytest.mark.long if waits else ())


@pytest.fixture(params=map(parameter, COMBINATIONS))
def answers(request):
    return request.param


def texts(project):
    for path in sorted(project.rglob("*")):
        if path.is_file():
            yield path, path.read_text(encoding="utf-8")


@functools.cache  # most files are the same in most combinations
def check_text(suffix, text):
    # GitHub's ${{ }} is the only thing with braces like Jinja's.
    assert not re.search(r"(?<!\$)\{\{|\{%|\{#", text), "Jinja is left"
    assert text == text.strip("\n") + "\n" * bool(text), "it should begin with text and end with one line break"
    assert not re.search(r"[ \t]$", text, re.MULTILINE), "a line ends with blanks"
    match suffix:
        case ".py" | ".pyi":
            ast.parse(text, feature_version=(3, 10))
        case ".toml":
            tomllib.loads(text)
        case ".yml" | ".yaml":
            yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        case ".json":
            json.loads(text)


def check_syntax(project):
    for path, text in texts(project):
        try:
            check_text(path.suffix, text)
        except Exception as error:
            raise AssertionError(f"{path}: {error}") from error


def expected_files(answers):
    features = {name: answers[name] for name in (*FEATURES, "op_set", "runtime")}
    return {name for condition, names in FILES.items() if eval(condition, {}, features) for name in names}


def test_every_combination_is_well_formed(render, answers):
    check_syntax(render(**answers))


def test_every_combination_has_just_its_files(render, answers):
    project = render(**answers)
    found = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    found = {name.replace(f"torch_{DEVICE}/", "<package>/").replace(DEVICE, "<device>") for name in found}
    assert found == expected_files(answers), "tests/files.yml tells which files are rendered when"
    empty = [path for path in project.rglob("*") if path.is_dir() and not any(path.iterdir())]
    assert not empty


def test_a_folder_has_few_files(render, answers):
    project = render(**answers)
    for top in ("csrc", "runtime", "tests"):
        for folder in (project / top, *(path for path in (project / top).rglob("*") if path.is_dir())):
            assert sum(path.is_file() for path in folder.iterdir()) <= 20, folder


def test_a_folder_is_compiled_in_units(render, answers):
    """A file alone costs the compiler torch's headers. What has heavy headers of its own is in no other's unit."""
    project = render(**answers)
    lists = (project / "CMakeLists.txt").read_text()
    named = {folder for call in re.findall(r"^compile_in_units\(([^)]*)\)", lists, re.M) for folder in call.split()[3:]}
    folders = {str(file.parent.relative_to(project)) for file in (project / "csrc").rglob("*.cpp")}
    assert folders == named


def test_no_other_name_occurs(render, answers):
    check_names(render(**answers), "nova", "openreg", "my_odd_chip", "acme")


@functools.cache
def found_in(text, names):
    found = re.search("|".join(names), text, re.IGNORECASE)
    return found and found[0]


def check_names(project, *names):
    for path, text in texts(project):
        assert not found_in(str(path.relative_to(project)), names)
        assert not found_in(text, names), f"{path} contains {found_in(text, names)!r}"


def test_odd_names_and_texts(render):
    project = render(**ODD)
    check_syntax(project)
    check_names(project, "nova", "openreg", DEVICE)
    assert (project / "acme_backend/my_odd_chip/__init__.py").exists()
    metadata = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["name"] == "acme-backend"
    assert metadata["description"] == ODD["description"]
    assert metadata["authors"] == [{"name": ODD["author"], "email": ODD["author_email"]}]
    assert list(metadata["urls"].values()) == [ODD["repository_url"]]


# Imports stand in alphabetical order and are wrapped at a length, so both may depend on names.
NAMES = {"first": {"device_name": "aa"}, "last": {"device_name": "zz"}, "longest": {"device_name": "ab" * 20}}
# A function of the package, or a module, may have a variable of the device's name.
NAMES |= {name: {"device_name": name} for name in ("error", "process", "copy")}


@pytest.mark.parametrize("answers", [*NAMES.values(), *MATRIX.values()], ids=[*NAMES, *MATRIX])
def test_a_linter_finds_nothing(render, answers):
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", "."]
    done = subprocess.run(command, cwd=render(**answers), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("suite", ["tests", "runtime/tests"])
def test_modules_of_a_suite_have_names_of_their_own(render, suite):
    """pytest imports a module by its name alone, and refuses a second one."""
    project = render(**MATRIX["full"])
    names = [path.name for path in (project / suite).rglob("*.py") if path.name not in ("conftest.py", "__init__.py")]
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def test_scripts_of_a_suite_import_the_package(render):
    """Without `autoload` nothing else brings the device into a process."""
    project = render(**MATRIX["full"])
    scripts = [(path, *script) for path in (project / "tests").rglob("*.py") for script in scripts_of(path)]
    assert len(scripts) > 100
    packages = re.compile(f"torch_{DEVICE}|second_wheel")  # which imports the first
    assert not {f"{path}:{line}" for path, line, text in scripts if DEVICE in text and not packages.search(text)}


def scripts_of(path):
    """The scripts that a test starts with `autoload` as it was answered, each with its line."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    assigned = [node for node in module.body if isinstance(node, ast.Assign)]
    constants = {name.id: node.value for node in assigned for name in node.targets if isinstance(name, ast.Name)}

    def text(node):
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        meant = [node, *(constants[name] for name in names if name in constants)]
        parts = itertools.chain.from_iterable(map(ast.walk, meant))
        return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))

    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    for call in calls:
        as_answered = "TORCH_DEVICE_BACKEND_AUTOLOAD" not in {keyword.arg for keyword in call.keywords}
        if as_answered and re.fullmatch(r"run_\w*python", getattr(call.func, "id", "")):
            yield call.lineno, "".join(map(text, call.args))


def test_what_checks_a_project_has_its_names(render, tmp_path):
    checks = variants.render_checks(render(**ODD), tmp_path)
    (checks / variants.MANIFEST).unlink()
    check_syntax(checks)
    check_names(checks, "nova", "openreg", DEVICE)


@pytest.mark.parametrize("question", EMPTY)
def test_what_may_be_empty(render, question):
    check_syntax(render(**EMPTY | {"author": "A", "author_email": "a@b"} | {question: ""}))


def test_nothing_said(render):
    project = render(**EMPTY)
    check_syntax(project)
    metadata = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not metadata.keys() & {"authors", "urls", "description"}


STARTERS = "- /+ /* /1. /23) /# /> /```/~~~/---/===/    /<b>/[x]: y/a_b_ & /| a | ".split("/")


@pytest.mark.parametrize("starter", STARTERS)
def test_a_description_is_a_paragraph_of_the_readme(starter):
    """Whatever Markdown makes of how a line begins."""
    readme = (variants.ROOT / "template" / "README.md.jinja").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\{\{ description .*$", readme, re.MULTILINE)
    filters = jinja2.Environment(extensions=["jinja2_ansible_filters.AnsibleCoreFiltersExtension"])
    written = filters.from_string(line).render(description=f"{starter}one line")
    _, paragraph = markdown_it.MarkdownIt().enable("table").parse(f"# Title\n\n{written}\n\nThe next.\n")[1:6:3]
    assert paragraph.type == "inline" and paragraph.map == [2, 3]
    assert "".join(child.content for child in paragraph.children or ()) == f"{starter}one line".strip()


def test_lists_in_the_project_file_have_one_item_a_line(render):
    """So that a vendor's item and the template's new one aren't edits of one line."""
    text = (render(**ODD) / "pyproject.toml").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if re.match(r"[\w.-]+ = \[.*\]", line)] == []


@pytest.mark.parametrize("license", LICENSES)
def test_licenses(render, license):
    project = render(license=license, author="The Chip Company")
    text = (project / "LICENSE").read_text(encoding="utf-8")
    assert LICENSES[license] in text
    metadata = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["license"] == ("LicenseRef-Proprietary" if license == "proprietary" else license)
    assert "The Chip Company" in text or license == "Apache-2.0"  # whose text names no holder
    assert not re.search(r"(?i)copyright.*\b20\d\d\b", text), "a year would change with every update"


def test_every_license_that_is_offered_is_tested():
    assert set(variants.questions()["license"]["choices"].values()) == LICENSES.keys()


def includes(project, folder):
    for path in sorted((project / folder).rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for name in re.findall(r'^\s*#\s*include\s+[<"](.+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE):
                yield path, name


CLOCK = r"(?:perf_counter|monotonic|process_time|thread_time|time\.time|os\.times|steady_clock::now|getrusage)\("
# Which of two events was first is no matter of time.
ELAPSED = r"elapsed_ms\(|elapsed_time\(\w+\) [<>]=? [1-9]"


def judged_by_a_clock(text):
    """Lines whose outcome depends on how long something took. A loop may end by the clock, so that nothing hangs."""
    measured = re.findall(rf"\b(\w+) = .*{CLOCK}", text)
    for line in text.splitlines():
        begins = line.lstrip().split("(")[0].split(" ")[0]
        judges = begins in ("assert", "return", "if") or begins.startswith(("EXPECT_", "ASSERT_"))
        limit = re.search(r"[<>]=?\s*\d[\d._']*(?![\d._'\s]*\*)|EXPECT_L[TE]\(.*, [\d.']+\)", line)
        names = "|".join([CLOCK, ELAPSED, *(rf"\b{name}\b" for name in measured)])
        if judges and limit and re.search(names, line):
            yield line
    # A wait that may end early on a busy machine, and what is asserted next; a group with too little time to begin.
    yield from re.findall(r".*\.join\([12]?\d(?:\.\d+)?\)\n\s*assert .*", text)
    short = r"timeout=timedelta\((?:milliseconds=|seconds=[12]?\d\))"
    yield from re.findall(rf"^ *\w[^\"\n]*new_group\(.*{short}.*", text, re.MULTILINE)


def test_no_test_is_judged_by_a_clock(render):
    project = render(op_set="full", runtime="opencl")
    folders = [project / "tests", project / "runtime", project / "examples", TESTS]
    looked_at = [path for folder in folders for path in folder.rglob("*") if {*path.suffixes} & {".py", ".cpp", ".h"}]
    assert len(looked_at) > 100
    found = {path.name: list(judged_by_a_clock(path.read_text(encoding="utf-8"))) for path in looked_at}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("begin = time.perf_counter()\ntook = time.perf_counter() - begin\nassert took < 0.15\n", 1),
        ("started = time.monotonic()\nassert time.monotonic() - started < 2\n", 1),
        ("started = time.monotonic()\nreturn time.monotonic() - started < 0.05\n", 1),
        ("assert 0 <= start.elapsed_time(end) < 60_000\n", 1),
        ("  EXPECT_LT(start.elapsed_ms(end), 10'000.0);\n", 1),
        ("    thread.join(5)\n    assert returned\n", 1),
        ("    thread.join(60)\n    assert returned\n    thread.join()\n    assert returned\n", 0),
        ("group = dist.new_group(timeout=timedelta(seconds=2))\n", 1),
        ("group = dist.new_group(timeout=timedelta(hours=1))\n", 0),
        ("deadline = time.monotonic() + 60\nwhile time.monotonic() < deadline:\n", 0),
        ("most = 1e3 * (time.perf_counter() - begin)\nassert 45 <= runtime.elapsed(a, b) <= 1.1 * most\n", 0),
    ],
)
def test_what_is_judged_by_a_clock(text, count):
    assert len(list(judged_by_a_clock(text))) == count


def test_the_runtime_knows_no_torch(render):
    found = list(includes(render(op_set="full"), "runtime"))
    assert found
    for path, name in found:
        assert not name.startswith(("torch/", "ATen/", "c10/", "pybind11/", "Python.h")), path


def test_the_integration_knows_torch_and_the_headers_of_the_runtime(render):
    project = render(op_set="full")
    generated = {"native_functions.h", "default_runtime.h"}
    system = {"dlfcn.h", "pthread.h", "sys/syscall.h", "unistd.h"}
    in_torch = {"libkineto.h", "output_base.h"}
    own = {path.relative_to(project / "csrc").as_posix() for path in (project / "csrc").rglob("*.h")}
    of_runtime = {f"{DEVICE}_{name}.h" for name in ("runtime", "kernels", "emulator")}
    allowed = own | generated | system | in_torch | of_runtime
    found = list(includes(project, "csrc"))
    assert any(name == f"{DEVICE}_runtime.h" for _, name in found)
    for path, name in found:
        standard = "/" not in name and "." not in name
        assert standard or name in allowed or name.startswith(("torch/", "ATen/", "c10/", "pybind11/")), (path, name)
        # It includes all of ATen, all of autograd and the C++ frontend: 25 seconds and 1.4 GB for each file.
        assert name not in ("torch/extension.h", "torch/torch.h", "torch/all.h"), path


def test_headers_export_by_what_clang_heeds_too(render):
    """An attribute of a namespace reaches, with clang, no function that is defined in a plain one."""
    exported = 0
    for path in (render() / "csrc").rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^namespace \w+ [A-Z0-9_]+ \{|^namespace .*__attribute__", text, re.MULTILINE), path
        pushed = re.findall(r"^#pragma GCC visibility (.*)$", text, re.MULTILINE)
        assert pushed in ([], ["push(default)", "pop"]), path
        exported += bool(pushed)
    assert exported > 10


def test_what_differs_between_torchs_releases_stands_in_one_place_and_goes_with_them(render):
    project = render(op_set="full")
    (place,) = [
        path for path in (project / "csrc").rglob("*") if path.is_file() and "TORCH_VERSION" in path.read_text()
    ]
    assert place.name == "_compat.h"
    bounds = [divmod(int(release), 1000) for release in re.findall(r"_TORCH >= (\d+)", place.read_text())]
    looks = r"__version__ *[<>=]+ *\(?\"?(\d+)[.,] ?(\d+)|__version__\.split|TORCH_VERSION"
    package = [path for path in project.glob("torch_*/**/*.py") if re.search(looks, path.read_text())]
    assert {path.name for path in package} == {"_compat.py", "_checks.py"}  # the latter asks what it was built with
    (replaced,) = [path.read_text() for path in package if path.name == "_compat.py"]
    bounds += [(int(major), int(minor)) for major, minor in re.findall(looks, replaced)]
    lines = (project / "csrc" / "aten" / "ops.yaml").read_text()
    bounds += [
        (int(major), int(minor)) for major, minor in re.findall(r"^- .*torch: '?[<>=]+(\d+)\.(\d+)", lines, re.M)
    ]
    minimum = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))["torch_minimum"]["default"]
    assert len(bounds) > 1
    assert min(bounds) > tuple(map(int, minimum.split("."))), "no torch that this builds with needs it any more"


def test_every_mutation_finds_its_line(render, tmp_path):
    project = render(op_set="full")
    checks = variants.render_checks(project, tmp_path)
    for one in yaml.safe_load((checks / "mutations.yml").read_text(encoding="utf-8")):
        assert all((project / test).is_file() for test in one["tests"]), one["name"]
        assert (project / one["file"]).read_text(encoding="utf-8").count(one["replace"]) == 1, one["name"]


def group(pyproject, name):
    for entry in pyproject["dependency-groups"][name]:
        if isinstance(entry, str):
            yield re.split(r"[<>=;\s]", entry)[0]
        else:
            yield from group(pyproject, entry["include-group"])


def test_what_a_rendered_project_needs_is_installed_here(render):
    """The built variants use this environment; its list must not fall behind theirs."""
    theirs, ours = (tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
                    for root in (render(), variants.ROOT))  # fmt: skip
    assert set(group(theirs, "dev")) <= set(group(ours, "dev"))


def test_names_of_the_libraries_that_are_tested_are_reserved(render):
    pyproject = tomllib.loads((render() / "pyproject.toml").read_text(encoding="utf-8"))
    libraries = {name.replace("-", "_") for name in group(pyproject, "ecosystem")}
    assert libraries == set(reserved_names.LIBRARIES)


# Of the wheels that the tests of custom operators build, which differ in a few words.
TWINS = re.compile(r"tests/aten/custom/(second|stable)_wheel/(.*/__init__.py|pyproject.toml)")


def test_of_the_templates_own_files_none_is_taken_for_another(render, monkeypatch):
    """As if one of them had gone and another one were new; and each is found when every second line is another."""
    monkeypatch.syspath_prepend(variants.ROOT / "template" / "tools")
    moved = importlib.import_module("moved")
    project = render()
    files = {path.relative_to(project).as_posix(): path.read_bytes() for path in project.rglob("*") if path.is_file()}
    having: dict[str, set[str]] = {}
    for name, data in files.items():
        for line in moved.lines_of(data):
            having.setdefault(line, set()).add(name)
    own: dict[str, set[str]] = {name: set() for name in files}
    shared: dict[tuple[str, str], set[str]] = {}
    for line, names in having.items():
        if len(names) == 1:
            own[min(names)].add(line)
        if len(names) == 2:
            one, other = sorted(names)
            shared.setdefault((one, other), set()).add(line)
            shared.setdefault((other, one), set()).add(line)
    wrong = [
        (name, other)
        for (name, other), lines in shared.items()
        if moved.most_alike(files[name], own[name] | lines, {other: files[other]}) and not TWINS.fullmatch(name)
    ]
    assert wrong == [] and len(shared) > 500

    lost, seen = [], 0
    for name, data in files.items():
        lines = moved.lines_of(data)
        edited = moved.joined(f"{number}\n" if number % 2 else line for number, line in enumerate(lines))
        seen += len(lines) > 30
        if len(lines) > 30 and moved.most_alike(data, own[name], {name: edited}) is None:
            lost.append(name)
    assert lost == [] and seen > 300
