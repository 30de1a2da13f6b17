"""What is built once for all releases of torch, with two of them: this Python's, and that of OTHER_PYTHON.

`make test-torch` names the other one. Each has a backend of its own, since that goes with one release.
"""

import os
import subprocess
from pathlib import Path

import pytest
import variants
import yaml
from conftest import DEVICE, MATRIX, by_compiler

OTHER = Path(os.environ.get("OTHER_PYTHON", "")).absolute()
BUILD = """import sys
from pathlib import Path
from built_wheel import build_wheel, install
project, made, installed = map(Path, sys.argv[1:])
install(build_wheel(project, made), installed)
"""


def torch_of(python):
    return run(python, "-c", "import torch; print(torch.__version__)").strip()


def run(python, *arguments, **extra):
    done = subprocess.run(
        [str(python), *map(str, arguments)],
        env=variants.environment(python) | extra,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def backends(build, tmp_path_factory):
    """The default backend for each of the two releases: its folder, and its Python."""
    if not OTHER.is_file():
        pytest.skip("only one release of torch is here: `make environment`, then `make test-torch TORCH=<another one>`")
    here = build(**MATRIX["default"])
    answers = tmp_path_factory.mktemp("answers") / f"{DEVICE}-default.yml"
    answers.write_text(yaml.safe_dump({"device_name": DEVICE} | MATRIX["default"]), encoding="utf-8")
    there = variants.ROOT / "build" / "variants" / answers.stem
    run(OTHER, variants.ROOT / "tools" / "variants.py", answers, VARIANTS_DIR=str(there.parent), **by_compiler(""))
    return [(folder, folder.with_name(folder.name + ".venv") / "bin" / "python") for folder in (here, there)]


@pytest.mark.long
@pytest.mark.parametrize("builder", [0, 1], ids=["built with this torch", "built with the other torch"])
def test_a_stable_wheel_that_is_built_once(backends, builder, tmp_path):
    """Its operators run on the device with both releases, whichever of them it was built with."""
    folder, python = backends[builder]
    custom = Path("tests", "aten", "custom")
    arguments = folder / custom / "stable_wheel", tmp_path, tmp_path / "installed"
    run(python, "-c", BUILD, *arguments, PYTHONPATH=str(folder / "tests" / "support"))
    said = [
        run(python, folder / custom / "stable_wheel_calls.py", PYTHONPATH=str(tmp_path / "installed"))
        for folder, python in backends
    ]
    releases = [torch_of(python) for _, python in backends]
    assert releases[0].split(".")[:2] != releases[1].split(".")[:2]
    assert said == [f"the stable wheel works with torch {release}\n" for release in releases]
