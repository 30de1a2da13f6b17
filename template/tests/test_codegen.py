"""The operator lists become C++ when they are right, and a sentence with file, line and advice when they are not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

ROOT = Path(__file__).parents[1]
OPS = ROOT / "csrc" / "aten" / "ops.yaml"

pytestmark = pytest.mark.quick

# What stands in a list of operators, and what the generator says of it. One run sees them all.
REFUSED = {
    "{op: adddmm, kind: emulated}": "torch has no operator aten::adddmm; did you mean addmm?",
    "{op: add.Tensr, kind: emulated}": "torch has no operator aten::add.Tensr; its overloads are add.Tensor, ",
    "{op: mul, kind: emulated}": "torch has no operator aten::mul; its overloads are mul.",
    "{op: abs, kind: emulatd}": "there is no kind emulatd; did you mean emulated?",
    "{op: exp, kind: emulated, tier: ful}": "there is no tier ful; did you mean full?",
    "{op: log, kind: emulated, teir: full}": "there is no key teir; did you mean tier?",
    "{op: cos, kind: native}": "cos is native, so the line needs `function: NAME`.",
    "{op: view, kind: aten}": "view is aten, so the line needs `function: NAME`.",
    "{op: as_strided, kind: aten, function: as_strided}": "as_strided has no function at::native::as_strided; "
    "did you mean as_strided_tensorimpl?",
    "{op: sin, kind: fallback, function: sin}": "fallback operators have no function of their own; ",
    "{op: neg, kind: native, function: neg, into: neg}": "`into: neg` is for native operators, in the place of `function`",
    "{op: sgn, kind: emulated, into: sgn}": "`into: sgn` is for native operators, in the place of `function`",
    "{op: reshape, kind: native, function: reshape}": "aten::reshape is composite (CompositeImplicitAutograd)",
    "{op: dropout, kind: emulated}": "would silently cut that; remove the line",
    "{op: asin, kind: emulated, torch: 2.14}": "torch has to be a release like '<2.14' or '>=2.14', not 2.14.",
    "{op: acos, kind: emulated, with_fallback: yes}": "there is no with_fallback yes; it can be true, false.",
    "{op: tan, kind: emulated, kind: native}": "kind is given twice.",
    "{op: [erf], kind: emulated}": "op has to be one word.",
    "{kind: emulated}": "the line needs `op`.",
    "sqrt": "a line has to be `- {op: NAME, kind: KIND, tier: TIER}`.",
}


def generate(out, template=OPS, vendor=None, op_set="full", arguments=()):
    if vendor is None:
        vendor = out.with_suffix(".yaml")
        vendor.write_text("[]")
    command = [sys.executable, ROOT / "codegen" / "generate.py", "--op-set", op_set, "--out", out, *arguments]
    return subprocess.run([*command, template, vendor], capture_output=True, text=True)


def kinds(out):
    return dict(re.findall(r'\{"aten::([\w.]+)", "(\w+)", "\w+"\}', (out / "registrations.cpp").read_text()))


def registered(out):
    text = "".join(path.read_text() for path in out.glob("registrations_*.cpp"))
    return re.findall(r'  register_\w+\((?:find_operator\()?"aten::([\w.]+)"', text)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The folder with what comes of the template's list, by operator set."""
    folder = tmp_path_factory.mktemp("generated")
    for op_set in ("minimal", "core", "full"):
        result = generate(folder / op_set, op_set=op_set)
        assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    vendor = folder / "ops.vendor.yaml"
    vendor.write_text("".join(f"- {line}\n" for line in REFUSED))
    result = generate(folder / "out", vendor=vendor)
    assert result.returncode == 1
    assert not (folder / "out").exists(), "a refused list must not leave half of the files"
    return [problem.removeprefix(f"{vendor}:") for problem in result.stderr.splitlines()]


@pytest.mark.parametrize(("number", "line"), list(enumerate(REFUSED, 1)), ids=list(REFUSED))
def test_a_wrong_line_is_refused_with_its_place_and_what_to_do(refusals, number, line):
    said = [problem for problem in refusals if problem.startswith(f"{number}: ")]
    assert len(said) == 1
    assert REFUSED[line] in said[0]


