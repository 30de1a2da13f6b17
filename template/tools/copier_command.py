"""The copier that is there: on the PATH, in .venv, beside this Python, or by way of pipx or uvx."""

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path

MISSING = "There is no copier here: run `pip install copier`, or say where it is with COPIER=/path/to/copier."


def copier_command() -> list[str] | None:
    if given := os.environ.get("COPIER"):
        if Path(given).is_file():  # a path may have spaces
            return [given]
        try:
            words = shlex.split(given)
        except ValueError:  # a quote without its end
            return None
        return words if words and shutil.which(words[0]) else None
    of_environment = Path(__file__).parents[1] / ".venv" / "bin" / "copier"
    if found := shutil.which("copier") or shutil.which(of_environment):
        return [str(found)]
    if importlib.util.find_spec("copier"):
        return [sys.executable, "-m", "copier"]
    if pipx := shutil.which("pipx"):
        return [pipx, "run", "copier"]
    if uvx := shutil.which("uvx"):
        return [uvx, "copier"]
    return None
