"""What the rendered header says of kernels is what their data say."""

import re
import subprocess
import sys

import kernel_header
import pytest
import variants

COMMAND = [sys.executable, str(variants.ROOT / "tools" / "kernel_header.py"), "--check"]
CONTRACT = """
elementwise:
- {kernel: neg, dtypes: all, formula: -a, tolerance: 0}
- {kernel: elu, dtypes: floating, parameters: {alpha: [1]}, formula: alpha * a, tolerance: 8}
reductions: []
others:
  rows:
  - {kernel: f, dtypes: bytes, arguments: [output, a or null, nova_rows], formula: [b = a, output = b], tolerance: 2}
pairs: []
"""
EMPTY = "".join(f"/* Kernels of the group {name} */\n" for name in ("elementwise", "reductions", "rows", "casts"))


def test_the_header_is_up_to_date():
    done = subprocess.run(COMMAND, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_it_says():
    text = kernel_header.with_kernels(EMPTY, CONTRACT)
    assert " *   neg_D (all, exact): -a\n *   elu_D (floating, tolerance 8; alpha): alpha * a\n" in text
    assert " *   f_N (tolerance 2): output, a or null, {{ device_name }}_rows\n" in text
    assert "_rows\n *     b = a\n *     output = b\n" in text
    assert kernel_header.with_kernels(text, CONTRACT) == text


def test_names_that_vendors_may_give_stay_free(render):
    named = re.findall(r"\bvendor_\w+", "".join(path.read_text() for path in (render() / "runtime").rglob("*.[chy]*")))
    assert {*named} == {"vendor_sinc"}, "the example in the vendor's own file"


def test_a_group_needs_a_place():
    with pytest.raises(SystemExit, match="no comment for rows"):
        kernel_header.with_kernels(EMPTY.replace("rows", "elementwise"), CONTRACT)
