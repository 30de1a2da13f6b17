"""Times `copier copy` of the working tree: wall time and the processor's, and what the latter goes into.

    python tools/time_copy.py

A figure to look at; nothing passes or fails by it. The goal: two seconds of wall time where nothing else runs.
"""

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import variants

# What Copier's time goes into, by the functions that do it.
PARTS = {
    "compiling what is rendered": ("jinja2/environment.py", "get_template"),
    "compiling each part of each path": ("jinja2/environment.py", "from_string"),
    "the names that templates see": ("copier/_main.py", "_render_context"),
    "asking git for the mode of each file": ("copier/_main.py", "_sync_git_index_executable_bit"),
    "rendering files, compiling included": ("copier/_main.py", "_render_file"),
    "all of the copy": ("copier/_main.py", "run_copy"),
}


def committed(folder: Path) -> Path:
    """As users have it: a git repository."""
    variants.snapshot(folder)
    git = ["git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=Working tree"]):
        subprocess.run([*git, *command], check=True)
    return folder


def copy(template: Path, destination: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "copier", "copy", "--quiet", "--defaults", "--data", "device_name=lumen"]
    begin = os.times()
    subprocess.run([*command, str(template), str(destination)], check=True, stderr=subprocess.DEVNULL)
    end = os.times()
    processor = end.children_user + end.children_system - begin.children_user - begin.children_system
    return end.elapsed - begin.elapsed, processor


def profiled(template: Path, destination: Path) -> dict[str, tuple[int, float]]:
    import copier

    profile = cProfile.Profile(time.process_time)
    profile.enable()
    copier.run_copy(
        str(template), destination, {"device_name": "lumen"}, defaults=True, quiet=True, settings=copier.Settings()
    )
    profile.disable()
    found: dict[str, tuple[int, float]] = {}
    for (file, _, function), (_, calls, _, cumulative, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        for part, (where, name) in PARTS.items():
            if function == name and file.endswith(where) and found.get(part, (0, 0.0))[1] < cumulative:
                found[part] = (calls, cumulative)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often it is copied (5)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="time-copy-") as folder:
        template = committed(Path(folder, "template"))
        times = [copy(template, Path(folder, str(number))) for number in range(rounds)]
        files = sum(path.is_file() for path in Path(folder, "0").rglob("*"))
        wall, processor = (sorted(column) for column in zip(*times, strict=True))
        print(f"{files} files; of {rounds} copies: best, median")
        for name, column in (("wall time", wall), ("of a processor", processor)):
            print(f"  {name:38}{column[0]:8.2f}{column[rounds // 2]:8.2f} s")
        print("one more under a profiler, which slows Python down: seconds of a processor, calls")
        for part, (calls, seconds) in profiled(template, Path(folder, "profiled")).items():
            print(f"  {part:38}{seconds:8.2f}{calls:8}")


if __name__ == "__main__":
    main()
