"""What the message after an update says to do keeps everything, and what an update loses in silence is found before."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import copier
import pytest
import variants
import yaml
from conftest import DEVICE
from test_update import git, update

# Of the template as it is, what an update and its report are about; and files that a vendor and the template change.
OURS = ["Makefile.jinja", "tools", "{{_copier_conf.answers_file}}.jinja"]
LINES = {
    name: "".join(f"{name} {number}\n" for number in range(40))
    for name in ("moved", "removed", "split", "fixed", "kept")
}


def message() -> str:
    settings = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    return str(settings["_message_after_update"])


def change(text: str, **lines: str) -> str:
    for number, new in lines.items():
        text, found = re.subn(rf"^\w+ {number.removeprefix('line')}\n", new, text, flags=re.MULTILINE)
        assert found == 1, number
    return text


class Template:
    """A template of a few files, with a version for each state it was in."""

    def __init__(self, folder: Path):
        self.folder, self.files = folder, folder / "template"
        variants.snapshot(folder)
        kept = {name: folder / "template" / name for name in OURS}
        for path in self.files.iterdir():
            if path not in kept.values():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        settings = (folder / "copier.yml").read_text(encoding="utf-8")
        (folder / "copier.yml").write_text(re.sub(r"_skip_if_exists:.*\n( .*\n)*", "", settings), encoding="utf-8")
        (self.files / "csrc").mkdir()
        for name, text in LINES.items():
            self.write(f"csrc/{name}.cpp", text)
        git(folder, "init", "--quiet")
        self.version = 0
        self.release()

    def write(self, name: str, text: str) -> None:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def release(self) -> None:
        self.version += 1
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", f"--message={self.version}")
        git(self.folder, "tag", f"v{self.version}")


@pytest.fixture
def template(tmp_path: Path) -> Template:
    (tmp_path / "template").mkdir()
    return Template(tmp_path / "template")


@pytest.fixture
def project(template: Template, tmp_path: Path) -> Path:
    destination = tmp_path / "project"
    copier.run_copy(
        str(template.folder),
        destination,
        {"device_name": DEVICE},
        defaults=True,
        quiet=True,
        settings=copier.Settings(),
    )
    git(destination, "init", "--quiet")
    commit(destination, "Render the template")
    return destination


def commit(project: Path, message: str) -> None:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", f"--message={message}")


def run(project: Path, command: str) -> subprocess.CompletedProcess[str]:
    identity = {f"GIT_{who}_{what}": "tests@x.y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = variants.environment(Path(sys.executable)) | identity | {"BASE_PYTHON": sys.executable}
    return subprocess.run(command, shell=True, cwd=project, env=environment, capture_output=True, text=True)


def report(project: Path, *options: str) -> tuple[int, str]:
    done = run(project, " ".join([sys.executable, "tools/update_report.py", *options]))
    return done.returncode, done.stdout + done.stderr


def advised(text: str) -> list[str]:
    """The commands after the update, without their comments, up to the commit."""
    after = text[text.index("python3 tools/update_report.py") :]
    found = re.findall(r"^ *(?:\$ )?((?:python3|make|git) .*?) *(?:#.*)?$", after, re.MULTILINE)
    return found[: 1 + next(number for number, command in enumerate(found) if "commit" in command)]


@pytest.mark.parametrize("page", ["docs/start.md", "docs/update.md", "template/CONTRIBUTING.md.jinja"])
def test_the_pages_advise_what_the_message_does(page):
    assert advised((variants.ROOT / page).read_text(encoding="utf-8")) == advised(message())


def test_who_does_what_is_advised_has_all_files_after_two_updates(template, project):
    commands = advised(message())
    assert len(commands) >= 5 and commands[0].startswith("python3 tools/update_report.py")
    for new in ("csrc/second.cpp", "csrc/third.cpp"):
        template.write(new, "new\n")
        template.release()
        update(project)
        for command in commands:
            if command != "make test":  # it builds; what it tests has tests of its own
                done = run(project, command)
                assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert git(project, "status", "--porcelain") == ""
    assert (project / "csrc/second.cpp").exists() and (project / "csrc/third.cpp").exists()
    assert {"csrc/second.cpp", "csrc/third.cpp"} <= set(git(project, "ls-files").split())


def test_the_message_names_what_no_question_has(template, project):
    template.write("csrc/more.cpp", "more\n")
    template.release()
    given = "--data op_set=full --data opset=full"
    done = run(project, f"{sys.executable} -m copier update --defaults {given}")
    assert done.returncode == 0 and "tools/update_report.py" in done.stderr
    assert "No question is called opset," in done.stderr and "called op_set" not in done.stderr


@pytest.mark.parametrize(
    ("word", "told"), [("flase", True), ("-no", True), ("no", False), ("0", False), ("Yes", False), ("true", False)]
)
def test_the_message_names_a_word_that_is_no_yes_or_no(template, project, word, told):
    template.write("csrc/more.cpp", "more\n")
    template.release()
    done = run(project, f"{sys.executable} -m copier update --defaults --data amp={word}")
    assert done.returncode == 0 and (f"--data amp={word} is no yes or no, and was taken for yes" in done.stderr) == told


def test_a_file_that_git_ignores_is_reported(template, project):
    """Copier takes it for deleted, and neither merges it nor leaves a copy."""
    (project / ".gitignore").write_text("/csrc/removed.cpp\n/csrc/kept.cpp\n/notes\n", encoding="utf-8")
    (project / "notes").write_text("mine\n", encoding="utf-8")
    git(project, "rm", "--quiet", "--cached", "csrc/removed.cpp", "csrc/kept.cpp")
    commit(project, "Ignore two files of the template")
    (template.files / "csrc" / "removed.cpp").unlink()
    template.release()
    update(project)
    status, said = report(project)
    assert status == 1
    assert re.findall(r"^(\S+): git ignores it", said, re.MULTILINE) == ["csrc/kept.cpp", "csrc/removed.cpp"]


def test_a_new_file_that_git_ignores_is_reported(template, project):
    """Else a clone of what is committed would lack it."""
    (project / ".gitignore").write_text("lib/\n", encoding="utf-8")
    commit(project, "Ignore a folder that the template doesn't have yet")
    (project / "csrc" / "lib").mkdir()
    (project / "csrc" / "lib" / "new.cpp").write_text("int mine();\n", encoding="utf-8")
    (template.files / "csrc" / "lib").mkdir()
    (template.files / "csrc" / "lib" / "new.cpp").write_text("int added();\n", encoding="utf-8")
    template.release()
    update(project)
    status, said = report(project)
    assert status == 1
    assert re.findall(r"^(\S+): new, and git ignores it", said, re.MULTILINE) == ["csrc/lib/new.cpp"]
    assert "If a file of yours had this name, it is overwritten." in said
    assert (project / "csrc/lib/new.cpp").read_text() == "int added();\n", "which is what is told"


@pytest.mark.parametrize("given", ["/no/such", "'/no such/copier'", '"\'"'])
def test_a_copier_that_is_not_there_is_told(project, given):
    for script in ("update_report", "update_check"):
        done = run(project, f"COPIER={given} {sys.executable} tools/{script}.py")
        assert done.returncode == 3 and "say where it is with COPIER=" in done.stdout and "Traceback" not in done.stderr


def test_a_path_to_copier_may_have_spaces(template, project, tmp_path):
    (tmp_path / "with spaces").mkdir()
    command = tmp_path / "with spaces" / "copier"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m copier "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    done = run(project, f"COPIER='{command}' {sys.executable} tools/update_report.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_may_be_no_git(project, tmp_path):
    (tmp_path / "copier").write_text("", encoding="utf-8")
    done = run(project, f"PATH=/nowhere COPIER={tmp_path / 'copier'} {sys.executable} tools/update_report.py")
    assert done.returncode != 0 and "install git" in done.stderr and "Traceback" not in done.stderr


def edit(project: Path, name: str, **lines: str) -> None:
    path = project / f"csrc/{name}.cpp"
    path.write_text(change(path.read_text(encoding="utf-8"), **lines), encoding="utf-8")


def read(project: Path, name: str) -> str:
    return (project / name).read_text(encoding="utf-8")


def test_edits_go_where_the_template_has_moved_their_lines(template, project):
    edit(project, "moved", line5="moved 5\nmine\n", line30="changed\n")
    edit(project, "split", line3="", line35="split 35\nbelow\n", line20="ours\n")
    edit(project, "removed", line7="edited\n")
    (project / ".gitattributes").write_text("/csrc export-ignore\n")  # which `git archive` obeys
    commit(project, "Work")

    lines = LINES["split"].splitlines(keepends=True)
    for name in ("moved", "split", "removed"):
        (template.files / f"csrc/{name}.cpp").unlink()
    template.write("csrc/device/moved.cpp", change(LINES["moved"], line15="the template's\n"))
    template.write("csrc/streams/one.cpp", "// One.\n" + "".join(lines[:13]))
    template.write("csrc/streams/two.cpp", "// Two.\n" + "".join(lines[13:17]) + "".join(lines[24:]))
    template.release()
    update(project)
    assert run(project, "git diff --check").returncode == 0, "this is lost in silence"

    status, said = report(project)
    assert status == 1
    assert "csrc/moved.cpp: belongs into csrc/device/moved.cpp" in said
    assert "csrc/split.cpp: belongs into csrc/streams/one.cpp" in said
    assert "csrc/split.cpp: belongs into csrc/streams/two.cpp" in said
    assert re.search(r"csrc/split.cpp: .* 1 of your edits found no place: `git show HEAD:csrc/split.cpp`", said)
    assert re.search(r"csrc/removed.cpp: the template has removed it, and 1 of your edits found no place", said)
    before = git(project, "status", "--porcelain")
    assert report(project) == (status, said) and git(project, "status", "--porcelain") == before

    status, said = report(project, "--apply")
    assert status == 1 and said.count("carried over to") == 3
    wanted = change(LINES["moved"], line5="moved 5\nmine\n", line15="the template's\n", line30="changed\n")
    assert read(project, "csrc/device/moved.cpp") == wanted
    assert "split 2\nsplit 4\n" in read(project, "csrc/streams/one.cpp")
    assert "split 35\nbelow\nsplit 36\n" in read(project, "csrc/streams/two.cpp")

    # What was carried over is not told again; a file that was brought back isn't either, staged or not.
    status, said = report(project)
    assert status == 1 and len(said.splitlines()) == 2
    for name in ("split", "removed"):
        git(project, "checkout", "HEAD", "--", f"csrc/{name}.cpp")
    git(project, "add", "--all")
    status, said = report(project)
    assert status == 0, said
    commit(project, "Update the template")
    assert report(project)[0] == 0


def test_an_edit_at_a_files_end_is_not_carried_to_another_file_that_ends_alike(template, project):
    end = "} // namespace\n"
    for name in ("removed", "kept"):
        template.write(f"csrc/{name}.cpp", LINES[name] + end)
    template.release()
    update(project)
    commit(project, "Update the template")
    path = project / "csrc/removed.cpp"
    path.write_text(path.read_text() + "// mine\n")
    commit(project, "Work")
    (template.files / "csrc/removed.cpp").unlink()
    template.write("csrc/kept.cpp", change(LINES["kept"], line5="the template's\n") + end)
    template.release()
    update(project)
    status, said = report(project, "--apply")
    assert status == 1 and "csrc/removed.cpp: the template has removed it, and 1 of your edits found no place" in said
    assert "mine" not in read(project, "csrc/kept.cpp")


def rewritten(text: str, first: int, last: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:first] + [f"written anew {number}\n" for number in range(first, last)] + lines[last:])


def test_a_file_is_found_whose_half_is_written_anew(template, project):
    """Whoever did that, and whoever moved it."""
    edit(project, "moved", line5="mine\n")
    path = project / "csrc/split.cpp"
    path.write_text(rewritten(LINES["split"], 20, 40))
    (project / "mine").mkdir()
    git(project, "mv", "csrc/fixed.cpp", "mine/fixed.cpp")
    (project / "mine/fixed.cpp").write_text(rewritten(LINES["fixed"], 0, 20))
    commit(project, "Work")

    for name, text in (
        ("moved", rewritten(LINES["moved"], 20, 40)),
        ("split", change(LINES["split"], line5="theirs\n")),
    ):
        (template.files / f"csrc/{name}.cpp").unlink()
        template.write(f"csrc/device/{name}.cpp", text)
    template.write("csrc/fixed.cpp", change(LINES["fixed"], line30="a fix\n"))
    template.release()
    update(project)

    status, said = report(project, "--apply")
    assert status == 0, said
    assert read(project, "csrc/device/moved.cpp") == change(rewritten(LINES["moved"], 20, 40), line5="mine\n")
    assert read(project, "csrc/device/split.cpp") == change(rewritten(LINES["split"], 20, 40), line5="theirs\n")
    assert read(project, "mine/fixed.cpp") == change(rewritten(LINES["fixed"], 0, 20), line30="a fix\n")


SMALL = "#pragma once\n\n#include <ATen/ATen.h>\n\nnamespace house {\n\n%s\n\n} // namespace house\n"


def test_headers_that_have_but_their_frame_in_common_are_different_ones(template, project):
    for name in ("apples", "pears", "plums"):
        template.write(f"csrc/{name}.h", SMALL % f"void {name}();")
    template.release()
    update(project)
    commit(project, "Update the template")
    path = project / "csrc/apples.h"
    path.write_text(SMALL % "void apples();\n\nvoid mine();")
    commit(project, "Work")
    (template.files / "csrc/apples.h").unlink()
    template.write("csrc/numbers.h", SMALL % "int numbers();")
    template.write("csrc/pears.h", SMALL % "void pears();\nvoid apples();")
    template.release()
    update(project)
    status, said = report(project, "--apply")
    assert "mine" not in read(project, "csrc/numbers.h") and "csrc/numbers.h" not in said
    wanted = SMALL % "void pears();\nvoid apples();\n\nvoid mine();"
    assert status == 0 and read(project, "csrc/pears.h") == wanted, said


def test_links_are_no_obstacle(template, project):
    (project / "sdk").symlink_to("/nowhere/sdk")
    (project / "round").symlink_to("round")
    commit(project, "Links")
    template.write("csrc/kept.cpp", change(LINES["kept"], line5="the template's\n"))
    template.release()
    update(project)
    status, said = report(project)
    assert status == 0, said


def test_a_project_without_a_commit_is_told_what_is_missing(project):
    shutil.rmtree(project / ".git")
    git(project, "init", "--quiet")
    status, said = report(project)
    assert status == 1 and "has to be a repository with a commit" in said and "Traceback" not in said


@pytest.mark.parametrize(("key", "name"), [("device_name", DEVICE), ("package_name", f"torch_{DEVICE}")])
def test_another_name_is_told(template, project, key, name):
    answers = project / ".copier-answers.yml"
    answers.write_text(read(project, ".copier-answers.yml").replace(f"{key}: {name}", f"{key}: other"))
    status, said = report(project)
    assert status == 1 and f"{key} was {name} and is other" in said


def test_a_conflict_in_the_makefile_is_told(template, project):
    makefile = project / "Makefile"
    line = next(line for line in makefile.read_text().splitlines(keepends=True) if line.startswith("TORCH ?="))
    makefile.write_text(makefile.read_text().replace(line, "TORCH ?= 0.1\n"))
    commit(project, "Work")
    path = template.files / "Makefile.jinja"
    path.write_text(re.sub(r"^TORCH \?=.*\n", "TORCH ?= 0.2\n", path.read_text(), flags=re.MULTILINE))
    template.release()
    update(project)
    done = run(project, advised(message())[0])
    assert done.returncode == 1 and "Makefile: a conflict" in done.stdout


def test_fixes_reach_files_that_the_vendor_has_moved(template, project):
    def move(name: str, to: str) -> None:
        (project / to).parent.mkdir(exist_ok=True)
        git(project, "mv", f"csrc/{name}.cpp", to)

    move("fixed", "mine/fixed.cpp")
    move("moved", "mine/moved.cpp")
    move("removed", "mine/removed.cpp")
    move("kept", "mine/kept.cpp")
    (project / "csrc/split.cpp").unlink()
    path = project / "mine/fixed.cpp"
    path.write_text(change(path.read_text(), line2="mine\n"))
    commit(project, "Work")

    template.write("csrc/fixed.cpp", change(LINES["fixed"], line30="a fix\n"))
    for name in ("moved", "split"):
        (template.files / f"csrc/{name}.cpp").rename(template.files / f"csrc/new_{name}.cpp")
    (template.files / "csrc/removed.cpp").unlink()
    template.release()
    update(project)
    assert "a fix" not in read(project, "mine/fixed.cpp"), "this is lost in silence"

    status, said = report(project)
    assert status == 1
    assert "csrc/fixed.cpp: belongs into mine/fixed.cpp" in said
    assert "csrc/moved.cpp: you moved it to mine/moved.cpp, and the template calls it csrc/new_moved.cpp now" in said
    assert "csrc/split.cpp: you had deleted it, and csrc/new_split.cpp came in its place" in said
    assert "kept" not in said and "removed.cpp" not in said
    status, said = report(project, "--apply")
    assert read(project, "mine/fixed.cpp") == change(LINES["fixed"], line2="mine\n", line30="a fix\n")
    for name in ("moved", "split"):
        (project / f"csrc/new_{name}.cpp").unlink()
    assert report(project)[0] == 0


def test_fixes_of_files_that_the_vendor_has_taken_apart_are_told(template, project):
    """And what comes of a file that was deleted and is several now."""
    lines = LINES["split"].splitlines(keepends=True)
    for part in range(4):
        text = "".join([f"// {part}\n"] * 9 + lines[part * 10 : part * 10 + 10])
        (project / f"csrc/part_{part}.cpp").write_text(text)
    into = project / "csrc/kept.cpp"
    into.write_text(into.read_text() + LINES["fixed"])
    for name in ("split", "fixed", "removed", "moved"):
        (project / f"csrc/{name}.cpp").unlink()
    (project / "csrc/moved.cpp").symlink_to("/nowhere/moved.cpp")
    commit(project, "Work")
    for name in ("split", "fixed", "moved"):
        template.write(f"csrc/{name}.cpp", change(LINES[name], line30="a fix\n"))
    (template.files / "csrc/removed.cpp").unlink()
    lines = LINES["removed"].splitlines(keepends=True)
    template.write("csrc/one.cpp", "".join(lines[:20]))
    template.write("csrc/two.cpp", "".join(lines[20:]))
    template.release()
    update(project)
    status, said = report(project)
    assert status == 1
    parts = ", ".join(f"csrc/part_{part}.cpp" for part in range(4))
    assert f"csrc/split.cpp: the template has changed it, and you have lines of it in {parts}: " in said
    assert "csrc/fixed.cpp: the template has changed it, and you have lines of it in csrc/kept.cpp: " in said
    assert "csrc/moved.cpp: a link of yours, and the template has changed its file" in said
    assert "csrc/removed.cpp: you had deleted it, and csrc/one.cpp, csrc/two.cpp came in its place" in said
    assert len(said.splitlines()) == 4, said


@pytest.mark.parametrize("how", ["inline", pytest.param("rej", marks=pytest.mark.matrix)])
def test_conflicts_are_told_and_so_are_rejects(template, project, how):
    edit(project, "fixed", line5="mine\n")
    edit(project, "moved", line5="mine\n")
    commit(project, "Work")
    template.write("csrc/fixed.cpp", change(LINES["fixed"], line5="the template's\n"))
    (template.files / "csrc/moved.cpp").unlink()
    template.write("csrc/device/moved.cpp", change(LINES["moved"], line5="the template's\n"))
    template.release()
    update(project, conflict=how)
    status, said = report(project, "--apply")
    assert status == 1
    assert ("csrc/fixed.cpp: a conflict" if how == "inline" else "csrc/fixed.cpp.rej: Copier could not place") in said
    assert (
        "csrc/moved.cpp: the template has moved it to csrc/device/moved.cpp, and 1 of your edits found no place" in said
    )


def test_a_reject_of_a_file_that_has_moved_is_told_with_the_file(template, project):
    edit(project, "moved", line5="mine\n")
    commit(project, "Work")
    (template.files / "csrc/moved.cpp").unlink()
    template.write("csrc/device/moved.cpp", change(LINES["moved"], line30="the template's\n"))
    template.release()
    update(project, conflict="rej")
    for _ in range(2):
        status, said = report(project, "--apply")
        assert status == 1 and "csrc/moved.cpp.rej: csrc/moved.cpp is gone" in said
    (project / "csrc/moved.cpp.rej").unlink()
    status, said = report(project)
    assert status == 0 and said.startswith("Nothing was lost")
    assert "mine\n" in read(project, "csrc/device/moved.cpp")


def test_what_was_committed_is_no_update(template, project):
    status, said = report(project)
    assert status == 0 and "there is no update to look at" in said
    edit(project, "fixed", line5="mine\n")
    commit(project, "Work")
    template.write("csrc/fixed.cpp", change(LINES["fixed"], line5="the template's\n"))
    template.release()
    update(project)
    commit(project, "Without a look at it")
    status, said = report(project)
    assert status == 1 and "csrc/fixed.cpp: a conflict" in said


def test_without_copier_it_says_what_is_missing(template, project):
    def without(script: str) -> tuple[int, str]:
        # Neither on the PATH nor importable.
        done = run(project, f"PATH=/nowhere COPIER= {sys.executable} -S tools/{script}.py")
        return done.returncode, done.stdout

    for script in ("update_report", "update_check"):
        status, said = without(script)
        assert status == 3 and said.startswith("There is no copier here: run `pip install copier`")


def test_whether_there_is_a_newer_version(template, project):
    def check() -> tuple[int, str]:
        done = run(project, f"{sys.executable} tools/update_check.py")
        return done.returncode, done.stdout

    assert check() == (0, "The template has no newer version.\n")
    template.write("csrc/more.cpp", "more\n")
    template.release()
    status, said = check()
    assert status == 2 and "copier update --defaults" in said
    assert run(project, "make update-check").returncode == 2

    answers = project / ".copier-answers.yml"
    answers.write_text(re.sub(r"_src_path: .*", "_src_path: /nowhere/template", answers.read_text()))
    status, said = check()
    assert status == 3 and "isn't on this machine" in said
    long = "/nowhere/" + "a folder/" * 20
    answers.write_text(yaml.safe_dump({"_src_path": long}))  # in several lines
    assert long in check()[1]
    answers.unlink()
    assert check()[0] == 3


@pytest.mark.matrix
def test_the_workflow_tells_a_newer_version_from_what_cannot_be_told(template, project):
    workflow = yaml.safe_load((variants.ROOT / "template/.github/workflows/update.yml").read_text(encoding="utf-8"))
    step = workflow["jobs"]["check"]["steps"][-1]["run"]
    script = project.parent / "step.sh"
    script.write_text(step)

    def tell() -> subprocess.CompletedProcess[str]:
        return run(project, f"bash -e {script}")

    assert tell().returncode == 0
    template.write("csrc/more.cpp", "more\n")
    template.release()
    assert tell().returncode == 2
    answers = project / ".copier-answers.yml"
    answers.write_text(re.sub(r"_src_path: .*", "_src_path: /nowhere/template", answers.read_text()))
    done = tell()
    assert done.returncode == 0 and "::warning::" in done.stdout
