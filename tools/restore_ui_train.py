"""Restores the pictures of the data set `ui_train` from clones of the projects that they come from.

    python tools/restore_ui_train.py CLONES OUT [--labels LABELS] [--only OWNER/NAME] [--list]

CLONES: a folder with a clone of each project, as OWNER/NAME or NAME (``--list`` prints the commands that
make them). OUT: the new folder, which then holds pairs.jsonl and images/, and is read by
`whatchanged dataset OUT`.

Only the git program reads the clones, object by object. Nothing in them is run or checked out, and nothing is
fetched. Every picture must have the id that the labels name (its SHA-1 in git), and it must be possible to
decode it. Otherwise the tool writes nothing.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from whatchanged.compare.git_program import run_git
from whatchanged.compare.written import write_picture
from whatchanged.errors import DatasetError, OutputError, WhatchangedError
from whatchanged.files import whole_folder, write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text

LABELS = Path(__file__).parents[1] / "data" / "ui_train" / "labels.jsonl"
MOST_BYTES = 100_000_000
"""Of one picture."""
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_BLOB = re.compile(r"[0-9a-f]{40}")
_ID = re.compile(r"[A-Za-z0-9][\w-]*")

Label = dict[str, Any]


def read_labels(path: Path) -> list[Label]:
    """The lines of a file of labels. Raises DatasetError where one cannot be used."""
    try:
        lines = read_regular_text(path).split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the labels cannot be read ({error}).") from error
    results = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            results.append(_label(f"{path}, line {number}", line))
    if not results:
        raise DatasetError(f"{path}: it holds no labels.")
    return results


def _label(where: str, line: str) -> Label:
    """One line, whose names lead nowhere else. Raises DatasetError."""
    try:
        label = dict(read_json(line))
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{where}: not a JSON object ({error}).") from error
    for key, form in (("id", _ID), ("repo", _REPO), ("blob_before", _BLOB), ("blob_after", _BLOB)):
        if not isinstance(label.get(key), str) or not form.fullmatch(label[key]):
            raise DatasetError(f"{where}: {key!r} is {label.get(key)!r}, which names none.")
    return label


def clone_of(clones: Path, repo: str) -> Path | None:
    """Where the clone of a project lies: OWNER/NAME or NAME; None where it lies at neither."""
    for folder in (clones / repo, clones / repo.partition("/")[2]):
        if (folder / ".git").exists():
            return folder
    return None


def clones_of(clones: Path, repos: Sequence[str]) -> dict[str, Path]:
    """Project -> its clone. Raises DatasetError that says how to make those that are missing."""
    found = {repo: clone_of(clones, repo) for repo in repos}
    missing = [repo for repo, folder in found.items() if folder is None]
    if missing:
        commands = "\n".join(f"    {clone_command(repo, clones)}" for repo in missing)
        raise DatasetError(f"{clones}: no clone of {len(missing)} projects. Make them:\n{commands}")
    return {repo: folder for repo, folder in found.items() if folder is not None}


def clone_command(repo: str, clones: Path) -> str:
    """What a person types to get a project with the whole of its history, without its files laid out."""
    return f"git clone --no-checkout https://github.com/{repo} {clones / repo}"


def read_blob(clone: Path, blob: str) -> bytes:
    """The bytes of an object. Raises DatasetError where it is not there, too large, or another one."""
    size = int(run_git(clone, "cat-file", "-s", blob))
    if size > MOST_BYTES:
        raise DatasetError(f"{clone}: {blob} has {size:,} bytes; at most {MOST_BYTES:,} are read.")
    data = run_git(clone, "cat-file", "blob", blob)
    if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != blob:
        raise DatasetError(f"{clone}: {blob} does not hold what its name says. Clone the project again.")
    return data


def restore(labels: Sequence[Label], clones: Path, out: Path) -> int:
    """Write OUT with the pictures of these labels; returns how many pictures there are.

    Raises DatasetError where a clone or an object is missing, ImageError where one is no picture, OutputError
    where OUT is there.
    """
    if out.exists():
        raise OutputError(f"{out}: it is there already. Name a new folder.")
    folders = clones_of(clones, list(dict.fromkeys(label["repo"] for label in labels)))
    count = 0
    with whole_folder(out) as draft:
        lines = []
        for label in labels:
            names = {}
            for side, name, data in _pictures(label, folders[label["repo"]]):
                write_picture(data, draft / name, f"{label['path']} ({side}) of {label['repo']}")
                names[side] = name
                count += 1
            lines.append(json.dumps({**label, **names}, ensure_ascii=False) + "\n")
        write_whole(draft / "pairs.jsonl", "".join(lines).encode())
    return count


def _pictures(label: Label, clone: Path) -> Iterator[tuple[str, str, bytes]]:
    """(before or after, name, bytes) of both pictures of a pair."""
    for side in ("before", "after"):
        yield side, f"images/{label['id']}_{side}.png", read_blob(clone, label[f"blob_{side}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--only", action="append", default=[], help="this project alone; may be given again")
    parser.add_argument("--list", action="store_true", help="print what clones the projects, and stop")
    options = parser.parse_args(arguments)
    try:
        labels = read_labels(options.labels)
        repos = list(dict.fromkeys(label["repo"] for label in labels))
        unknown = [repo for repo in options.only if repo not in repos]
        if unknown:
            raise DatasetError(f"--only {unknown[0]}: no such project. Known: {', '.join(repos)}.")
        wanted = options.only or repos
        if options.list:
            print("\n".join(clone_command(repo, options.clones) for repo in wanted))
            return 0
        if options.out is None:
            parser.error("name the folder to make, OUT, or pass --list")
        chosen = [label for label in labels if label["repo"] in wanted]
        count = restore(chosen, options.clones, options.out)
    except WhatchangedError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{options.out}: {len(chosen):,} pairs, {count:,} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
