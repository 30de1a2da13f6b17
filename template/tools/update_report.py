"""Looks over what `copier update` has done, before it is committed: what was lost, what waits for a decision.

Copier merges what both sides changed in one file. Where the template renames, splits or removes a file that you edited,
your edits go with the old one; where you moved a file of the template, its changes don't find it. This renders the two
versions of the template, compares them with your last commit and with what is here now, and says of each such case
what to do. With --apply it carries over what can be placed without doubt. Status 1: something is left to do.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from copier_command import MISSING, copier_command
from moved import Carried, carry_edits, holders, moved_to, original_of
from update_check import recorded

ANSWERS = ".copier-answers.yml"
MARKERS = ("<<<<<<< before updating", ">>>>>>> after updating")

Tree = dict[str, bytes]


def git(root: Path, *arguments: str, **environment: str) -> bytes:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True)
    except OSError as error:
        raise SystemExit(f"{error}\nThis asks git what was committed before the update: install git.") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise SystemExit(
            f"{said}\nThis looks at what was committed before the update: the project has to be a repository with a commit."
        )
    return done.stdout


def committed(root: Path) -> Tree:
    """What the last commit has, but links, with the ends of lines that a checkout gives them.

    `git archive` would leave out what .gitattributes keeps from archives.
    """
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        files = Path(folder, "files")
        git(root, "read-tree", "HEAD", **index)
        git(root, "checkout-index", "--all", f"--prefix={files}/", **index)
        top = files / os.fsdecode(git(root, "rev-parse", "--show-prefix")).strip("\n")
        paths = [path for path in top.rglob("*") if path.is_file() and not path.is_symlink()]
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in paths}


def present(root: Path) -> Tree:
    """What is here now, new files included."""
    listed = os.fsdecode(git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")).split("\0")[:-1]
    paths = {name: root / name for name in dict.fromkeys(listed)}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file() and not path.is_symlink()}


def ignored(root: Path, names: set[str]) -> list[str]:
    """Those that git ignores. Copier takes such a file for one that you had deleted, and keeps nothing of it."""
    asked = b"\0".join(map(os.fsencode, sorted(names)))
    # Status 1: none is ignored.
    done = subprocess.run(["git", "-C", str(root), "check-ignore", "-z", "--stdin"], input=asked, capture_output=True)
    return os.fsdecode(done.stdout).split("\0")[:-1]


def rendered(command: list[str], root: Path, answers: bytes, folder: Path) -> Tree:
    """What the template makes of answers, in the version that they name."""
    folder.mkdir()
    (folder / ANSWERS).write_bytes(answers)
    options = ["--defaults", "--overwrite", "--quiet", "--skip-tasks"]
    if version := recorded("_commit", answers.decode()):
        options += ["--vcs-ref", version]
    done = subprocess.run([*command, "recopy", *options, str(folder)], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{done.stderr.strip()}\nThe template could not be rendered in version {version}, see above.")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def markers_in(contents: bytes) -> set[str]:
    return {line for line in contents.decode(errors="replace").splitlines() if line.startswith(MARKERS)}


def unmerged(before: Tree, now: Tree) -> Iterator[str]:
    for name, data in now.items():
        file = name.removesuffix(".rej")
        if name != file and file in now:
            yield f"{name}: Copier could not place these edits: make them by hand in {file}, and delete this file."
        elif name != file:
            yield f"{name}: {file} is gone, so Copier could not place edits of it. See {file} in this report, and delete this file."
        lines, earlier = (markers_in(contents) for contents in (data, before.get(name, b"")))
        if lines - earlier or len(lines) == len(MARKERS):
            yield f"{name}: a conflict: the first half is yours, the second the template's; keep what is right of both."


def lost_edits(old: Tree, new: Tree, before: Tree, now: Tree) -> Iterator[Carried]:
    """Files that the template no longer has, and that were not as it had made them."""
    for name in sorted(old.keys() - new.keys()):
        if name in before and before[name] != old[name] and name not in now:
            yield carry_edits(name, old, new, before, now)


def lost_fixes(old: Tree, new: Tree, before: Tree, now: Tree) -> Iterator[Carried]:
    """Files of the template that stand elsewhere in the project, and that the template has changed or renamed."""
    added = {path: now[path] for path in now.keys() & new.keys() - old.keys() - before.keys()}
    edited = {path: before[path] for path in now.keys() & before.keys() if before[path] != old.get(path)}
    for name in sorted(old.keys() - before.keys()):
        theirs = name if name in new else moved_to(name, old, new)
        if theirs and new[theirs] == old[name] == new.get(name):
            continue
        if theirs and (yours := original_of(name, old, before, now)):
            yield Carried.of_a_move(name, yours, theirs, old, new, now)
        elif found := holders(name, old, edited if name in new else added):
            changed = f"the template has changed it, and you have lines of it in {found}: see what these need of that."
            deleted = f"you had deleted it, and {found} came in its place: delete what you do without."
            yield Carried(name, {}, [changed if name in new else deleted])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apply", action="store_true", help="carry edits over where their place is beyond doubt")
    parser.add_argument("--project", type=Path, default=Path(__file__).parents[1], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    root: Path = arguments.project
    command = copier_command()
    if command is None:
        print(MISSING)
        return 3
    before, now = committed(root), present(root)
    if ANSWERS not in before or ANSWERS not in now:
        print(f"{ANSWERS} has to be committed, and to be there: it says what the template's two versions are.")
        return 3
    problems = list(unmerged(before, now))
    for key in ("device_name", "package_name"):
        name, other = (recorded(key, answers[ANSWERS].decode()) for answers in (before, now))
        if name != other:
            problems.append(
                f"{ANSWERS}: {key} was {name} and is {other}: a project keeps its name: take the update back by "
                "`git reset --hard`, and delete the new files that `git status` lists then."
            )
    is_update = before[ANSWERS] != now[ANSWERS]
    if is_update:
        with tempfile.TemporaryDirectory() as folder:
            old = rendered(command, root, before[ANSWERS], Path(folder, "old"))
            new = rendered(command, root, now[ANSWERS], Path(folder, "new"))
        for name in ignored(root, (new.keys() - old.keys()) - now.keys()):
            told = "new, and git ignores it, so it would not be committed: take it out of .gitignore"
            problems.append(f"{name}: {told}. If a file of yours had this name, it is overwritten.")
        for name in ignored(root, old.keys() - before.keys()):
            told = "git ignores it, so an update overwrites or deletes it: put edits back from a copy"
            problems.append(f"{name}: {told}, and take it out of .gitignore.")
        for name in sorted(old.keys() & new.keys()):
            if new[name] != old[name] and (root / name).is_symlink():
                problems.append(f"{name}: a link of yours, and the template has changed its file: see what of that you need.")
        # One after the other: several files may have become one.
        for found in itertools.chain(lost_edits(old, new, before, now), lost_fixes(old, new, before, now)):
            for path, data in found.placed.items():
                if now.get(path) == data:
                    continue  # as --apply leaves it
                if arguments.apply:
                    (root / path).write_bytes(data)
                    now[path] = data
                    print(f"{found.name}: carried over to {path}.")
                else:
                    problems.append(
                        f"{found.name}: belongs into {path}; `python3 tools/update_report.py --apply` carries it over."
                    )
            problems += [f"{found.name}: {problem}" for problem in found.problems]
    if problems:
        print("\n".join(problems))
    elif is_update:
        print("Nothing was lost: `git add --all`, then look at `git diff --cached`.")
    else:
        print(f"{ANSWERS} is as it was committed, so there is no update to look at. Run this before you commit one.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
