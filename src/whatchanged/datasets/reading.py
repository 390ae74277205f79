"""Read annotation files, which may be damaged. Every reader of a data set uses these functions.

Each reader gets one ``Reading``, and passes every damaged entry to ``damage``. ``damage`` raises
DatasetError, or lists the entry as left out if the user passed --skip-missing. A fault of a whole file always
raises DatasetError.
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
"""The names of the splits of a data set, in order."""
LONGEST_NAME, LONGEST_PATH = 255, 4096
"""The largest sizes, in bytes, of a file name and of a path on common file systems."""
SHORT = 60
"""The number of characters up to which a path is short enough for every file system."""
STORES = ("s3", "gs", "gcs", "az", "abfs", "memory")
"""The protocols of URLs that a list may contain.

The user may type URLs with the other protocols of fsspec. A list may not contain such URLs, because an
untrusted list could make this machine send requests to other machines in its network.
"""
SKIP = "Mend it, or leave it out with --skip-missing where a command has it."


@dataclass
class Reading:
    """The state of reading one data set: remarks, and the damaged entries that were left out.

    skipping: whether to leave out damaged entries instead of raising DatasetError.
    """

    skipping: bool = False
    root: Path | None = None
    """The folder or list that the user named."""
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    class_names: tuple[str, ...] = ()
    """The names of the classes, indexed by ``PairRecord.labels``."""

    def note(self, text: str) -> None:
        """Add a remark for the user."""
        self.notes.append(text)

    def damage(self, message: str) -> None:
        """Raise DatasetError for a damaged entry, or, if ``skipping``, add the message to ``left_out``."""
        if not self.skipping:
            raise DatasetError(f"{message} {SKIP}")
        self.left_out.append(message)

    def sentences(self, where: str, value: Any) -> tuple[str, ...] | None:
        """Return the captions in a list.

        Blank captions count as damage and are left out. If the value is not a list of texts, the result is
        None.
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
        """Return the path ``root / name`` of a picture.

        If the name is not a text or the path leads out of ``root``, the entry counts as damage, and the
        result is None. anywhere: whether paths may lead out of ``root``, as in a list that the user named.
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
        """Return the path ``root / name`` in a remote store.

        If the name begins like a URL (``x:/a.png``), the entry counts as damage, and the result is None.
        """
        try:
            return root / name
        except ValueError:
            self.damage(f"{where}: no path can be made of the name {name!r}, which begins like a URL.")
            return None

    def _elsewhere(self, url: str, where: str) -> Path | None:
        """Return the path of a picture for a URL in a local list.

        If the protocol of the URL is not allowed, the entry counts as damage, and the result is None.
        """
        if url.partition("://")[0].lower() not in STORES:
            self.damage(f"{where}: {url}: a list may name files and URLs of {', '.join(STORES)}.")
            return None
        from whatchanged.scale.urls import path_of

        return path_of(url)

    def json(self, path: Path) -> Any:
        """Return the value of a JSON file.

        A repeated key of an object counts as damage, and the first value of the key is used.
        """

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
        """Return the object in a JSON file; {} if the file is missing."""
        if not path.is_file():
            return {}
        value = self.json(path)
        if not isinstance(value, dict):
            raise DatasetError(f"{path}: a JSON object is wanted, this is a {type(value).__name__}.")
        return value

    def entries(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each object of a file with a JSON list of objects, or with JSON lines.

        Each object comes after the text that messages use for its position.
        """
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
        """Yield the values of each line of a file whose columns are separated by blanks.

        The last column is the rest of the line. The values come after the text that messages use for the
        line.
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
        """Return a mapping from the first column of each line to the rest of the line.

        A repeated id in the first column counts as damage, and the first line with the id is used.
        """
        results: dict[str, str] = {}
        for where, (key, value) in self.rows(path, 2):
            if key in results:
                self.damage(f"{where}: the id {key} occurs twice.")
            else:
                results[key] = value
        return results


def text(path: Path) -> str:
    """Return the text of a UTF-8 file. A byte order mark is removed. Raises DatasetError."""
    try:
        return read_regular_text(path, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start:,}). Save it as UTF-8."
        ) from error


def parse(content: str, where: str, object_pairs_hook: Any = None) -> Any:
    """Parse JSON with finite numbers.

    Raises DatasetError for other texts. where: the beginning of the error message.
    """
    try:
        return read_json(content, finite=True, object_pairs_hook=object_pairs_hook)
    except ValueError as error:
        raise DatasetError(f"{where}: not JSON ({error}). Copy or make it again.") from error


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8.

    Text from JSON may contain half of a surrogate pair, which cannot be written as UTF-8.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def leaves(name: str) -> bool:
    """Return whether a relative path leads out of its folder on any operating system, or is invalid."""
    if len(name) > SHORT and not _fits(name):
        return True
    if "\0" in name or name.startswith(("/", "\\")) or name[1:2] == ":":
        return True
    return ".." in name and ".." in name.replace("\\", "/").split("/")


def _fits(name: str) -> bool:
    """Return whether file systems accept the length of a path and the lengths of its parts."""
    data = name.encode("utf-8", "surrogatepass")
    return len(data) < LONGEST_PATH and all(len(part) <= LONGEST_NAME for part in data.split(b"/"))


def first_folder(root: Path, *names: str) -> Path:
    """Return the first existing folder.

    If none of the folders exists, return the folder with the first name.
    """
    return next((root / name for name in names if (root / name).is_dir()), root / names[0])


def first_file(root: Path, *names: str) -> Path | None:
    """Return the first existing file, or None if none of the files exists."""
    return next((root / name for name in names if (root / name).is_file()), None)


def split_files(
    root: Path, folders: Sequence[str], names: Mapping[Split, Sequence[str]]
) -> dict[Split, Path]:
    """Return a mapping from split to file.

    The files are in the first folder that contains a file of any split.
    """
    for folder in folders:
        results = {split: first_file(root / folder, *choices) for split, choices in names.items()}
        if any(results.values()):
            return {split: path for split, path in results.items() if path is not None}
    return {}


def first_entry(*paths: Path) -> dict[str, Any]:
    """Return the first object in several files with JSON lists or JSON lines.

    If no file contains an object, the result is {}. A file without objects, such as an empty list for an
    unused split, is skipped.
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
    """Read PCL's published false captions (``train_neg_tfidf6.json``, ...).

    The result maps the values of ``keys`` to the false captions.
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
    """Return the caption in lower case, with single blanks between words and without a final full stop."""
    return " ".join(caption.lower().strip(" .").split())


def with_examples(what: str, ids: Sequence[str]) -> str:
    """Return a line with the number of ids and the first ids: ``what: 1,234 (first: a, b, c)``."""
    return f"{what}: {len(ids):,} (first: {', '.join(ids[:3])})"
