"""Finds where the content of a file went, and brings edits of one side to where the other side has moved the text."""

from __future__ import annotations

import difflib
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Tree = dict[str, bytes]
# Of a file half of which was written anew, half is left; two files of one kind have almost as much in common. But they
# have few lines in common that stand in no third one.
ALIKE = 0.48
ITS_OWN = 0.3
PART = 0.1
CONTEXT = 3


def lines_of(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").splitlines(keepends=True)


def joined(lines: Iterable[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")


def similarity(one: bytes, other: bytes) -> float:
    """How much of two files is the same lines, wherever they stand."""
    first, second = (Counter(line.strip() for line in lines_of(data)) for data in (one, other))
    return 2 * (first & second).total() / ((first + second).total() or 1)


def most_alike(data: bytes, own: set[str], candidates: Tree) -> str | None:
    """The file with most of the same lines. What many files have in common, such as braces, proves nothing."""
    wanted = ITS_OWN * len(own)
    with_own = {name: other for name, other in candidates.items() if len(own.intersection(lines_of(other))) >= wanted}
    found = {name: similarity(data, other) for name, other in with_own.items()}
    best = max(found, key=lambda name: found[name], default=None)
    return best if best is not None and found[best] >= ALIKE else None


def moved_to(name: str, old: Tree, new: Tree) -> str | None:
    """What the template calls a file that it no longer has under its name."""
    added = {path: data for path, data in new.items() if path not in old}
    return most_alike(old[name], lines_of_its_own(name, old), added)


def original_of(name: str, old: Tree, before: Tree, now: Tree) -> str | None:
    """Where in the project a file of the template stands that its vendor has moved."""
    added = {path: data for path, data in before.items() if path not in old and path in now}
    return most_alike(old[name], lines_of_its_own(name, old), added)


def holders(name: str, old: Tree, candidates: Tree) -> str:
    """Where a file's own lines stand, if much of them stands there: it may have become several, or part of another."""
    own = lines_of_its_own(name, old)
    found = {path: own.intersection(lines_of(data)) for path, data in candidates.items()}
    parts = {path: lines for path, lines in found.items() if len(lines) >= PART * len(own)}
    enough = len(set().union(*parts.values())) >= ITS_OWN * len(own) > 0
    return ", ".join(sorted(parts)) if enough else ""


def merged(ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """All three as git merges them; None, where they are in conflict."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        done = subprocess.run(["git", "merge-file", "-p", "-q", *map(str, paths)], capture_output=True)
    return done.stdout if done.returncode == 0 else None


@dataclass
class Hunk:
    """Lines that became others, between lines that stayed."""

    before: list[str]
    old: list[str]
    new: list[str]
    after: list[str]

    def around(self, context: int) -> tuple[list[str], list[str]]:
        """That many of the lines on each side, where there are so many."""
        return self.before[max(0, len(self.before) - context) :], self.after[:context]

    def places(self, lines: list[str], context: int, block: list[str]) -> list[int]:
        """Where `block` stands between that many of the lines around it."""
        head, tail = self.around(context)
        wanted = head + block + tail
        positions = range(len(lines) - len(wanted) + 1) if wanted else ()
        return [position + len(head) for position in positions if lines[position : position + len(wanted)] == wanted]


def hunks(old: bytes, new: bytes) -> Iterator[Hunk]:
    first, second = lines_of(old), lines_of(new)
    for tag, i, j, k, m in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Hunk(first[max(0, i - CONTEXT) : i], first[i:j], second[k:m], first[j : j + CONTEXT])


@dataclass
class Carried:
    """What becomes of a file's edits: files with them in, and what only a person can do."""

    name: str
    placed: Tree = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @classmethod
    def of_a_move(cls, name: str, yours: str, theirs: str, old: Tree, new: Tree, now: Tree) -> Carried:
        """The template's changes, in the place where the vendor has the file."""
        carried = cls(name)
        both = merged(now[yours], old[name], new[theirs])
        if both is None:
            carried.problems.append(
                f"you moved it to {yours}, and the template's changes conflict with yours: `git show HEAD:{yours}` is "
                f"yours; render the template anew to see its own {theirs}, and take over what you need."
            )
        else:
            carried.placed[yours] = both
        if theirs != name and theirs in now:
            told = f"you moved it to {yours}, and the template calls it {theirs} now: keep one of the two."
            carried.problems.append(told)
        return carried


def carry_edits(name: str, old: Tree, new: Tree, before: Tree, now: Tree) -> Carried:
    """The vendor's edits of a file that the template no longer has: each where its lines have gone."""
    carried = Carried(name)
    renamed = moved_to(name, old, new)
    if renamed is not None and renamed in now:
        both = merged(now[renamed], old[name], before[name])
        if both is not None:
            carried.placed[renamed] = both
            return carried
    own = lines_of_its_own(name, old)
    changed = {path: lines_of(data) for path, data in now.items() if path in new and new[path] != old.get(path)}
    candidates = {path: lines for path, lines in changed.items() if own.intersection(lines)}
    left = 0
    for hunk in hunks(old[name], before[name]):
        place = _place(hunk, candidates, own)
        if place is None:
            left += 1
        elif place[1] is not None:
            path, position = place[0], place[1]
            candidates[path][position : position + len(hunk.old)] = hunk.new
            carried.placed[path] = joined(candidates[path])
    if left:
        gone = f"the template has {'moved it to ' + renamed if renamed else 'removed it'}"
        carried.problems.append(
            f"{gone}, and {left} of your edits found no place: `git show HEAD:{name}` has them; "
            f"bring back the file, or make the edits where they belong now."
        )
    return carried


def lines_of_its_own(name: str, old: Tree) -> set[str]:
    """The lines that no other file has: where they are now, text of this file has gone, and not just a closing brace."""
    others = {line for path, data in old.items() if path != name for line in lines_of(data)}
    return set(lines_of(old[name])) - others


def _place(hunk: Hunk, candidates: dict[str, list[str]], own: set[str]) -> tuple[str, int | None] | None:
    """Where a hunk fits: file and line, or no line where it is in already. None: nowhere, or in several places.

    One of the lines that it stands between, or replaces, has to be the file's own: every file ends with the same brace.
    """
    for context in range(CONTEXT, 0, -1):
        done = [path for path, lines in candidates.items() if hunk.places(lines, context, hunk.new)]
        if len(done) == 1:
            return done[0], None
        head, tail = hunk.around(context)
        if not own.intersection(head + hunk.old + tail):
            return None
        found = [(path, at) for path, lines in candidates.items() for at in hunk.places(lines, context, hunk.old)]
        if len(found) == 1:
            return found[0]
        if found or done:
            return None
    return None
