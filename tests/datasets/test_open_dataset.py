import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from whatchanged.datasets import READERS, dataset_names, open_dataset
from whatchanged.datasets.reading import Reading
from whatchanged.errors import DatasetError, PluginError


def test_what_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match="no such file or folder"):
        open_dataset(tmp_path / "absent")


def test_an_unknown_folder_is_described(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(
        DatasetError, match=r"holds notes.txt\). Known: clevr_change, .*, plain.* holds before/ and after/"
    ):
        open_dataset(tmp_path)


def test_an_unknown_ending(tmp_path):
    (tmp_path / "pairs.xlsx").touch()
    with pytest.raises(DatasetError, match=r"ends in .csv or .jsonl; this is '.xlsx'"):
        open_dataset(tmp_path / "pairs.xlsx")


def test_an_unknown_name(tmp_path):
    with pytest.raises(DatasetError, match=r"Unknown data set 'clevr'. Known: clevr_change, .*, plain"):
        open_dataset(tmp_path, "clevr")


@pytest.mark.parametrize("name", READERS)
def test_a_named_reader_refuses_what_is_not_its_own(tmp_path, name):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(DatasetError):
        open_dataset(tmp_path / "notes.txt", name)


def test_what_no_output_can_hold_is_damage(tmp_path):
    path = tmp_path / "pairs.jsonl"
    row = {"before": "a.png", "after": "a.png"}
    rows = [row, {**row, "id": "\ud800"}, {**row, "captions": ["a \udc80 moved"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DatasetError, match=r"the pair '\\ud800': .* cannot be written as UTF-8"):
        open_dataset(path, pictures=False)
    found = open_dataset(path, pictures=False, skip_missing=True)
    assert [record.pair_id for record in found.records] == ["1"] and len(found.report.damaged) == 2


def test_a_picture_whose_name_is_no_utf_8_is_damage(tmp_path):
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for name in (b"\xe9.png", b"a.png"):
            (tmp_path / side / os.fsdecode(name)).touch()
    with pytest.raises(DatasetError, match=r"the pair '\\udce9.png'"):
        open_dataset(tmp_path)
    assert [r.pair_id for r in open_dataset(tmp_path, skip_missing=True).records] == ["a.png"]


READER = """
from whatchanged.datasets import plain

def recognises(path):
    return (path / "toys.jsonl").is_file()

def read(path, reading):
    return plain.read(path / "toys.jsonl", reading)
"""


WRONG = """
from dataclasses import replace
from whatchanged.datasets import plain

def recognises(path):
    return (path / "toys.jsonl").is_file()

def read(path, reading):
    return [replace(record, {change}) for record in plain.read(path / "toys.jsonl", reading)]
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "kind='pair_captions'",
            "gives the pair '1' the kind 'pair_captions'. A record's kind is one of pair_caption,"
            " single_caption, pair_label, single_label: mend the package",
        ),
        ("kind=None", "the kind None. A record's kind is one of pair_caption"),
        ("split='validation'", "the split 'validation'. A record's split is one of train, val, test"),
    ],
)
def test_a_word_that_a_plug_ins_reader_made_up_is_refused_by_every_command(
    change, said, site, tmp_path, red, whatchanged
):
    site.install("toy-set", {"whatchanged.datasets": {"toys": "toys"}}, toys=WRONG.format(change=change))
    (tmp_path / "toys.jsonl").write_text('{"before": "red.png", "after": "red.png", "captions": ["same"]}')
    with pytest.raises(DatasetError) as raised:
        open_dataset(tmp_path, skip_missing=True)
    assert said in str(raised.value)
    for command in (("dataset", tmp_path), ("caption", tmp_path, "-o", tmp_path / "out.jsonl")):
        code, _, err = whatchanged(*command)
        assert code == 2 and "The reader of toys" in err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_plug_ins_data_set_is_recognised_before_what_fits_any_pictures(site, tmp_path, capsys):
    site.install("toy-set", {"whatchanged.datasets": {"toys": "toys"}}, toys=READER)
    broken = "def recognises(path): raise KeyError(path.name)\ndef read(path, reading): return []"
    site.install("bad-set", {"whatchanged.datasets": {"bad": "bad"}}, bad=broken)
    folder = tmp_path / "set"
    for side in ("before", "after"):  # what the reader of folders would take
        (folder / side).mkdir(parents=True)
        (folder / side / "a.png").touch()
    assert open_dataset(folder).name == "folders"
    (folder / "toys.jsonl").write_text('{"before": "before/a.png", "after": "after/a.png", "id": "one"}')
    opened = open_dataset(folder)
    assert (opened.name, [record.pair_id for record in opened.records]) == ("toys", ["one"])
    assert dataset_names()[-2:] == ("bad", "toys")
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "The data set 'bad' of bad-set 1.5 cannot be recognised: KeyError: 'set'" in err
    with pytest.raises(DatasetError, match="it names no pairs"):
        open_dataset(folder, "bad")


def test_a_plug_in_without_the_two_functions_is_told(site, tmp_path, capsys):
    site.install("bad-set", {"whatchanged.datasets": {"bad": "bad"}}, bad="read = 1")
    (tmp_path / "pairs.csv").write_text("before,after\na.png,b.png\n")
    assert open_dataset(tmp_path / "pairs.csv", pictures=False).name == "plain"
    message = (
        "The data set 'bad' of bad-set 1.5 cannot be used: TypeError: .* wanted a module with recognises"
    )
    with pytest.raises(PluginError, match=message):
        open_dataset(tmp_path / "pairs.csv", "bad")
    assert capsys.readouterr().err.count("\n") == 1


def test_a_url_is_told_with_both_its_slashes():
    for given in ("https://example.org/pairs.csv", Path("https://example.org/pairs.csv")):
        with pytest.raises(DatasetError, match=r"^https://example\.org/pairs\.csv: this is a URL"):
            open_dataset(given)


def test_a_path_that_leaves_the_folder_one_stands_in(tmp_path, monkeypatch):
    """ "the folder .." would be another one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "before").mkdir()
    with pytest.raises(DatasetError, match=r"leaves the folder '\.'\. Mend it"):
        Reading().picture(Path(), "../x.png", "line 1")


WITHOUT_RIGHTS = [
    "setpriv",
    *(f"--{kind}=-dac_override,-dac_read_search" for kind in ("inh-caps", "bounding-set")),
]


def test_a_folder_that_cannot_be_read_is_not_missing(tmp_path):
    """Root reads everything, so it gives up that right first."""
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "a.png").touch()
    (tmp_path / "pairs.csv").write_text("before,after\nlocked/a.png,locked/a.png\n")
    (tmp_path / "locked").chmod(0)
    command = [sys.executable, "-m", "whatchanged", "dataset", str(tmp_path / "pairs.csv")]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed, by which root gives up its rights")
        command = [*WITHOUT_RIGHTS, *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    (tmp_path / "locked").chmod(0o700)
    assert done.returncode == 2 and "missing" not in done.stderr
    assert "locked/a.png: its folder cannot be read (Permission denied)" in done.stderr


def test_locks_and_drafts_of_ours_are_not_what_a_folder_holds(tmp_path):
    for name in (".out.lock", ".out.host-1.draft", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(DatasetError, match=r"it holds notes.txt\)"):
        open_dataset(tmp_path)
