"""What the guide says of a rendered project is what stands there."""

import ast
import importlib.util
import mmap
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import variants
import yaml
from conftest import DEVICE, MATRIX, ODD

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [page.stem for page in sorted(DOCS.glob("*.md")) if re.search("^```py", page.read_text("utf-8"), re.MULTILINE)]
# A fence that the build of the guide fills: its name, its argument and its options.
DIRECTIVE = re.compile(
    r"^```\{(?!toctree)([a-z-]+)\} ?(.*)\n((?::.*\n)*)```$",
    re.MULTILINE,
)
# What prints messages: of a rendered project, and of torch.
SOURCES = "csrc runtime torch_nova codegen cmake metadata tools Makefile CMakeLists.txt".split()
LIBRARIES = ("torch_cpu", "torch_python", "c10")
# Words that a command begins with, so that what is quoted is no message.
COMMAND = re.compile(r"(make|cmake|copier|git|pip|pipx|python|ops|apt|[A-Z_]+=\S+) |.*(->|[{}()=])")
# Of a message, what is not the same each time: names, numbers, dtypes, and what stands for them here.
VARIABLE = re.compile(r"…|'[^']*'|\bnova\b(?:::\w+|:\d)?|\b\d[\d.]*|\b(?:b?float|int|complex)\d+\b")

COMMANDS = [page.stem for page in sorted(DOCS.glob("*.md")) if "\n```console\n" in page.read_text("utf-8")]
# What takes long has tests of its own: of make it is the target and its variables that are looked at. The tools that
# need a terminal or a kernel's permission aren't run. new-op writes into the tree that it is imported from.
SHELL = """
set -eux
make() {
  command make --dry-run PYTHON=python "$@" > /dev/null
  if test "$1" = variant; then .venv/bin/python tools/variants.py "${2#ANSWERS=}" --make help; fi
}
apt() { test "$1" = install; }
git() { if test "$1" = commit; then shift; set -- commit --quiet --allow-empty "$@"; fi; command git "$@"; }
gdb() { test "$1" = --args; }
pip() { test "$1" = install; }
perf() { test "$1" = record || test "$1" = report; }
pre-commit() { test "$1" = install; }
cmake() { if test "$1" = --build; then shift; has_preset build "$2"; else has_preset configure "$2"; fi; }
ctest() { has_preset test "$2"; }
has_preset() { command cmake --list-presets="$1" | grep --quiet "\"$2\""; }
python() { case "$3" in new-op) "$HERE" "$@" ;; *) "$BUILT" "$@" ;; esac; }
"""
# Of an update in the files at the top it is the options that are looked at, since docs/update.md makes one. There is
# nobody to answer questions.
COPIER = """
copier() {
  case "$*" in
    update*) command copier "$@" --help > /dev/null ;;
    *--defaults*) command copier "$@" ;;
    *) command copier "$@" --defaults --data device_name=nova ;;
  esac
}
"""

