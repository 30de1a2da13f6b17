"""Builds and installs the wheel of a project that stands beside a test."""

import shutil
import subprocess
import sys

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
OFFLINE = ["--no-index", "--no-deps"]


def build_wheel(project, folder):
    """The wheel of a copy of `project`, made in `folder` by nothing but the project's own pyproject.toml."""
    source = shutil.copytree(project, folder / "source")
    command = [*PIP, "wheel", "--no-build-isolation", *OFFLINE, "--wheel-dir", folder, source]
    made = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel, target):
    """Installs it in the folder `target`, for PYTHONPATH."""
    assert subprocess.run([*PIP, "install", *OFFLINE, "--target", target, wheel], timeout=120).returncode == 0
    return target
