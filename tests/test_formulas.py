"""The formulas of the kernel contract in OpenCL C. What comes out for them, `make contract` compares on a device."""

import subprocess
import sys

import pytest
import yaml
from conftest import DEVICE, MATRIX

OWN = """
dtypes:
  own: [float64, uint8]
elementwise:
- {kernel: vendor_sinc, dtypes: floating, inputs: 1, formula: sinc(a), tolerance: 8}
- {kernel: vendor_mixed, dtypes: own, inputs: 2, parameters: {e: [1]}, result: bool,
   formula: 'where(a > 0.5, a % b, e)',
   tolerance: 0}
reductions:
- {kernel: vendor_rms, dtypes: floating, formula: 'sqrt(mean(a ** 2, dims))', tolerance: 16}
"""
ONE = "elementwise: [{kernel: vendor_one, dtypes: floating, inputs: 1, formula: a, tolerance: 0}]\n"
FLOATS = '{"float32", "float16", "bfloat16", "float64"}'
# A formula, the dtypes that it is for, and what there are no words for.
WITHOUT_WORDS = {
    "i0(a)": ("floating", "i0(a)"),
    "exp(a)": ("numbers", "exp(a)"),
    "a * 0.5": ("numbers", "0.5"),
    "a if b else 0": ("floating", "a if b else 0"),
    "where(a, b)": ("floating", "where(a, b)"),
    "d + 1": ("floating", "d"),
    "a +": ("floating", "a +"),
    "a": ("decimals", "decimals"),
}


@pytest.fixture
def translate(render, tmp_path):
    runtime = render(**MATRIX["full"]) / "runtime"
    contract = runtime / "include" / f"{DEVICE}_kernels.yaml"

    def run(own):
        vendor = tmp_path / "vendor.yaml"
        vendor.write_text(own, encoding="latin-1")  # bytes beyond ASCII aren't UTF-8
        tables = [tmp_path / "elementwise.inc", tmp_path / "reductions.inc"]
        command = [sys.executable, runtime / "opencl/kernels/formulas.py", *tables, contract, vendor]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip())
        return [table.read_text(encoding="utf-8").splitlines() for table in tables], done.stdout

    return yaml.safe_load(contract.read_text(encoding="utf-8")), run


def test_each_formula_of_the_contract_makes_a_kernel(translate):
    contract, run = translate
    lines, told = run("")
    assert not told
    for found, section in zip(lines, ("elementwise", "reductions"), strict=True):
        assert [line.split('"')[1] for line in found] == [entry["kernel"] for entry in contract[section]]


def test_so_does_a_vendors(translate):
    (elementwise, reductions), told = translate[1](OWN)
    assert not told
    assert elementwise[-2] == '{"vendor_sinc", ' + FLOATS + ', 1, 0, "", "sinc(a)", false},'
    assert elementwise[-1] == (
        '{"vendor_mixed", {"float64"}, 2, 1, "", "((a > (C)0.5) != 0 ? python_modulo(a, b) : p0)", true},'
    )
    # What stands in a formula more than once is computed once.
    (line,) = (line for line in elementwise if line.startswith('{"mish_backward"'))
    assert '"const C s0 = logaddexp((C)0, b); const C s1 = saturated_tanh(s0); ", "(a * (s1 + ' in line
    assert line.count("tanh") == 1 and line.count("s1") == 3
    assert '"add_to(&all, square(x))"' in reductions[-1]
    assert '"sqrt((all.value + all.lost) / (A)(n))"' in reductions[-1]


def test_the_example_in_the_vendors_file_counts_where_it_stands(translate, render):
    (file,) = (render(**MATRIX["full"]) / "runtime" / "include").glob("*vendor.yaml")
    text = file.read_text(encoding="utf-8")
    example = "# elementwise:\n# - {kernel: vendor_sinc, "
    assert example in text
    (elementwise, _), told = translate[1](text.replace(example, example.replace("# ", "")))
    assert not told and '"vendor_sinc"' in elementwise[-1]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("elementwise: []\n- {kernel: vendor_one}\n", "vendor.yaml:2: this is not YAML: "),
        ("elementwis:\n- {kernel: vendor_one}\n", "there is no section elementwis; the file has one or more"),
        ("- {kernel: vendor_one}\n", "vendor.yaml: a list; the file has one or more of the sections dtypes,"),
        ("# M\xe4rz\n", "vendor.yaml:1: this is not YAML: unacceptable character"),
        ("# \0\n", "vendor.yaml:1: this is not YAML: "),
        ("dtypes: [float32]\n", "vendor.yaml: dtypes has to be names of groups, each with a list"),
        ("elementwise:\n  vendor_one: {inputs: 1}\n", "vendor.yaml: elementwise has to be a list of entries."),
        ("reductions: [vendor_one]\n", "vendor.yaml: entry 1 of reductions has to have keys, as in `- {kernel: "),
        ("elementwise:\n-\n", "vendor.yaml: entry 1 of elementwise has to have keys, as in `- {kernel: "),
        ("elementwise: [{kernal: vendor_one}]\n", "vendor.yaml: entry 1 of elementwise needs `kernel: NAME`."),
        (ONE.replace("floating", "[float32]"), "vendor.yaml: vendor_one needs `dtypes: NAME`."),
        (ONE.replace("1", "two"), "vendor.yaml: vendor_one has 'two' for inputs, which has to be 1, 2 or 3."),
        (ONE.replace("}", ", parameters: [alpha]}"), "vendor.yaml: vendor_one needs names for its parameters"),
    ],
)
def test_what_is_no_contract_is_refused_in_a_sentence(translate, own, said):
    with pytest.raises(SystemExit, match=said) as refused:
        translate[1](own)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("formula", WITHOUT_WORDS)
def test_a_formula_without_words_is_told(translate, formula):
    dtypes, words = WITHOUT_WORDS[formula]
    entry = f"elementwise:\n- {{kernel: vendor_one, dtypes: {dtypes}, inputs: 2, formula: '{formula}', tolerance: 0}}\n"
    (elementwise, _), told = translate[1](entry)
    assert "vendor_one" not in "".join(elementwise)
    assert told == f"OpenCL gets no kernel vendor_one by its formula: formulas.py has no words for `{words}`.\n"
