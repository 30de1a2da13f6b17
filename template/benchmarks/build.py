"""What a build takes: all of it, nothing to do, and one file of kernels touched. Compiled in a folder of its own."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Result

PROJECT = Path(__file__).parents[1]
KERNELS = "csrc/aten/native/binary.cpp"
# Seconds on two cores.
LIMITS = {"configure": None, "cold": 100.0, "nothing changed": None, "one kernel file touched": 10.0}


def results(project: Path = PROJECT, touched: str = KERNELS) -> Iterator[Result]:
    # A compiler cache would be what is measured.
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_COMPILER_LAUNCHER")}
    ninja = shutil.which("ninja", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if ninja is None:
        raise SystemExit("There is no ninja to build with: run `pip install --group build`.")
    cmake = [sys.executable, "-m", "cmake"]
    with tempfile.TemporaryDirectory() as folder:
        choices = [
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
            "-DCMAKE_BUILD_TYPE=Release",
        ]
        configure = [*cmake, "-S", str(project), "-B", folder, "-G", "Ninja", *choices]
        compile_all = [*cmake, "--build", folder, "--parallel", str(os.cpu_count())]
        yield from timed("configure", configure, environment)
        yield from timed("cold", compile_all, environment)
        yield from timed("nothing changed", compile_all, environment)
        with newer(project / touched):
            yield from timed("one kernel file touched", compile_all, environment)


class newer:
    """Context manager in which a file seems to have just been written. Other builds of it shall not notice."""

    def __init__(self, path: Path):
        self.path = path
        self.before = path.stat()

    def __enter__(self) -> None:
        os.utime(self.path)

    def __exit__(self, *exception: object) -> None:
        os.utime(self.path, ns=(self.before.st_atime_ns, self.before.st_mtime_ns))


def timed(name: str, command: list[str], environment: dict[str, str]) -> Iterator[Result]:
    def processor() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    wall, cpu = time.perf_counter(), processor()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, cpu = time.perf_counter() - wall, processor() - cpu
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout[-4000:]}\nThe build to be timed failed, see above.")
    yield Result("build", name, "s", second=wall, limit=LIMITS[name])
    yield Result("build", f"{name}, of a processor", "s", second=cpu)
