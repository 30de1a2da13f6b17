"""The developer's loop: an edit made in a rendered tree finds its way back into the template."""

import shutil
import subprocess
import sys

import copier
import pytest
import variants
import yaml


@pytest.fixture
def workshop(repository, tmp_path):
    """The repository, and what is rendered from it for development."""
    root, tree = tmp_path / "repository", tmp_path / "tree"
    shutil.copytree(repository, root)
    shutil.copytree(variants.ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    answers = yaml.safe_load((variants.ROOT / "examples" / "development.yml").read_text(encoding="utf-8"))

    def render(destination):
        settings = copier.Settings()
        copier.run_copy(
            str(root),
            destination,
            answers,
            vcs_ref="HEAD",
            defaults=True,
            quiet=True,
            overwrite=True,
            settings=settings,
        )
        return {
            path.relative_to(destination): path.read_text(encoding="utf-8")
            for path in destination.rglob("*")
            if path.is_file() and path.name != ".copier-answers.yml"
        }

    def carry_back(*paths):
        command = [sys.executable, str(root / "tools" / "carry_back.py"), str(tree), *paths]
        return subprocess.run(command, capture_output=True, text=True)

    render(tree)
    return tree, render, carry_back


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore::copier.errors.DirtyLocalWarning")
def test_edits_are_carried_back(workshop, tmp_path):
    tree, render, carry_back = workshop
    edit(
        tree / "runtime" / "emulator" / "checks" / "error.cpp",
        "#include",
        "// nova_init comes first in nova_backend (NOVA)\n#include",
    )
    edit(tree / "csrc" / "amp" / "autocast.cpp", "#include", "// another line\n#include")
    edit(tree / "Makefile", "lint: environment", "# beside a conditional: nova-backend\nlint: environment")
    (tree / "tests" / "test_new.py").write_text("# of nova_backend\n", encoding="utf-8")
    for done in (carry_back(), carry_back("tests/test_new.py")):
        assert done.returncode == 0, done.stdout + done.stderr

    wanted = {
        path.relative_to(tree): path.read_text(encoding="utf-8")
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".copier-answers.yml"
    }
    assert render(tmp_path / "again") == wanted
    assert carry_back().stdout == ""  # nothing is left to carry


@pytest.mark.filterwarnings("ignore::copier.errors.DirtyLocalWarning")
def test_an_edit_in_a_conditional_is_a_conflict_that_is_told(workshop):
    tree, _, carry_back = workshop
    edit(tree / "nova_backend" / "__init__.py", "import logging", "import logging, os")
    done = carry_back()
    assert done.returncode == 1 and done.stdout.startswith("CONFLICT nova_backend/__init__.py"), (
        done.stdout + done.stderr
    )