IDENTITY = {f"GIT_{who}_{what}": "tests@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@cache
def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_extensions" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shown(render):
    """The project that the guide shows code from."""
    return render(**yaml.safe_load((variants.ROOT / "examples/opencl.yml").read_text(encoding="utf-8")))


def rows(text, pattern):
    return re.findall(rf"^\| `\w*?({pattern}\w+)` \| (.*) \|$", text, re.MULTILINE)


def test_every_status_has_a_row(render):
    project = render(device_name="nova")
    header = (project / "runtime/include/nova_runtime.h").read_text(encoding="utf-8")
    statuses = re.findall(r"^  NOVA_(ERROR_\w+) = \d+", header, re.MULTILINE)
    told = rows((project / "docs/errors.md").read_text(encoding="utf-8"), "ERROR_")
    assert [name for name, _ in told] == statuses


def test_every_variable_that_is_read_has_a_row(render):
    project = render(device_name="nova", runtime="opencl")
    sources = [
        path for room in ("csrc", "runtime/emulator", "runtime/opencl") for path in (project / room).rglob("*.cpp")
    ]
    read = {name for path in sources for name in re.findall(r'"(NOVA_[A-Z_]+)"', path.read_text(encoding="utf-8"))}
    told = re.findall(r"^\| `(NOVA_\w+)` \|", (project / "docs/environment.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(told) == sorted(read) and len(read) >= 11


def test_the_header_has_as_many_functions_as_the_guide_says(render):
    header = (render(device_name="nova") / "runtime/include/nova_runtime.h").read_text(encoding="utf-8")
    functions = re.findall(r"^NOVA_API nova_status\s+nova_\w+\(", header, re.MULTILINE)
    assert f"`runtime/include/nova_runtime.h` has {len(functions)} functions" in (DOCS / "device.md").read_text("utf-8")


def test_the_optional_functions_are_listed_from_the_header(shown, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it imports a module of the project
    listing, header = extension("optional_functions"), shown / "runtime/include/nova_runtime.h"
    functions = listing.reader(shown).functions(header)
    optional = [each for each in functions if not each.required]
    told = listing.table(functions)[2:]
    listed = re.findall(r"`(nova_\w+)`( \(`csrc/` doesn't call it\))?", "\n".join(row.split("|")[2] for row in told))
    assert sorted(listed) == sorted(
        (each.name, "" if each.called else " (`csrc/` doesn't call it)") for each in optional
    )
    assert len({row.split("|")[1] for row in told}) == len({each.section for each in optional})
    # What the header says of csrc/ is so.
    sources = (
        path for path in (shown / "csrc").rglob("*") if path.suffix in (".h", ".cpp") and path.name != "runtime.h"
    )
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    called = {f"nova_{name}" for name in re.findall(r"(?:\.|NOVA_[A-Z]+\(\s*)(\w+)\b", text)}
    assert [each.name for each in optional if each.called != (each.name in called)] == []


def test_the_files_that_the_guide_names_are_there(render):
    project = render(device_name="nova", runtime="opencl")
    named = set()
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page.stem == "openreg":  # its files stand in the first column
            text = re.sub(r"^\| .*? \|", "", text, flags=re.MULTILINE)
        named |= set(re.findall(r"`((?:runtime|csrc|tests|codegen|examples)/[\w./]+)`", text))
    named -= {"tests/vendor/"}  # what the vendor adds
    assert len(named) > 15
    suffixes = ("", ".h", ".cpp", ".py")
    missing = [name for name in sorted(named) if not any(Path(f"{project / name}{end}").exists() for end in suffixes)]
    assert missing == []


def test_the_map_names_files_that_are_where_it_says(render):
    project = render(device_name="nova")
    text = (project / "ARCHITECTURE.md").read_text(encoding="utf-8")
    seen, missing = 0, []
    for heading, section in re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", text, re.MULTILINE):
        top = project / heading if heading.endswith("/") else project
        for room, told in re.findall(r"^\| `([\w/]+/)` \| (.*) \|$", section, re.MULTILINE):
            names = re.findall(r"`([\w.]+(?:/|\.\w+))`", told)
            missing += [f"{room}{name}" for name in names if not any((top / room).rglob(name.rstrip("/")))]
            seen += len(names)
    assert missing == []
    assert seen > 20


def test_lines_for_libraries_are_lines_of_their_tests(shown):
    page = (DOCS / "libraries.md").read_text(encoding="utf-8").partition("## Dtypes")[0]
    cells = re.findall(r"^\| .*? \| (.*?) \|", page, re.MULTILINE)
    lines = [line for cell in cells for line in re.findall(r"`([^`]*[=(.][^`]*)`", cell)]
    tests = "".join(path.read_text(encoding="utf-8") for path in (shown / "tests/ecosystem").glob("*.py"))
    assert len(lines) > 10
    assert [line for line in lines if line.rstrip(")") not in tests] == []


def test_the_guide_names_what_ends_a_graph(render):
    test = (render(device_name="nova") / "tests/compile/test_graph_ends.py").read_text(encoding="utf-8")
    ends = re.search(r"^ENDS = \{\n(.*?)^\}", test, re.MULTILINE | re.DOTALL)
    names = re.findall(r'^    "([\w.]+)":', ends[1] if ends else "", re.MULTILINE)
    page = re.search(
        r"^- Inside a compiled function the graph ends at (.*?) of `torch.nova`",
        (DOCS / "compile.md").read_text("utf-8"),
        re.M | re.S,
    )
    assert page is not None and len(names) > 5
    assert sorted(re.findall(r"`([\w.]+)`", page[1])) == sorted(names)


def test_files_have_moved_to_where_the_changelog_says(shown):
    def paths(cell):
        names = re.findall(r"`([\w<>./]+(?:/|\.(?:h|cpp|py|md)))`", cell)
        return [name.replace("<package>", "torch_nova").replace("<device>", "nova") for name in names]

    text = (variants.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    table = re.search(r"^\| was \| is \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    moves = re.findall(r"^\| (.*) \| (.*) \|$", table[1] if table else "", re.MULTILINE)
    missing = []
    for was, now in moves:
        old, new = paths(was), paths(now)
        roots = [shown, shown / "csrc", shown / "runtime/emulator"]
        # Where a cell names several, the later ones stand where the first does, or where they were.
        roots += [root / Path(name).parent for root in roots for name in new[:1] + old[:1]]
        missing += [name for name in new if not any((root / name).exists() for root in roots)]
        if len(new) == 1 and new[0].endswith("/"):
            moved = [new[0] + Path(name).name for name in old if not name.endswith("/")]
            missing += [name for name in moved if not any((root / name).exists() for root in roots)]
    assert missing == []
    assert len(moves) > 40


def test_every_page_is_in_the_index():
    listed = re.findall(r"^[\w-]+$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


def test_every_directive_finds_what_it_shows(shown):
    excerpt = extension("rendered").excerpt
    for page in DOCS.glob("*.md"):
        for kind, argument, options in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            if kind == "rendered":
                ends = {key: text.strip('"') for key, text in re.findall("^:(\\w+): (.*)$", options, re.MULTILINE)}
                text = (shown / argument).read_text(encoding="utf-8")
                assert excerpt(text, ends.get("from"), ends.get("to")).count("\n") < 90, (page.name, argument)


def test_a_page_that_is_read_raw_says_what_stands_where_a_directive_is():
    seen = 0
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for found in DIRECTIVE.finditer(text):
            before = DIRECTIVE.sub("", text[: found.start()]).split("\n#")[-1]  # what its section says so far
            kind, argument, _ = found.groups()
            assert (argument if kind == "rendered" else "built guide") in before, (page.name, kind, argument)
            seen += 1
    assert seen > 20


def names_of_tests(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cpp":
        return {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.MULTILINE)}
    names = set()
    for node in ast.parse(text).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        names |= {prefix + each.name for each in members if isinstance(each, ast.FunctionDef)}
    return names


def test_every_capability_names_files_and_tests_that_exist(shown, tmp_path):
    of_project = variants.render_checks(shown, tmp_path)
    listed = yaml.safe_load((DOCS / "capabilities.yml").read_text(encoding="utf-8"))
    rows = [row for rows in listed.values() for row in rows]
    assert len(rows) > 70
    wrong = []
    for row in rows:
        for name in row["where"]:
            if not (any(shown.glob(name)) or (variants.ROOT / name).exists()):
                wrong.append((row["what"], name))
        assert row["test"], row["what"]
        for test in row["test"]:
            file, _, name = test.partition("::")
            name, _, parameter = name.partition("[")
            places = (shown / file, variants.ROOT / file, of_project / file.removeprefix("tests/project/"))
            path = next((each for each in places if each.is_file()), None)
            known = path is not None and name in names_of_tests(path)
            if not known or (parameter and parameter.rstrip("]") not in PAGES + COMMANDS):
                wrong.append((row["what"], test))
    assert wrong == []


def messages(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    quoted = [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", prose)]
    found = [each for each in quoted if each.count(" ") > 1 and not COMMAND.match(each)]
    found += [line for block in blocks for line in block.splitlines() if re.match(r"\w+Error: ", line)]
    return [re.sub(r"^(\w*Error: )+", "", each) for each in found]


def printed_by_torch(words):
    libraries = [Path(extension("torch_headers").include_folder().parent, "lib", f"lib{each}.so") for each in LIBRARIES]
    for library in libraries:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content.find(words.encode()) >= 0:
                return True
    return False


def test_messages_that_pages_quote_are_printed(render, shown):
    """The parts of a message that are always the same stand in what is rendered, or in torch's libraries."""
    sources = ""
    for project in (shown, render(device_name="nova", fallback=False)):
        for name in SOURCES:
            paths = [project / name, *(project / name).rglob("*")]
            sources += "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    # A string that is written in several pieces is one.
    sources = re.sub(r'"\s*\n\s*f?"', "", sources).replace('\\"', '"')
    unknown, seen = [], 0
    for page in sorted(DOCS.glob("*.md")):
        for message in [] if page.stem == "questions" else messages(page.name):  # it quotes answers
            parts = [part.strip(" .:,;`") for part in VARIABLE.split(message)]
            parts = [part for part in parts if len(part) > 5]
            seen += 1
            missing = [part for part in parts if part not in sources and not printed_by_torch(part)]
            unknown += [(page.name, message, missing)] if missing or not parts else []
    assert unknown == []
    assert seen > 5


def test_the_stubs_are_those_of_torchs_headers():
    headers = extension("torch_headers")
    found = headers.stubs(headers.include_folder())
    assert "logical_not_stub" in found["ATen/native/UnaryOps.h"]
    assert sum(map(len, found.values())) > 200


def test_the_readme_tells_how_many_files_are_rendered(render):
    answers = yaml.safe_load((variants.ROOT / "examples/default.yml").read_text(encoding="utf-8"))
    count = sum(path.is_file() for path in render(**answers).rglob("*"))
    assert f"it renders {count} files" in (variants.ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_of_stubs_shows_them():
    assert "\n```{stubs}\n```" in (DOCS / "stubs.md").read_text(encoding="utf-8")


def test_the_page_of_hooks_has_each_that_is_overridden(shown):
    files = ["device/hooks.h", "memory/memory_hooks.cpp"]
    text = "".join((shown / "csrc" / file).read_text(encoding="utf-8") for file in files)
    overridden = set(re.findall(r"(\w+)\([^()]*\) const override", text))
    assert len(overridden) > 10
    page = (DOCS / "hooks.md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == overridden


def test_the_releases_of_torch_are_those_of_the_questions_file():
    computed = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    update, readme = (path.read_text(encoding="utf-8") for path in (DOCS / "update.md", variants.ROOT / "README.md"))
    told = dict(rows(update, "torch_"))
    assert len(told) == 3
    for name, row in told.items():
        assert row.startswith(f"{computed[name]['default']} | "), name
    minimum, tested, newest = (computed[f"torch_{name}"]["default"] for name in ("minimum", "tested", "newest"))
    assert f"builds with PyTorch {minimum} to {newest}. All tests run with {tested}; " in readme
    for text in (update, readme):
        assert f"`make test-torch TORCH={newest}.0`" in text


def test_each_operator_without_a_kernel_has_a_reason(shown, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    listing = extension("without_kernel")
    names, rows = listing.without_kernel(shown), listing.reasons()
    assert {"lgamma", "cauchy", "__lshift__", "mode"} <= names and not names & {"add", "logit", "searchsorted"}
    assert [*listing.problems(rows, names)] == []
    assert [*listing.problems(rows[1:], names)] == [
        f"without_kernel.yml has _ctc_loss{end} in 0 rows" for end in ("", "_backward")
    ]
    assert [*listing.problems([*rows, {"operators": ["add*"]}], names)] == ["without_kernel.yml lists add* for nothing"]


def test_stubs_are_listed_with_the_operators_that_they_serve(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    import torch_headers

    operators, listed = torch_headers.torch_operators(), yaml.safe_load(torch_headers.LIST.read_text(encoding="utf-8"))
    bases = {torch_headers.base_name(operator) for operator in operators}
    declared = {
        name: header for header, names in torch_headers.stubs(torch_headers.include_folder()).items() for name in names
    }
    served = torch_headers.operators_by_stub([*declared], operators, listed)
    assert served["add_stub"] == ["add"] and served["linspace_stub"] == ["linspace"]
    assert served["mse_stub"] == ["mse_loss"] and served["qadd_stub"] == []
    of_others = torch_headers.OF_OTHERS
    assert [name for name, header in declared.items() if not served[name] and not of_others.search(header + name)] == []
    assert [op for ops in served.values() for op in ops if op not in operators | bases] == []


@pytest.fixture(scope="module")
def said(build):
    """What is wrong with each page, all of them run by one program: most of its time goes into importing torch."""
    python = variants.project_python(build(**MATRIX["default"]))
    runner = Path(__file__).with_name("page.py")
    command = [str(python), str(runner), f"torch_{DEVICE}", DEVICE, *(str(DOCS / f"{page}.md") for page in PAGES)]
    done = subprocess.run(command, env=variants.environment(python), capture_output=True, text=True)
    assert done.stdout.count("\0") == len(PAGES), done.stdout + done.stderr
    return dict(zip(PAGES, done.stdout.split("\0"), strict=False))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_comes_out(said, page):
    assert said[page] == ""


@pytest.fixture(scope="module")
def copied(repository, tmp_path_factory):
    return variants.render(repository, tmp_path_factory.mktemp("copied") / "project", {"device_name": DEVICE})


def in_the_shell(project, commands, script="", **variables):
    """Each block of commands in a repository, with what is left of the ones before."""
    commit = "git commit --message"
    script = SHELL + script + f"git init --quiet && git add --all && {commit} Rendered\n"
    for block in commands:
        script += f"{block}\ngit add --all && {commit} Next\n"
    here = variants.thin_environment(project / ".venv")
    environment = variants.environment(here) | {"HERE": str(here)} | IDENTITY | variables
    done = subprocess.run(["bash", "-c", script], cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# Updates are what test_update_report.py makes, too, with fewer files.
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.long) if page == "update" else page for page in COMMANDS]
)
def test_what_a_page_says_to_the_shell_is_understood(build, copied, tmp_path, page):
    text = (
        (DOCS / f"{page}.md")
        .read_text(encoding="utf-8")
        .replace("torch_nova", f"torch_{DEVICE}")
        .replace("NOVA", "LUMEN")
    )
    python = variants.project_python(build(**MATRIX["default"]))
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    commands = ["\n".join(re.findall(r"^\$ (.*)$", block, re.MULTILINE)) for block in blocks]
    in_the_shell(shutil.copytree(copied, tmp_path / "project"), commands, BUILT=str(python))


@pytest.mark.matrix
@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
@pytest.mark.parametrize("whose", ["ours", "rendered"])
def test_what_the_files_at_the_top_say_to_the_shell_is_understood(request, repository, tmp_path, whose, file):
    project, variables = tmp_path / "project", {"VARIANTS_DIR": str(tmp_path / "project/build/variants")}
    if whose == "rendered":
        shutil.copytree(request.getfixturevalue("copied"), project)
        built = request.getfixturevalue("build")(**MATRIX["default"])
        variables["BUILT"] = str(variants.project_python(built))
    else:
        variants.snapshot(project, ["."])
    text = (project / file).read_text(encoding="utf-8").replace("<where this repository is>", str(repository))
    commands = re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert commands
    in_the_shell(project, commands, COPIER, **variables)


def test_the_questions_of_the_sources_have_answers():
    text = (DOCS / "faq.md").read_text(encoding="utf-8").split("## Questions")[1]
    answers = re.findall(r"^(\*\*.+?\?\*\* .+?)(?=^\*\*|\Z)", text, re.MULTILINE | re.DOTALL)
    words = ["Limited API", "static libtorch", "Triton", "PythonArgParser", "torch header", "HooksInterface"]
    for asked in words:
        assert sum(asked in answer and len(answer) > 100 for answer in answers) == 1, asked


@pytest.mark.long
def test_the_rendered_project_has_a_site_of_its_own(build):
    answers = MATRIX[ODD]
    device, package = answers["device_name"], answers["package_name"]
    project = build(**answers)
    done = variants.make(project, "docs", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    python = (project / "build/docs/html/python.html").read_text(encoding="utf-8")
    assert f"{package}.{device}.streams.Stream" in python
    if shutil.which("doxygen"):
        cpp = (project / "build/docs/html/cpp.html").read_text(encoding="utf-8")
        assert f"torch_{device}" in cpp and f"{device}_kernel_get" in cpp


@pytest.mark.long
def test_a_newcomer_ends_with_a_trained_model(repository, tmp_path):
    """What `start in five minutes` says, by copy and paste; it installs torch and compiles, as on a bare machine."""
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    script = "set -eux\n" + "".join(re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    template = tmp_path / "template"
    subprocess.run(["git", "clone", "--quiet", repository, template], check=True)
    script = script.replace("<where this repository is>", str(template))
    # An update brings something only if the template has gone on.
    newer = f"git -C {template} commit --allow-empty --message Newer\n"
    assert script.count("copier update") == 1
    script = script.replace("copier update", newer + "copier update")
    environment = variants.environment(Path(sys.executable)) | IDENTITY
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test accuracy" in done.stdout
    assert "tensor([1, 2, 3], device='nova:0')" in done.stdout
