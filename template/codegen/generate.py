"""The lists of operators to C++: run by CMake whenever one of them has changed."""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from pathlib import Path

import emit
import kernels
import own
from checks import check, missing_functions
from lines import AUTOCAST, OF_CPU, TIERS, merge, read, read_emulated, unread
from schemas import Schemas


def write_if_changed(path: Path, text: str) -> None:
    # A file that keeps its time is not compiled again.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--op-set", choices=TIERS, required=True)
    parser.add_argument("--generator", action="store_true", help="the backend has random numbers of its own")
    parser.add_argument("--fallback", action="store_true", help="the backend has the CPU fallback")
    parser.add_argument("--no-amp", action="store_true", help="the backend has no autocast, so that no line may be of it")
    parser.add_argument(
        "--emulated", type=Path, help="names of operators that CPU kernels carry out; without it none is"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shards", type=int, default=1, help="files the registrations are spread over")
    parser.add_argument("--kernel-shards", type=int, default=1, help="files the functions of kernels are spread over")
    parser.add_argument("--sources", type=Path, help="the folder where the functions that the lines name are written")
    parser.add_argument("--python", type=Path, help="the file for the Python functions of the vendor's own operators")
    parser.add_argument("template", type=Path, help="the template's ops.yaml")
    parser.add_argument("vendor", type=Path, help="the vendor's: its lines replace those of the same operator")
    arguments = parser.parse_args()

    problems = unread(arguments.template, arguments.vendor)
    # A vendor who has nothing to list may delete the file; an update brings it back.
    template, vendor = (
        read(path, problems) if path.exists() else [] for path in (arguments.template, arguments.vendor)
    )
    if arguments.emulated:
        emulated = read_emulated(arguments.emulated, problems)
        listed = {line.op: line.where for line in template}
        problems += [
            f"{line.where}: {line.op} stands at {listed[line.op]} too." for line in emulated if line.op in listed
        ]
        template += emulated
    else:
        template, vendor = ([line for line in lines if line.kind not in OF_CPU] for lines in (template, vendor))
    release = tuple(int(number) for number in metadata.version("torch").split(".")[:2])
    template, vendor = ([line for line in lines if line.fits(release)] for lines in (template, vendor))
    schemas = Schemas()
    # All lines are checked, also those of another operator set: a switch of the set should find no surprise.
    problems += check(template, schemas) + check(vendor, schemas)
    merged = merge(template, vendor)
    problems += own.same_names(merged)
    if arguments.no_amp:
        problems += [
            f"{line.where}: autocast is the feature amp, which is off: `copier update --data amp=true`, or remove the line."
            for line in merged
            if line.kind == AUTOCAST
        ]
    operators = [line for line in merged if line.is_operator]
    features = ["generator"] if arguments.generator else []
    lines = [line.where_it_can(features) for line in merged if line.is_in(arguments.op_set, arguments.fallback)]
    if not arguments.emulated:
        lines = [line for line in lines if line.kind not in OF_CPU]
    unsupported = [dtype for line in lines if not line.is_operator for dtype in line.dtypes]
    policies = [line for line in lines if line.kind == AUTOCAST]
    lines = [line for line in lines if line.is_operator]
    if arguments.sources and not problems:
        problems = missing_functions(lines, schemas, arguments.sources)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1

    arguments.out.mkdir(parents=True, exist_ok=True)
    # All lines again: what includes it needn't be compiled anew for another operator set.
    write_if_changed(arguments.out / "native_functions.h", emit.native_functions(operators, schemas))
    registrations = emit.registrations(lines, unsupported, policies, arguments.shards)
    write_if_changed(arguments.out / "registrations.cpp", registrations)
    write_if_changed(arguments.out / "gradients.cpp", emit.HEAD + own.gradients(lines, schemas))
    if arguments.python:
        write_if_changed(arguments.python, own.python_module(lines, schemas))
    for number, text in enumerate(kernels.files(lines, schemas, arguments.kernel_shards)):
        write_if_changed(arguments.out / f"kernels_{number}.cpp", emit.HEAD + text)
    for number, text in enumerate(emit.shards(lines, schemas, arguments.shards)):
        write_if_changed(arguments.out / f"registrations_{number}.cpp", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
