"""The benchmark script measures, reports and fails as it says; how fast anything is, is not tested here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "operators.py"
pytestmark = pytest.mark.quick


def bench(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "--quick", *arguments], capture_output=True, text=True, timeout=120)


def test_two_rows_are_measured_and_a_limit_names_them(tmp_path):
    result = bench("--rows", r"^(empty\(4\)|view)$", "--json", tmp_path / "rows.json", "--max-ratio", "0")
    assert result.returncode == 1, result.stderr
    assert "empty(4)" in result.stderr
    assert "view" in result.stderr

    report = json.loads((tmp_path / "rows.json").read_text())
    assert [row["row"] for row in report["rows"]] == ["empty(4)", "view"]
    for row in report["rows"]:
        assert row["cpu_us"] > 0
        assert row["device_us"] > 0
        assert row["ratio"] == pytest.approx(row["device_us"] / row["cpu_us"])
    low, high = sorted(row["ratio"] for row in report["rows"])
    assert low <= report["geometric_mean"]["operators"] <= high


def test_a_pattern_without_rows_lists_the_rows():
    result = bench("--rows", "no such row")
    assert result.returncode == 1
    assert "mm 512" in result.stderr
