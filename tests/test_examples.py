"""The workloads of examples/ on a backend that the template has rendered."""

import subprocess
import sys

import pytest
import variants
from conftest import DEVICE, MATRIX

EXAMPLES = variants.ROOT / "examples"
WORKLOADS = [path.name for path in sorted(EXAMPLES.glob("*.py")) if path.name not in ("workload.py", "digits.py")]


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload(build, name):
    python = variants.project_python(build(**MATRIX["default"]))
    command = [str(python), str(EXAMPLES / name), "--device", DEVICE]
    done = subprocess.run(command, env=variants.environment(python), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": ok\n" in done.stdout, done.stdout


def test_a_device_that_is_absent_is_said_in_one_line():
    command = [sys.executable, str(EXAMPLES / "streams.py"), "--device", "absent"]
    done = subprocess.run(command, env=variants.USER_ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("there is no device 'absent' here") and done.stderr.count("\n") == 1


def test_a_machine_without_the_device_is_told_why(build):
    project = build(**MATRIX["default"])
    python = variants.project_python(project)
    environment = variants.environment(python) | {f"{DEVICE.upper()}_DEVICE_COUNT": "0"}
    named = ["--device", DEVICE]
    for command in (
        [EXAMPLES / "streams.py", *named],
        [project / "examples/digits.py", *named, "--package", f"torch_{DEVICE}"],
        [project / "examples/first_light.py"],
    ):
        done = subprocess.run([python, *command], env=environment, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.endswith(f"no device '{DEVICE}' on this machine: the machine has no {DEVICE} device.\n")
        assert done.stderr.count("\n") == 1


def test_readme_lists_every_file():
    told = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{path.name}`" in told for path in EXAMPLES.glob("*.yml"))
    assert all(f"`{name}`" in told for name in [*WORKLOADS, "digits.py"])
