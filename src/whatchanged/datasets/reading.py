"""Read annotation files, which may be damaged; every reader uses these functions.

Each reader gets one ``Reading``, and passes every damaged entry to ``damage``. ``damage`` raises
DatasetError, or lists the entry as left out if the user passed --skip-missing. A fault of a whole file always
raises.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whatchanged.datasets.picture_files import as_spelled
from whatchanged.errors import DatasetError
from whatchanged.json_values import read_json
from whatchanged.opening import open_regular_text, read_regular_text
from whatchanged.records import Split
from whatchanged.urls import is_remote, is_url

SPLITS: tuple[Split, ...] = ("train", "val", "test")
"""Names of the splits of a data set, in order."""
LONGEST_NAME, LONGEST_PATH = 255, 4096
"""Limits of file systems in bytes: for a file name, and for a path."""
SHORT = 60
"""A path of no more characters than this always fits."""
STORES = ("s3", "gs", "gcs", "az", "abfs", "memory")
"""Protocols of URLs that a list may contain. The other protocols of fsspec are for URLs that the user types:
a list could make this machine send requests to its neighbours.
"""
SKIP = "Mend it, or leave it out with --skip-missing where a command has it."


@dataclass
class Reading:
    """The state of reading one data set: remarks, and the damaged entries that were left out.

    skipping: leave out damaged entries instead of raising.
    """

    skipping: bool = False
    root: Path | None = None
    """The folder or list that the user named."""
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    class_names: tuple[str, ...] = ()
    """Names of the classes that ``PairRecord.labels`` number."""

    def note(self, text: str) -> None:
        """Add a remark for the user."""
        self.notes.append(text)

    def damage(self, message: str) -> None:
        """Handle a damaged entry: raise DatasetError, or add it to ``left_out`` where skipping was
        requested.
        """
        if not self.skipping:
            raise DatasetError(f"{message} {SKIP}")
        self.left_out.append(message)

    def sentences(self, where: str, value: Any) -> tuple[str, ...] | None:
        """Return the captions of a list without blank ones, which are damage; None where it is no list of
        texts.
        """
        if not isinstance(value, list) or not all(isinstance(caption, str) for caption in value):
            self.damage(f"{where} should be a list of sentences.")
            return None
        if all(caption and not caption.isspace() for caption in value):
            return tuple(value)
        for number, caption in enumerate(value, start=1):
            if not caption.strip():
                self.damage(f"{where}: caption {number} is empty.")
        return tuple(caption for caption in value if caption.strip())

    def picture(self, root: Path, name: Any, where: str, anywhere: bool = False) -> Path | None:
        """Return ``root / name``; None, and damage, where the name is no text or its path leaves ``root``.

        anywhere: paths may lead out of ``root``, as in a list that the user named.
        """
        if not isinstance(name, str) or not name.strip():
            self.damage(f"{where} should name a picture, not {name!r}.")
            return None
        if is_url(name) and anywhere and not is_remote(root):
            return self._elsewhere(name, where)
        inside = not anywhere or is_remote(root)
        if "\0" in name or (inside and (leaves(name) or is_url(name))):
            self.damage(f"{where}: the path {name!r} leaves the folder {str(root)!r}.")
            return None
        return self._in_store(root, name, where) if is_remote(root) else as_spelled(root, name)

    def _in_store(self, root: Path, name: str, where: str) -> Path | None:
        """Return ``root / name`` of a store; None, and damage, where the name begins like a URL
        (``x:/a.png``).
        """
        try:
            return root / name
        except ValueError:
            self.damage(f"{where}: no path can be made of the name {name!r}, which begins like a URL.")
            return None

    def _elsewhere(self, url: str, where: str) -> Path | None:
        """Return a picture that a local list names by URL; None, and damage, where its protocol is not
        allowed.
        """
        if url.partition("://")[0].lower() not in STORES:
            self.damage(f"{where}: {url}: a list may name files and URLs of {', '.join(STORES)}.")
            return None
        from whatchanged.scale.urls import path_of

        return path_of(url)

    def json(self, path: Path) -> Any:
        """Return the value of a JSON file. A repeated key of an object is damage (the first one stays)."""

        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            results = dict(pairs)
            if len(results) < len(pairs):
                results = {}
                for key, value in pairs:
                    if key in results:
                        self.damage(f"{path}: the key {key!r} occurs twice.")
                    else:
                        results[key] = value
            return results

        return parse(text(path), str(path), once)

    def json_object(self, path: Path) -> dict[str, Any]:
        """Return the object of a JSON file; {} where there is no such file."""
        if not path.is_file():
            return {}
        value = self.json(path)
        if not isinstance(value, dict):
            raise DatasetError(f"{path}: a JSON object is wanted, this is a {type(value).__name__}.")
        return value

    def entries(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (where, object) of a JSON list of objects, or of JSON lines, whichever the file is."""
        whole = text(path)
        if whole.lstrip()[:1] == "[":
            value, unit = enumerate(parse(whole, str(path)), start=1), "entry"
        else:
            value, unit = enumerate(whole.split("\n"), start=1), "line"
        for number, entry in value:
            where = f"{path}, {unit} {number}"
            if unit == "line":
                if not entry.strip():
                    continue
                try:
                    entry = parse(entry, where)
                except DatasetError as error:
                    self.damage(str(error))
                    continue
            if isinstance(entry, dict):
                yield where, entry
            else:
                self.damage(f"{where}: a JSON object is wanted, this is a {type(entry).__name__}.")

    def rows(self, path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
        """Yield (where, values) of a file with columns separated by blanks; the last column is the rest of
        the line.
        """
        if not path.is_file():
            raise DatasetError(f"{path}: missing. Unpack the data set again.")
        for number, line in enumerate(text(path).splitlines(), start=1):
            values = line.split(maxsplit=columns - 1)
            if len(values) == columns:
                yield f"{path}, line {number}", values
            elif values:
                self.damage(f"{path}, line {number}: {len(values)} values, wanted {columns}.")

    def table(self, path: Path) -> dict[str, str]:
        """Return first column -> rest of the line; a repeated id is damage (the first one stays)."""
        results: dict[str, str] = {}
        for where, (key, value) in self.rows(path, 2):
            if key in results:
                self.damage(f"{where}: the id {key} occurs twice.")
            else:
                results[key] = value
        return results


def text(path: Path) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark. Raises DatasetError."""
    try:
        return read_regular_text(path, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start:,}). Save it as UTF-8."
        ) from error


def parse(content: str, where: str, object_pairs_hook: Any = None) -> Any:
    """Parse JSON with finite numbers. Raises DatasetError that names ``where``."""
    try:
        return read_json(content, finite=True, object_pairs_hook=object_pairs_hook)
    except ValueError as error:
        raise DatasetError(f"{where}: not JSON ({error}). Copy or make it again.") from error


def is_unicode(text: str) -> bool:
    """Return whether the text can be written as UTF-8; JSON can contain halves of surrogate pairs, which
    cannot.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def leaves(name: str) -> bool:
    """Return whether this relative path leads out of its folder, on any system, or is no valid path."""
    if len(name) > SHORT and not _fits(name):
        return True
    if "\0" in name or name.startswith(("/", "\\")) or name[1:2] == ":":
        return True
    return ".." in name and ".." in name.replace("\\", "/").split("/")


def _fits(name: str) -> bool:
    """Return whether file systems accept a path of this length, and parts of this length."""
    data = name.encode("utf-8", "surrogatepass")
    return len(data) < LONGEST_PATH and all(len(part) <= LONGEST_NAME for part in data.split(b"/"))


def first_folder(root: Path, *names: str) -> Path:
    """Return the first of the folders that exists; the first name where none does."""
    return next((root / name for name in names if (root / name).is_dir()), root / names[0])


def first_file(root: Path, *names: str) -> Path | None:
    """Return the first of the files that exists."""
    return next((root / name for name in names if (root / name).is_file()), None)


def split_files(
    root: Path, folders: Sequence[str], names: Mapping[Split, Sequence[str]]
) -> dict[Split, Path]:
    """Return split -> its file, from the first of the folders that holds any."""
    for folder in folders:
        results = {split: first_file(root / folder, *choices) for split, choices in names.items()}
        if any(results.values()):
            return {split: path for split, path in results.items() if path is not None}
    return {}


def first_entry(*paths: Path) -> dict[str, Any]:
    """Return the first object of the JSON lists or JSON lines; {} where there is none.

    A file without an entry, such as an empty list for an unused split, is skipped.
    """
    return next(filter(None, map(_first_entry, paths)), {})


def _first_entry(path: Path) -> dict[str, Any]:
    try:
        with open_regular_text(path, "utf-8-sig") as file:
            start = file.read(1 << 16).lstrip().removeprefix("[").lstrip()
        value = json.JSONDecoder().raw_decode(start)[0]
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def negatives(
    reading: Reading, root: Path, splits: Sequence[Split], keys: Sequence[str]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Read PCL's published false captions (``train_neg_tfidf6.json``, ...): values of ``keys`` ->
    captions.
    """
    results: dict[tuple[str, ...], tuple[str, ...]] = {}
    for split in splits:
        path = root / f"{split}_neg_tfidf6.json"
        if not path.is_file():
            continue
        for where, entry in reading.entries(path):
            sentences = reading.sentences(f"{where}: 'neg_samples'", entry.get("neg_samples"))
            if sentences is not None:
                key = tuple(str(entry.get(name)) for name in keys)
                results[key] = results.get(key, ()) + sentences
    return results


def bare(caption: str) -> str:
    """Return the caption in lower case, with single blanks between words, without a full stop at the end."""
    return " ".join(caption.lower().strip(" .").split())


def with_examples(what: str, ids: Sequence[str]) -> str:
    """Return ``what: 1,234 (first: a, b, c)``."""
    return f"{what}: {len(ids):,} (first: {', '.join(ids[:3])})"
