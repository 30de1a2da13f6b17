"""Builds the programs of examples/libtorch, each in a folder of the caller's."""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "examples" / "libtorch"


def build(folder, target):
    """The file that find_package and the compiler made of a target; of `network`, the folder to import it from."""

    def run(*command):
        done = subprocess.run([sys.executable, "-m", "cmake", *command], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr

    run("-S", SOURCE, "-B", folder, f"-DPython_EXECUTABLE={sys.executable}")
    run("--build", folder, "--target", target)
    return folder / target if target != "network" else folder
