"""The developer's loop: an edit made in a rendered tree finds its way back into the template."""

import json
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import copier
import pytest
import variants
import yaml


@pytest.fixture
def workshop(repository, tmp_path):
    """The repository, and what is rendered from it for development."""
    root, tree = tmp_path / "repository", tmp_path / "tree"
    shutil.copytree(repository, root)
    shutil.copytree(variants.ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    answers = yaml.safe_load((variants.ROOT / "examples" / "development.yml").read_text(encoding="utf-8"))

    def render(destination):
        settings = copier.Settings()
        copier.run_copy(
            str(root),
            destination,
            answers,
            vcs_ref="HEAD",
            defaults=True,
            quiet=True,
            overwrite=True,
            settings=settings,
        )
        return {
            path.relative_to(destination): path.read_text(encoding="utf-8")
            for path in destination.rglob("*")
            if path.is_file() and path.name != ".copier-answers.yml"
        }

    def carry_back(*paths):
        command = [sys.executable, str(root / "tools" / "carry_back.py"), str(tree), *paths]
        return subprocess.run(command, capture_output=True, text=True)

    render(tree)
    return tree, render, carry_back


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore::copier.errors.DirtyLocalWarning")
def test_edits_are_carried_back(workshop, tmp_path):
    tree, render, carry_back = workshop
    edit(
        tree / "runtime" / "emulator" / "checks" / "error.cpp",
        "#include",
        "// nova_init comes first in nova_backend (NOVA)\n#include",
    )
    edit(tree / "csrc" / "amp" / "autocast.cpp", "#include", "// another line\n#include")
    edit(tree / "Makefile", "lint: environment", "# beside a conditional: nova-backend\nlint: environment")
    (tree / "tests" / "test_new.py").write_text("# of nova_backend\n", encoding="utf-8")
    for done in (carry_back(), carry_back("tests/test_new.py")):
        assert done.returncode == 0, done.stdout + done.stderr

    wanted = {
        path.relative_to(tree): path.read_text(encoding="utf-8")
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".copier-answers.yml"
    }
    assert render(tmp_path / "again") == wanted
    assert carry_back().stdout == ""  # nothing is left to carry


@pytest.mark.filterwarnings("ignore::copier.errors.DirtyLocalWarning")
def test_an_edit_in_a_conditional_is_a_conflict_that_is_told(workshop):
    tree, _, carry_back = workshop
    edit(tree / "nova_backend" / "__init__.py", "import logging", "import logging, os")
    done = carry_back()
    assert done.returncode == 1 and done.stdout.startswith("CONFLICT nova_backend/__init__.py"), (
        done.stdout + done.stderr
    )


def test_a_trace_is_drawn_with_rows_bars_and_arrows(tmp_path):
    def event(category, name, start, duration, thread, process=1, **arguments):
        place = {"ph": "X", "cat": category, "pid": process, "tid": thread, "ts": start, "dur": duration}
        return place | {"name": name, "args": arguments}

    events = [
        event("cpu_op", "aten::before", 0, 5, 7),
        event("cpu_op", "aten::linear", 10, 50, 7),
        event("cpu_op", "aten::mm<&>", 12, 40, 7),
        event("privateuse1_runtime", "nova_launch", 20, 4, 7, correlation=3),
        event("kernel", "gemm", 30, 60, 0, process=0, correlation=3),
        event("kernel", "later", 100, 10, 0, process=0, correlation=4),
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "nova:0 stream 0"}},
    ]
    trace, picture = tmp_path / "trace.json", tmp_path / "picture.svg"
    trace.write_text(json.dumps({"traceEvents": events}))
    draw = [sys.executable, str(variants.ROOT / "tools/draw_trace.py"), str(trace), str(picture)]
    subprocess.run([*draw, "--from", "aten::linear", "--events", "1"], check=True)
    drawn = ElementTree.parse(picture).getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    titles = [title.text for title in drawn.iterfind(".//svg:title", space)]
    assert titles == ["aten::linear, 50.0 µs", "aten::mm<&>, 40.0 µs", "nova_launch, 4.0 µs", "gemm, 60.0 µs"]
    words = {text.text for text in drawn.iterfind("svg:text", space)}
    assert {"thread 7", "nova:0 stream 0", "80 µs"} <= words
    assert len(drawn.findall("svg:path", space)) == 1 and len(drawn.findall("svg:rect[@class='row']", space)) == 4
