import json
import shutil
from dataclasses import replace

import pytest

from whatchanged import signing
from whatchanged.compare.outputs import write_outputs
from whatchanged.compare.pairs import digest
from whatchanged.compare.record import RECORD, RESULTS, read_record, record_of
from whatchanged.errors import OutputError


@pytest.fixture
def report(found, tmp_path):
    folder = tmp_path / "report"
    folder.mkdir()
    write_outputs(found, folder)
    return folder


def test_what_was_shown_is_read_back(found, report):
    record = read_record(report)
    assert record == record_of(found, record.results)
    pairs = {pair.pair_id: pair for pair in record.pairs}
    old = found.matched.old
    assert pairs["02.png"].old == old / "02.png" and pairs["02.png"].was == digest(old / "02.png")
    assert pairs["00.png"].same and pairs["gone.png"].why and pairs["broken.png"].why
    assert pairs["new|*.png"].was is None and pairs["new|*.png"].old == old / "new|*.png"
    (group,) = record.groups
    assert [record.pairs[place].pair_id for place in group.odd] == ["04.png"]


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["record"]["pairs"][2].update(old="/home/me/.profile"),
        lambda document: document["record"].update(tool="", folder="/"),
        lambda document: document.update(signature="0" * 64),
        lambda document: document.pop("signature"),
        lambda document: document.pop("record"),
    ],
)
def test_a_record_that_somebody_else_wrote_is_refused(report, change):
    document = json.loads((report / RECORD).read_text())
    change(document)
    (report / RECORD).write_text(json.dumps(document))
    with pytest.raises(OutputError, match=r"not written here, by this user\. Compare again"):
        read_record(report)


def test_a_record_of_another_machine_is_refused(report, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    signing._key_of_process.cache_clear()
    with pytest.raises(OutputError, match="not written here"):
        read_record(report)


def test_a_record_goes_with_its_results(report):
    with (report / RESULTS).open("a") as stream:
        stream.write("\n")
    with pytest.raises(OutputError, match=r"results\.jsonl: these are others .* Compare again"):
        read_record(report)
    (report / RESULTS).unlink()
    with pytest.raises(OutputError, match=r"results\.jsonl: cannot be read"):
        read_record(report)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'"x"'])
def test_what_is_no_record_is_refused(report, content):
    (report / RECORD).write_bytes(content)
    with pytest.raises(OutputError, match=RECORD):
        read_record(report)


def test_a_folder_without_a_record_is_refused(tmp_path):
    with pytest.raises(OutputError, match="Name the folder of a comparison's results"):
        read_record(tmp_path)


def test_in_a_copy_of_a_project_the_pictures_of_the_copy_are_meant(found, report, tmp_path):
    copy = shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name}-copy"))
    record = read_record(copy / report.name)
    assert record.folder == copy / found.matched.old.name
    assert {pair.old.parent for pair in record.pairs if pair.old} == {record.folder}


def test_a_picture_that_went_meanwhile_cannot_be_accepted(found):
    added = next(one for one in found.outcomes if one.pair.status == "added")
    added.pair.after.unlink()
    (pair,) = record_of(replace(found, outcomes=(added,), groups=()), "hash").pairs
    assert pair.why == "it was gone, or no file, when the results were written"
