"""Says whether the template has a newer version than the one that this project was made from.

Its status: 0, there is none; 2, there is one; 3, that can't be told here, and a sentence says why.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from copier_command import MISSING, copier_command

ROOT = Path(__file__).parents[1]
NONE, NEWER, UNKNOWN = 0, 2, 3


def recorded(name: str, answers: str) -> str:
    # A long value goes on in lines that are indented.
    found = re.search(rf"^{name}: (.*(?:\n .*)*)", answers, re.MULTILINE)
    return " ".join(found[1].split()).strip("'\"") if found else ""


def main() -> int:
    answers = ROOT / ".copier-answers.yml"
    source = recorded("_src_path", answers.read_text(encoding="utf-8")) if answers.exists() else ""
    if not source:
        print(f"{answers.name} doesn't say which template this project was made from: `git log` may have it.")
        return UNKNOWN
    # Without a colon it is a path, on the machine where the project was made.
    path = Path(source).expanduser()
    if ":" not in source and not path.is_absolute():
        print(
            f"The template is noted as {source}, which says nothing without the folder that Copier was called in: "
            f"write a URL or an absolute path into {answers.name}, as `_src_path`."
        )
        return UNKNOWN
    if ":" not in source and not path.exists():
        print(
            f"The template is noted as {source}, which isn't on this machine: "
            f"write an address that every machine can reach into {answers.name}, as `_src_path`."
        )
        return UNKNOWN
    command = copier_command()
    if command is None:
        print(MISSING)
        return UNKNOWN
    question = [*command, "check-update", "--output-format", "json"]
    done = subprocess.run(question, cwd=ROOT, capture_output=True, text=True)
    try:
        newer = json.loads(done.stdout)["update_available"]
    except (ValueError, KeyError):
        print(f"{(done.stdout + done.stderr).strip()}\nThe template's versions could not be read, see above.")
        return UNKNOWN
    if newer:
        print("The template has a newer version: `copier update --defaults` brings it, and CONTRIBUTING.md says how.")
        return NEWER
    print("The template has no newer version.")
    return NONE


if __name__ == "__main__":
    sys.exit(main())
