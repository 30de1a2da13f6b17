"""Work that may end its process. It is done in a process of its own, and where one dies another goes on."""

import mmap
import os
import re
import signal
import sys
import traceback

HANGS = 300  # seconds
# So a kernel of the emulator says that it found less memory than it was told. On another device it would have read on.
FOUND_LESS = re.compile("the layout reaches|has to be device memory")

last_call = mmap.mmap(-1, 4096)  # of a process that may die


def note(call):
    """Says what is called next, which is printed if it is the last."""
    last_call[:] = call.encode()[:4096].ljust(4096)


def check_apart(list_items, check):
    """Calls check(item) for each that `list_items` gives. Both run there: on most devices a process that has used the
    device can't be forked."""
    begin = 0
    while begin is not None:
        begin = check_from(begin, list_items, check)


def check_from(begin, list_items, check):
    """Returns where to go on, None at the end."""
    at = mmap.mmap(-1, 4)
    at[:] = begin.to_bytes(4, "little")
    note("what lists the calls")
    pid = os.fork()
    if pid == 0:
        try:
            for number, item in enumerate(list_items()[begin:], begin):
                at[:] = (number + 1).to_bytes(4, "little")
                signal.alarm(HANGS)
                check(item)
                sys.stdout.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status == 0:
        return None
    ended = f"died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "failed"
    print(f"{ended} in {last_call[:].decode(errors='replace').rstrip()}", flush=True)
    reached = int.from_bytes(at[:], "little")
    return reached if reached > begin else None
