"""How the report counts."""

import pytest
from summary import Summary


class Config:
    def getoption(self, name, default=None):
        return {"--report": "unused", "--whole": True}.get(name, default)


def result(entry, kind="forward", status="passed", compared=3, by="kernels"):
    return {
        "suite": "opinfo",
        "kind": kind,
        "dtype": "float32",
        "entry": entry,
        "status": status,
        "compared": compared,
        "by": by,
        "error": "why" if status == "failed" else None,
    }


@pytest.fixture
def summary():
    return Summary(Config())


def test_an_entry_fails_with_any_of_its_kinds(summary):
    assert summary.share([result("add"), result("add", "backward", "failed"), result("mul")]) == (1, 2)


def test_what_the_cpu_refuses_is_not_counted(summary):
    assert summary.share([result("add"), result("jiterator_unary", compared=0)]) == (1, 1)


def test_an_entry_is_carried_out_by_the_last_that_it_needs(summary):
    emulated = [result("add"), result("add", "backward", by="emulated"), result("mul"), result("eig", by="fallback")]
    refused = result("jiterator_unary", compared=0)
    assert summary.carried_out([*emulated, refused]) == [1, 1, 1]


def test_a_crash_counts_as_failed(summary):
    assert summary.share([result("add", status="crashed", compared=None)]) == (0, 1)


def test_an_exclusion_counts_unless_it_says_otherwise(summary):
    undefined = result("tril", "out_strided", "excluded", None)
    assert summary.share([result("tril"), undefined, result("add", status="excluded", compared=None)]) == (1, 2)


def test_too_few_that_pass_are_told(summary):
    summary.results = [result(f"op{number}") for number in range(300)] + [result("add", status="failed")]
    assert summary.short_of() == []
    summary.results.append(result("mul", status="failed"))
    assert summary.short_of() == ["float32"]
    assert "Less than the 99.5 % that are wanted: float32" in summary.text()