def test_an_operator_listed_twice_is_refused_with_both_places(tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    vendor.write_text("- {op: abs, kind: emulated}\n\n- {op: abs, kind: fallback}\n")
    result = generate(tmp_path / "out", vendor=vendor)
    assert result.returncode == 1
    assert result.stderr.strip() == f"{vendor}:3: abs is listed already at {vendor}:1; remove one of them."


def test_what_is_not_yaml_is_refused_with_its_line(tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    vendor.write_text("- {op: abs, kind: emulated}\n- {op: abs: emulated\n")
    result = generate(tmp_path / "out", vendor=vendor)
    assert result.returncode == 1
    assert re.match(rf"{re.escape(str(vendor))}:[23]: this is not YAML", result.stderr)


def test_a_second_run_writes_no_file_again(generated):
    files = list((generated / "full").iterdir())
    assert {path.name for path in files} == {"native_functions.h", "registrations.cpp", "registrations_0.cpp"}
    for path in files:
        os.utime(path, (1, 1))
    assert generate(generated / "full").returncode == 0
    assert sorted((generated / "full").iterdir()) == sorted(files)
    assert all(path.stat().st_mtime == 1 for path in files)


def test_a_line_more_changes_one_shard(generated, tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    vendor.write_text("- {op: atan2, kind: fallback}\n")
    assert generate(tmp_path / "out", vendor=vendor, op_set="minimal").returncode == 0
    before = {path.name: path.read_text() for path in (generated / "minimal").iterdir()}
    changed = {name for name, text in before.items() if (tmp_path / "out" / name).read_text() != text}
    assert len(changed) == 2
    assert "registrations.cpp" in changed


def test_a_vendors_line_replaces_that_of_the_template(tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    vendor.write_text("- {op: abs, kind: native, function: my_abs}\n- {op: 'aten::sub.Tensor', kind: fallback}\n")
    assert generate(tmp_path / "out", vendor=vendor, op_set="minimal").returncode == 0
    assert kinds(tmp_path / "out")["abs"] == "native"
    assert kinds(tmp_path / "out")["sub.Tensor"] == "fallback"
    assert registered(tmp_path / "out").count("abs") == 1
    header = (tmp_path / "out" / "native_functions.h").read_text()
    assert "at::Tensor my_abs(const at::Tensor & self);" in header


def test_one_function_serves_all_forms_of_an_operator(tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    forms = ("sinh", "sinh_", "sinh.out")
    vendor.write_text("".join("- {op: " + form + ", kind: native, into: sinh}\n" for form in forms))
    assert generate(tmp_path / "out", vendor=vendor, op_set="minimal").returncode == 0
    header = (tmp_path / "out" / "native_functions.h").read_text()
    assert header.count(" sinh(") == 1
    assert "bool sinh(const Output & out, const at::Tensor & self);" in header
    assert {form for form in registered(tmp_path / "out") if form.startswith("sinh")} == set(forms)


def test_each_operator_set_contains_the_smaller_one_and_registers_what_it_lists(generated):
    found = {op_set: kinds(generated / op_set) for op_set in ("minimal", "core", "full")}
    assert found["minimal"].items() < found["core"].items() < found["full"].items()
    for op_set, operators in found.items():
        assert sorted(registered(generated / op_set)) == sorted(operators)


def test_a_fallback_brings_what_the_cpu_cannot_serve(generated, tmp_path):
    assert generate(tmp_path / "with", op_set="minimal", arguments=("--fallback",)).returncode == 0
    more = kinds(tmp_path / "with").keys() - kinds(generated / "minimal").keys()
    lines = yaml.safe_load(OPS.read_text())
    assert more == {line["op"] for line in lines if line.get("with_fallback") and line["tier"] != "minimal"}
    assert "_thnn_fused_lstm_cell" in more


def test_a_line_for_another_torch_is_left_out(tmp_path):
    vendor = tmp_path / "ops.vendor.yaml"
    vendor.write_text("- {op: gone_since, kind: emulated, torch: <2.0}\n- {op: abs, kind: fallback, torch: '>=2.0'}\n")
    result = generate(tmp_path / "out", vendor=vendor, op_set="minimal")
    assert result.returncode == 0, result.stderr
    assert "gone_since" not in kinds(tmp_path / "out")
    assert kinds(tmp_path / "out")["abs"] == "fallback"


def test_the_templates_list_is_sorted():
    names = [line["op"] for line in yaml.safe_load(OPS.read_text())]
    assert names == sorted(set(names))


def test_no_listed_operator_loses_its_gradient(generated):
    # The generator reads this from torchgen's model; here the dispatcher itself is asked.
    def has(op, key):
        return torch._C._dispatch_has_kernel_for_dispatch_key(op, key)

    for name in kinds(generated / "full"):
        op = f"aten::{name}"
        returns = torch._C._get_schema(*op.partition(".")[::2]).returns
        if has(op, "CompositeImplicitAutograd") and any("Tensor" in str(result.type) for result in returns):
            assert has(op, "Autograd"), op
