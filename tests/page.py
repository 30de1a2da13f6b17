"""Runs the Python of a page of the guide: what ```pycon shows must come out, what ```python shows must run.

    python tests/page.py docs/guard.md torch_lumen lumen

The names nova and torch_nova of the page are replaced by those of the backend that is installed.
"""

import doctest
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(pycon|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(page: str, package: str, device: str) -> int:
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
