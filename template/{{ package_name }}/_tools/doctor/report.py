"""The report of `doctor`: facts, one a line, and problems."""

from __future__ import annotations

from textwrap import wrap

WIDTH = 120
INDENT = 14


class Report:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.problems: list[str] = []

    def say(self, title: str, text: str) -> None:
        """Adds a fact. Lines with the same title follow each other."""
        shown = f"{title:<{INDENT}}"
        if any(line.startswith(shown) for line in self.lines):
            shown = " " * INDENT
        self.lines += wrap(
            text, WIDTH, initial_indent=shown, subsequent_indent=" " * (INDENT + 2), break_long_words=False
        )

    def wrong(self, text: str) -> None:
        """Adds a problem, and what to do about it."""
        if text not in self.problems:
            self.problems.append(text)

    def __str__(self) -> str:
        text = "\n".join(self.lines) + "\n\n"
        if not self.problems:
            return text + "Nothing is wrong."
        text += "This is wrong:\n" if len(self.problems) == 1 else f"{len(self.problems)} things are wrong:\n"
        for number, problem in enumerate(self.problems, 1):
            text += "\n".join(wrap(problem, WIDTH, initial_indent=f"{number}. ", subsequent_indent="   ")) + "\n"
        return text.rstrip()
