import subprocess

import pytest
from torch._inductor import cpp_builder


@pytest.fixture(scope="session", autouse=True)
def openmp():
    """What Inductor writes in C++ includes OpenMP's header, which clang has only with a package of its own."""
    compiler = cpp_builder.get_cpp_compiler()
    probe = [compiler, "-fopenmp", "-fsyntax-only", "-include", "omp.h", "-x", "c++", "/dev/null"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip(f"OpenMP: {compiler} finds no omp.h, which code of Inductor includes")
