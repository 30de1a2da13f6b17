"""What runs while a project is made: nothing. Otherwise users would have to trust it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import variants
import yaml


def test_nothing_is_executed():
    settings = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    assert not settings.keys() & {"_tasks", "_jinja_extensions", "_external_data"}
    # Without a version a migration asks for trust on every update, not only on the one that crosses it.
    assert all("version" in migration for migration in settings.get("_migrations", []))


def test_validators_come_from_hooks():
    macros = (variants.ROOT / "hooks" / "checks.jinja").read_text(encoding="utf-8")
    for name, entry in variants.questions().items():
        if entry["type"] == "str" and "choices" not in entry:
            called = entry["validator"].split("import ")[1].split(" ")[0]
            assert f"{{% macro {called}(" in macros, name


def test_readme_tells_of_every_file():
    folder = variants.ROOT / "hooks"
    table = (folder / "README.md").read_text(encoding="utf-8")
    for path in folder.iterdir():
        assert path.name in ("README.md", "__pycache__") or f"`{path.name}`" in table


def pre_commit(folder, tmp_path, **environment):
    python = variants.thin_environment(tmp_path / "python")
    environment = variants.environment(python) | {"PRE_COMMIT_HOME": str(tmp_path / "cache")} | environment
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_each_commit_here_is_checked(tmp_path):
    done = pre_commit(variants.ROOT, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.matrix
def test_each_commit_in_a_rendered_project_is_checked(render, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(render(), project)

    def git(*arguments):
        subprocess.run(["git", "-C", str(project), *arguments], check=True)

    git("init", "--quiet")
    git("add", "--all")
    # `make lint` takes this Python, where the tools are, instead of making an environment.
    makeflags = {"MAKEFLAGS": f"PYTHON={Path(sys.executable)}"}
    done = pre_commit(project, tmp_path, **makeflags)
    assert done.returncode == 0, done.stdout + done.stderr

    readme = project / "README.md"
    marker = "<" * 7 + " before updating" + os.linesep
    readme.write_text(readme.read_text(encoding="utf-8") + marker, encoding="utf-8")
    git("add", "--all")
    done = pre_commit(project, tmp_path, **makeflags)
    assert done.returncode == 1 and "leftover conflict marker" in done.stdout
