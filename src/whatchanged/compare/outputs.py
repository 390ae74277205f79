"""Check whether a folder of results may be used, and write its files."""

from pathlib import Path

from whatchanged.compare.accept import LOG
from whatchanged.compare.comparison import Comparison
from whatchanged.compare.junit import junit
from whatchanged.compare.lines import results_text
from whatchanged.compare.page import page_of
from whatchanged.compare.record import RECORD, RESULTS, digest_of_results, record_of, write_record
from whatchanged.compare.stored import is_ours, is_stored
from whatchanged.compare.summary import summary
from whatchanged.compare.written import FOLDERS
from whatchanged.errors import OutputError
from whatchanged.files import write_output
from whatchanged.page import write_page
from whatchanged.urls import is_remote

STORED = "answers.jsonl"
"""The name of the file with the answers of earlier runs. Its signature identifies a folder of results."""
FILES = (RESULTS, "junit.xml", "summary.md", "index.html", RECORD, LOG)


def claim(folder: Path) -> bool:
    """Create the folder, or use an existing folder that is empty or contains results.

    Return whether the stored answers in the folder come from another machine.

    The signature of the stored answers identifies a folder of results. Results from another machine have no
    valid signature. Such a folder is accepted if it contains only files with the expected names. The result
    is then True, and its answers must not be used. Raises OutputError if the folder cannot be used.
    """
    if is_remote(folder):
        others = {entry.name for entry in folder.iterdir()} - set(FILES) if folder.is_dir() else set()
        if others:
            raise OutputError(f"{folder}: files of others lie there ({min(others)}). Name a new place.")
        return False
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: this is a file; name a folder for the results.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: the folder {folder.absolute().parent} is not there. Make it first.")
    stored = folder / STORED
    if folder.is_dir() and any(folder.iterdir()):
        if is_ours(stored):
            return False
        names = {entry.name for entry in folder.iterdir()}
        if names <= {STORED, *FILES, *FOLDERS} and is_stored(stored):
            return True
        raise OutputError(f"{folder}: this folder holds files of others. Name a new one for the results.")
    try:
        folder.mkdir(exist_ok=True)
        stored.touch()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror}).") from error
    return False


def write_outputs(comparison: Comparison, folder: Path, embed: bool = False, page: bool = True) -> None:
    """Write all results. Each file is written completely or not at all.

    The files are results.jsonl, junit.xml, summary.md, index.html and compared.json.

    embed: whether to embed the pictures in index.html.
    page: whether to write index.html.

    The record for ``accept`` is written last, because it is valid only together with the other files. It is
    not written to a remote folder, because nothing can be accepted from there. Raises OutputError if a file
    cannot be written.
    """
    results = results_text(comparison)
    record = None if is_remote(folder) else record_of(comparison, digest_of_results(results))
    if page:
        write_page(folder / "index.html", page_of(comparison, record, folder), embed)
    write_output(folder / "junit.xml", junit(comparison))
    write_output(folder / "summary.md", summary(comparison))
    write_output(folder / RESULTS, results)
    if record is not None:
        write_record(record, folder)
