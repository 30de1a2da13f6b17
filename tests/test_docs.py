"""What the guide says of a rendered project is what stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import variants
import yaml
from conftest import DEVICE, MATRIX

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [page.stem for page in sorted(DOCS.glob("*.md")) if re.search("^```py", page.read_text("utf-8"), re.MULTILINE)]

COMMANDS = [page.stem for page in sorted(DOCS.glob("*.md")) if "\n```console\n" in page.read_text("utf-8")]
# What takes long has tests of its own: of make it is the target and its variables that are looked at. The tools that
# need a terminal or a kernel's permission aren't run. new-op writes into the tree that it is imported from.
SHELL = """
set -eux
make() { command make --dry-run PYTHON=python "$@" > /dev/null; }
git() { if test "$1" = commit; then shift; set -- commit --quiet --allow-empty "$@"; fi; command git "$@"; }
gdb() { test "$1" = --args; }
pip() { test "$1" = install; }
perf() { test "$1" = record || test "$1" = report; }
python() { case "$3" in new-op) "$HERE" "$@" ;; *) "$BUILT" "$@" ;; esac; }
"""

IDENTITY = {f"GIT_{who}_{what}": "tests@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def rows(text, pattern):
    return re.findall(rf"^\| `\w*?({pattern}\w+)` \| (.*) \|$", text, re.MULTILINE)


def test_every_status_has_the_row_that_the_project_has(render):
    project = render(device_name="nova")
    header = (project / "runtime/include/nova_runtime.h").read_text(encoding="utf-8")
    statuses = re.findall(r"^  NOVA_(ERROR_\w+) = \d+", header, re.MULTILINE)
    told = rows((DOCS / "device.md").read_text(encoding="utf-8"), "ERROR_")
    assert [name for name, _ in told] == statuses
    assert told == rows((project / "README.md").read_text(encoding="utf-8"), "ERROR_")


def test_the_files_that_the_guide_names_are_there(render):
    project = render(device_name="nova")
    named = set()
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page.stem == "openreg":  # its files stand in the first column
            text = re.sub(r"^\| .*? \|", "", text, flags=re.MULTILINE)
        named |= set(re.findall(r"`((?:runtime|csrc|tests|codegen|examples)/[\w./]+)`", text))
    named -= {"csrc/aten/vendor/", "tests/vendor/"}  # what the vendor adds
    assert len(named) > 15
    suffixes = ("", ".h", ".cpp", ".py")
    missing = [name for name in sorted(named) if not any(Path(f"{project / name}{end}").exists() for end in suffixes)]
    assert missing == []


def test_the_releases_of_torch_are_those_of_the_questions_file():
    computed = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    update, readme = (path.read_text(encoding="utf-8") for path in (DOCS / "update.md", variants.ROOT / "README.md"))
    told = dict(rows(update, "torch_"))
    assert len(told) == 3
    for name, row in told.items():
        assert row.startswith(f"{computed[name]['default']} | "), name
    minimum, tested, newest = (computed[f"torch_{name}"]["default"] for name in ("minimum", "tested", "newest"))
    assert f"builds with PyTorch {minimum} to {newest}. All tests run with {tested}; " in readme
    for text in (update, readme):
        assert f"`make test-torch TORCH={newest}.0`" in text


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_comes_out(build, page):
    python = variants.project_python(build(**MATRIX["default"]))
    runner = Path(__file__).with_name("page.py")
    command = [str(python), str(runner), str(DOCS / f"{page}.md"), f"torch_{DEVICE}", DEVICE]
    done = subprocess.run(command, env=variants.environment(python), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", COMMANDS)
def test_what_a_page_says_to_the_shell_is_understood(build, repository, tmp_path, page):
    text = (
        (DOCS / f"{page}.md")
        .read_text(encoding="utf-8")
        .replace("torch_nova", f"torch_{DEVICE}")
        .replace("NOVA", "LUMEN")
    )
    project, python = tmp_path / "project", variants.project_python(build(**MATRIX["default"]))
    variants.render(repository, project, {"device_name": DEVICE})
    commit = "git commit --message"
    script = SHELL + f"git init --quiet && git add --all && {commit} Rendered\n"
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        script += "\n".join(re.findall(r"^\$ (.*)$", block, re.MULTILINE)) + f"\ngit add --all && {commit} Next\n"
    environment = variants.environment(python)
    environment |= {"BUILT": str(python), "HERE": str(variants.thin_environment(tmp_path / "venv"))} | IDENTITY
    done = subprocess.run(["bash", "-c", script], cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rendered_project_has_a_site_of_its_own(build):
    project = build(**MATRIX["default"])
    done = variants.make(project, "docs", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    streams = (project / "build/docs/html/api/streams.html").read_text(encoding="utf-8")
    assert f"torch_{DEVICE}.{DEVICE}.streams.Stream" in streams


@pytest.mark.long
def test_a_newcomer_ends_with_a_trained_model(repository, tmp_path):
    """What `start in five minutes` says, by copy and paste; it installs torch and compiles, as on a bare machine."""
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    script = "set -eux\n" + "".join(re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    script = script.replace("<where this repository is>", str(repository))
    environment = variants.environment(Path(sys.executable)) | IDENTITY
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test accuracy" in done.stdout
    assert "tensor([1, 2, 3], device='nova:0')" in done.stdout
