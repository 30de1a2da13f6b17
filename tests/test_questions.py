"""What copier.yml asks, refuses and records."""

import subprocess
import sys

import pytest
import variants
import yaml

COLUMNS = 80  # of a terminal that nobody has made wider


def refusal(render, **answers):
    with pytest.raises(ValueError) as error:
        render(**answers)
    prefix, _, sentence = str(error.value).partition(": ")
    assert prefix == f"Validation error for question '{next(iter(answers))}'"
    advice, _, reason = sentence.partition("; ")
    assert reason and len(f"{prefix}: {advice}") <= COLUMNS, "the terminal would cut off what to do"
    return sentence


@pytest.mark.parametrize("name", ["nova", "npu", "my_odd_chip", "a_b", "zz", "x" * 40])
def test_device_name_that_will_do(render, name):
    assert (render(device_name=name) / "Makefile").exists()


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("", "my_chip"),
        ("x", "my_chip"),
        ("Nova", "my_chip"),
        ("nova2", "my_chip"),
        ("my-chip", "my_chip"),
        ("_nova", "my_chip"),
        ("nova_", "my_chip"),
        ("nova\n", "my_chip"),
        ("növa", "my_chip"),
        ("my__chip", '"my_chip"'),
        ("cpu_like", "acme_cpu_like"),
        ("cudax", "acme_cudax"),
        ("x" * 41, "40 letters"),
        *((name, f"acme_{name}") for name in ("nn", "half", "data", "weight", "training")),  # torch, Tensor, Module
        *((name, f"acme_{name}") for name in ("xla", "privateuseone", "fpga")),  # known to the device parser
        *((name, f"acme_{name}") for name in ("aten", "prims", "quantized", "inductor")),  # operator namespaces
        *((name, f"acme_{name}") for name in ("distributed", "at", "std", "torch", "python")),
        *((name, f"acme_{name}") for name in ("lambda", "namespace", "restrict", "int")),
    ],
)
def test_device_name_that_is_refused(render, name, advice):
    sentence = refusal(render, device_name=name)
    assert advice in sentence
    assert one_sentence(sentence)


@pytest.mark.parametrize("name", ["acme", "acme_backend", "torch_nova2", "a1"])
def test_package_name_that_will_do(render, name):
    assert f'name = "{name.replace("_", "-")}"' in (render(package_name=name) / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "name",
    [
        *("", "Acme", "2acme", "acme-backend", "acme.backend", "acme_", "_acme", "a__b", "acme\n", "x" * 61),
        *("class", "json", "torch", "functorch", "torchgen", "numpy", "yaml", "cmake", "pybind11"),
        *("runtime", "csrc", "codegen", "tests", "build", "test", "lib", "vendor", "torchvision"),
    ],
)
def test_package_name_that_is_refused(render, name):
    assert one_sentence(refusal(render, package_name=name))


@pytest.mark.parametrize("question", ["description", "author"])
@pytest.mark.parametrize("text", ["two\nlines", "tab\there", "bell\a", "line\u2028separator"])
def test_text_that_would_end_a_line(render, question, text):
    assert one_sentence(refusal(render, **{question: text}))


@pytest.mark.parametrize("address", ["someone", "a@b@c", "a b@c", "a@", '"a"@b', "<a@b.c>"])
def test_email_that_is_refused(render, address):
    assert "name@example.com" in refusal(render, author_email=address)


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "https://a b", 'https://a"b', "https://"])
def test_url_that_is_refused(render, url):
    assert "https://example.com" in refusal(render, repository_url=url)


@pytest.mark.parametrize("question", ["op_set", "license"])
def test_choices(render, question):
    with pytest.raises(ValueError, match="Invalid choice"):
        render(**{question: "other"})


def one_sentence(text):
    return text.endswith(".") and "\n" not in text and len(text) < 250


def test_device_name_is_required(template, tmp_path):
    with pytest.raises(ValueError, match='"device_name" is required'):
        variants.render(template, tmp_path, {})


def test_a_name_that_no_question_has_is_told_at_the_end(repository, tmp_path):
    command = [
        sys.executable,
        "-m",
        "copier",
        "copy",
        "--defaults",
        "--data",
        "device_name=lumen",
        "--data",
        "opset=full",
    ]
    done = subprocess.run([*command, str(repository), str(tmp_path / "project")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "No question is called opset, so --data opset=… changed nothing." in done.stderr
    assert "is called device_name" not in done.stderr


def test_a_computed_value_that_is_given_is_told_at_the_end(repository, tmp_path):
    entries = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    computed = [name for name, entry in entries.items() if name[0] != "_" and entry.get("when") is False]
    assert "torch_tested" in computed
    given = [word for name in computed for word in ("--data", f"{name}=9.9")]
    command = [sys.executable, "-m", "copier", "copy", "--defaults", "--data", "device_name=lumen", *given]
    done = subprocess.run([*command, str(repository), str(tmp_path / "project")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in computed:
        assert f"{name} is computed, and no question: --data {name}=… was taken, but isn't" in done.stderr
    assert "changed nothing" not in done.stderr


def test_render_refuses_an_answer_that_nobody_asks_for(render):
    with pytest.raises(ValueError, match="no question called colour"):
        render(colour="blue")


def test_copy_needs_no_trust(repository, tmp_path):
    command = [sys.executable, "-m", "copier", "copy", "--defaults", "--data", "device_name=lumen", str(repository)]
    done = subprocess.run([*command, str(tmp_path / "project")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "make demo" in done.stderr and "No question" not in done.stderr
    assert all(len(line) <= COLUMNS or str(tmp_path) in line for line in done.stderr.split("Next:")[1].splitlines())


def test_answers_are_recorded(render):
    answers = {"op_set": "full", "fallback": False, "author": 'A "B" \\ C', "license": "MIT"}
    recorded = yaml.safe_load((render(**answers) / ".copier-answers.yml").read_text(encoding="utf-8"))
    assert recorded.items() >= answers.items()
    assert {name for name in recorded if name[0] != "_"} == variants.questions().keys()


def test_every_question_advises():
    for name, entry in variants.questions().items():
        assert len(entry["help"]) > 20, name
        # Before the first line stands a symbol, before a choice a pointer.
        assert all(len(line) <= COLUMNS - 4 for line in [*entry["help"].splitlines(), *entry.get("choices", ())]), name
        assert "default" in entry or name == "device_name"


@pytest.mark.parametrize("example", sorted(variants.ROOT.glob("examples/*.yml")), ids=lambda path: path.stem)
def test_examples_are_answers(render, example):
    answers = yaml.safe_load(example.read_text(encoding="utf-8"))
    recorded = yaml.safe_load((render(**answers) / ".copier-answers.yml").read_text(encoding="utf-8"))
    assert recorded.items() >= answers.items()
