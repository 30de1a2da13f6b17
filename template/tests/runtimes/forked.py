"""Runs functions in children of this process, which has imported torch and not opened the device."""

import json
import os
import select
import signal
import time
import traceback

SECONDS = 60  # after which a child has hung


def run(function, end=os._exit):
    """What a function returned in a child, or {"problem": what is wrong with it}. `end` ends the child, by its status."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            outcome = function()
        except BaseException:
            outcome = {"problem": traceback.format_exc()}
        os.write(writer, json.dumps(outcome).encode() + b"\n")
        end(0)
    os.close(writer)
    text, deadline = b"", time.monotonic() + SECONDS
    with os.fdopen(reader, "rb", 0) as pipe:
        while not text.endswith(b"\n") and select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
            text += pipe.read(1 << 16) or b"\n"
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return json.loads(text) if status == 0 else {"problem": f"it ended with status {status}: {text!r}"}
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return {"problem": f"it hung: {text!r}"}
