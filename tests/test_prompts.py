"""The questions in a terminal of 80 columns: what is asked and what is refused can be read to its end."""

import os
import pty
import re
import select
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import variants

# What a question gets first and what it advises then; a question that isn't here takes the default.
REFUSED = {
    "device_name": ("nova2", "use a-z and inner _, as in my_chip"),
    "package_name": ("Acme", "use a-z, 0-9, _, as in torch_nova"),
    "author_email": ("nobody", "write name@example.com, or nothing"),
    "repository_url": ("example.com", "write https://… or nothing"),
}
ANSWERS = {"device_name": "lumen", "package_name": "torch_lumen"}
ENTER, CLEAR = "\r", "\x15"
PATIENCE = 120  # seconds, against a hang


class Terminal:
    """A program in a terminal of 24 lines and 80 columns; what it has shown is text without colours and spaces."""

    def __init__(self, command: list[str]):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = variants.USER_ENVIRONMENT | {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm", "COLUMNS": "80"}
            os.execve(command[0], command, environment)
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.shown = b""

    def read(self) -> bool:
        if not select.select([self.fd], [], [], 1)[0]:
            return True
        try:
            piece = os.read(self.fd, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.shown += piece
        return bool(piece)

    def text(self) -> str:
        without_colours = re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|[=>]|\].*?\x07)", "", self.shown.decode(errors="replace"))
        return re.sub(r"\s", "", without_colours)

    def expect(self, text: str) -> None:
        wanted, end = re.sub(r"\s", "", text), time.monotonic() + PATIENCE
        while wanted not in self.text() and self.read() and time.monotonic() < end:
            pass
        assert wanted in self.text(), f"{text!r} isn't shown:\n{self.text()[-3000:]}"

    def type(self, text: str) -> None:
        self.shown = b""
        os.write(self.fd, text.encode())

    def end(self) -> int:
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_each_question_and_each_refusal_can_be_read(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "copier", "copy", str(repository), str(tmp_path / "project")]
    terminal = Terminal(command)
    for name, entry in variants.questions().items():
        for line in entry["help"].splitlines():
            terminal.expect(line)
        for choice in entry.get("choices", ()):
            terminal.expect(choice)
        if name in REFUSED:
            answer, advice = REFUSED[name]
            terminal.type(CLEAR + answer + ENTER)
            terminal.expect(f"question '{name}': {advice}")
            terminal.type(CLEAR + ANSWERS.get(name, ""))
        terminal.type(ENTER)
    assert terminal.end() == 0, terminal.text()
    assert "Next:" in terminal.text()
