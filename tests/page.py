"""Runs the Python of pages of the guide: what ```pycon shows must come out, what ```python shows must run.

    python tests/page.py torch_lumen lumen docs/guard.md docs/memory.md

Each page is run by a process of its own, which has torch imported already; what is wrong with it ends with a zero byte.
The names nova and torch_nova of the page are replaced by those of the backend that is installed.
"""

import doctest
import importlib
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

FENCE = re.compile(r"^```(pycon|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(package: str, device: str, *pages: str) -> int:
    importlib.import_module(package)
    status = 0
    for page in pages:
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                os._exit(ended(page, package, device))
            if os.waitpid(child, 0)[1] != 0:
                status = 1
                output.seek(0)
                print(f"{output.read().decode()}\n{page} failed, see above.")
        print(end="\0", flush=True)
    return status


def ended(page: str, package: str, device: str) -> int:
    status = 1
    try:
        status = run(page, package, device)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    return status


def run(page: str, package: str, device: str) -> int:
    text = Path(page).read_text(encoding="utf-8")
    for ours, theirs in (("torch_nova", package), ("nova", device), ("NOVA", device.upper())):
        text = text.replace(ours, theirs)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for fence in FENCE.finditer(text):
        kind, code = fence.groups()
        line = text[: fence.start()].count("\n") + 1
        if kind == "python":
            exec(compile("\n" * line + code, page, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, page, page, line)
        if not test.examples:
            print(f"{page}:{line}: a pycon block without a prompt")
            return 1
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
