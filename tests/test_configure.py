"""What CMake makes of a rendered project before anything is compiled."""

import re
import shutil
import subprocess

import pytest
import variants
from conftest import DEVICE


@pytest.fixture
def project(render, tmp_path):
    """A copy: Python leaves what it compiles beside what is imported."""
    return shutil.copytree(render(), tmp_path / "project")


@pytest.fixture
def configure(project, tmp_path):
    def run(folder, *options):
        python = variants.thin_environment(tmp_path / "venv")
        command = [
            str(python),
            "-m",
            "cmake",
            "-S",
            str(project),
            "-B",
            str(folder),
            f"-DPython_EXECUTABLE={python}",
        ]
        environment = variants.environment(python)
        done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return run


def test_makefiles_have_a_rule_for_every_file(configure, tmp_path):
    """CMake writes them where there is no Ninja. Nothing is compiled: what a link waits for has to be known."""
    folder = tmp_path / "build"
    status, said = configure(folder, "-G", "Unix Makefiles")
    assert status == 0, said
    library = f"torch_{DEVICE}"
    generate = ["-f", f"CMakeFiles/{library}.dir/build.make", f"CMakeFiles/{library}.dir/depend"]
    subprocess.run(["make", "-C", str(folder), *generate], check=True, stdout=subprocess.DEVNULL)
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / f"lib{library}.so").touch()
    done = subprocess.run(["make", "-C", str(folder), "--dry-run"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_googletest_is_compiled_where_only_its_sources_are(configure, tmp_path):
    sources = tmp_path / "googletest"
    options = ["-G", "Ninja", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DLUMEN_CPP_TESTS=ON"]
    options.append(f"-DLUMEN_GTEST_SOURCES={sources}")
    status, said = configure(tmp_path / "without", *options)
    assert status == 1
    assert "LUMEN_CPP_TESTS needs GoogleTest: install it (`apt install libgtest-dev`)" in said
    sources.mkdir()
    (sources / "CMakeLists.txt").write_text("add_library(gtest INTERFACE)\nadd_library(GTest::gtest ALIAS gtest)\n")
    status, said = configure(tmp_path / "with", *options)
    assert status == 0 and (tmp_path / "with/tests/cpp").exists(), said


def test_a_runtime_folder_is_below_the_project_and_one_that_is_not_there_is_said(configure, tmp_path):
    status, said = configure(tmp_path / "build", "-G", "Ninja", "-DLUMEN_RUNTIME_DIR=no/such")
    assert status == 1
    assert "/no/such, which has no CMakeLists.txt: correct the path in pyproject.toml" in said
    status, said = configure(tmp_path / "build", "-DLUMEN_RUNTIME_DIR=runtime/minimal")
    assert status == 0 and re.search(r"The runtime is built from \S*/runtime/minimal --", said), said


def test_a_path_that_cmake_reads_as_a_pattern_is_refused(configure, tmp_path):
    status, said = configure(tmp_path / "v[2]")
    assert status == 1 and "without [ ] or ; in its path" in said, said


def test_cmake_on_its_own_builds_the_runtime_that_pyproject_names(project, configure, tmp_path):
    pyproject = project / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8")
    assert text.count('LUMEN_RUNTIME_DIR = "runtime"') == 1
    for name in ("runtime/minimal", "runtime"):
        for spelling in (f'RUNTIME_DIR = "{name}"', f"RUNTIME_DIR  =  '{name}'"):
            pyproject.write_text(text.replace('RUNTIME_DIR = "runtime"', spelling), encoding="utf-8")
            status, said = configure(tmp_path / "build", "-G", "Ninja")
            assert status == 0 and f"The runtime is built from {project}/{name} --" in said, said
    pyproject.write_text(text.replace('RUNTIME_DIR = "runtime"', "RUNTIME_DIR = [1]"), encoding="utf-8")
    status, said = configure(tmp_path / "build", "-G", "Ninja")
    assert status == 1 and 'write LUMEN_RUNTIME_DIR = "..." in one line' in said, said


def test_a_runtime_folder_in_the_environment_is_for_one_build(project, tmp_path):
    """Of a build by pip no more than the configuration is made here, so there is nothing to install, which it says."""
    python = variants.thin_environment(tmp_path / "venv")
    command = [str(python), *"-m pip wheel --verbose --no-build-isolation --no-deps".split(), str(project)]
    command += ["--wheel-dir", str(tmp_path), "--config-settings=build.targets=rebuild_cache"]
    command += [f"--config-settings=build-dir={tmp_path / 'build'}"]
    for given, built in [("-DLUMEN_RUNTIME_DIR=runtime/minimal", "runtime/minimal"), ("", "runtime")]:
        environment = variants.environment(python) | {"CMAKE_ARGS": given}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Once by pip, and once as an edit of a CMake file does it.
        assert re.findall(r"The runtime is built from (.*)", done.stdout) == [str(project / built)] * 2, done.stdout
