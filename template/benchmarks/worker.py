"""The other end of compare.Remote: reads questions, a line each, and answers them with times."""

import importlib
import json
import os
import sys


def main() -> None:
    package, device, threads, seconds = sys.argv[1:]
    # What else is written to the standard output must not pass for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    import torch

    if package:
        importlib.import_module(package)
    import enqueue
    import staged
    from measure import Local
    from rows import rows
    from rows.operators import operands

    torch.set_num_threads(int(threads))
    known = {row.name: row for row in [*rows(), *enqueue.rows(), *staged.rows()]}
    side = Local(device, operands, float(seconds))
    print(json.dumps({"python": sys.version.split()[0], "torch": torch.__version__, "device": device}), file=answers)
    for line in sys.stdin:
        question = json.loads(line)
        if question:
            try:
                answer = {"returned": side.prepare(known[question["row"]])}
            except NotImplementedError as error:
                answer = {"impossible": str(error)}
        else:
            answer = {"seconds": side.sample()}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
