"""The folder of results: who may write to it, and its files."""

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
"""The answers of earlier runs; by this file, which is signed, a folder is known to be one of results."""
FILES = (RESULTS, "junit.xml", "summary.md", "index.html", RECORD, LOG)


def claim(folder: Path) -> bool:
    """Make the folder, or take one that is empty or holds results; whether all answers there are of others.

    A folder is one of results by the signature of its stored answers. Without a valid one, as where results
    were carried here from another machine, it is one if it holds nothing but files of such names. Raises
    OutputError.
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
    """Write results.jsonl, junit.xml, summary.md, index.html and compared.json, each whole or not at all.

    embed: put the pictures into index.html. page: whether to write it. The record for ``accept`` comes last:
    with others of these files it is of no use. Of a folder that lies elsewhere nothing is accepted. Raises
    OutputError.
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
