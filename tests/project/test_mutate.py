"""What `make mutate` takes for red, and which breaks it refuses to make."""

import sys
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parent
pytestmark = [pytest.mark.quick, pytest.mark.once]


@pytest.fixture
def mutate(monkeypatch):
    monkeypatch.syspath_prepend(TESTS)
    import mutate

    return mutate


def test_each_break_is_of_one_line_and_has_a_name_of_its_own():
    breaks = yaml.safe_load((TESTS / "mutations.yml").read_text())
    assert len(breaks) >= 25
    assert len({one["name"] for one in breaks}) == len(breaks)
    for one in breaks:
        assert "\n" not in one["replace"] + one["by"]
        assert one["replace"] != one["by"]


@pytest.mark.parametrize(
    "text, problem",
    [("free(p);\n", ""), ("keep(p);\n", "0 times"), ("free(p);\nfree(p);\n", "2 times")],
)
def test_a_break_that_does_not_apply(mutate, text, problem):
    one = mutate.Break("free does nothing", "heap.cpp", "free(p);", "", [])
    assert problem in one.problem(text)
    assert bool(problem) == bool(one.problem(text))


@pytest.mark.parametrize(
    "body, red",
    [
        ("assert True", ""),
        ("assert x", "tests/test_sample.py::test_it[1 of two]"),
        ("import os; os.abort()", "tests/test_sample.py::test_it[1 of two], which ends the process by SIGABRT"),
        ("while True: pass", "tests/test_sample.py::test_it[1 of two], which does not end within 3 s"),
    ],
)
def test_red_is_a_failure_a_crash_and_a_hang(mutate, body, red, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sample.py").write_text(
        "import pytest\n\ndef test_before():\n    pass\n\n"
        f"@pytest.mark.parametrize('x', [0], ids=['1 of two'])\ndef test_it(x):\n    {body}\n"
    )
    copy = mutate.Copy([])
    copy.tree, copy.python, copy.log = tmp_path, Path(sys.executable), tmp_path / "log.txt"
    assert copy.first_red(["tests/test_sample.py"], {}, 3) == red


def test_a_file_of_tests_that_cannot_be_imported_is_red(mutate, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sample.py").write_text("import no_such_module\n")
    copy = mutate.Copy([])
    copy.tree, copy.python, copy.log = tmp_path, Path(sys.executable), tmp_path / "log.txt"
    assert copy.first_red(["tests/test_sample.py"], {}, 60) == "tests/test_sample.py"
