import json
import os
from dataclasses import replace

import pytest
from support.compared_screens import save, screen, with_square

from whatchanged.answers import Answerer
from whatchanged.compare.stored import (
    StoredAnswers,
    answer_from_json,
    answer_to_json,
    is_ours,
    is_stored,
    key_of,
)
from whatchanged.measured.policy import DEFAULT

IDENTITY = {"signature": 9, "sensitivity": 1.0}


@pytest.fixture
def answered(tmp_path):
    before = save(screen(1), tmp_path / "before.png")
    after = save(with_square(screen(1)), tmp_path / "after.png")
    return before, after, replace(Answerer().answer(before, after), sources=None)


def test_an_answer_comes_back_as_it_was(answered):
    answer = answered[2]
    found = answer_from_json(json.loads(json.dumps(answer_to_json(answer))))
    assert found.measured == answer.measured
    assert found.changes == answer.changes and found.changes
    assert found.as_json("x") == answer.as_json("x")


def test_answers_are_kept_as_they_come_and_found_again(answered, tmp_path):
    before, after, answer = answered
    path, key = tmp_path / "answers.jsonl", key_of(before, after, [], DEFAULT)
    with pytest.raises(KeyboardInterrupt), StoredAnswers(path, IDENTITY) as stored:
        stored.add(key, answer)
        raise KeyboardInterrupt
    with path.open("a") as stream:
        stream.write('["torn')
    stored = StoredAnswers(path, IDENTITY)
    assert stored.find(key).as_json() == answer.as_json()
    assert stored.find("other") is None


def test_the_key_is_of_bytes_boxes_and_policy_not_of_names(answered, tmp_path):
    before, after, _ = answered
    copied = tmp_path / "copy.png"
    copied.write_bytes(after.read_bytes())
    assert key_of(before, copied, [], DEFAULT) == key_of(before, after, [], DEFAULT)
    keys = (
        key_of(before, after, [], DEFAULT),
        key_of(after, before, [], DEFAULT),
        key_of(before, after, [(0, 0, 1, 1)], DEFAULT),
        key_of(before, after, [], replace(DEFAULT, fill=8)),
    )
    assert len(set(keys)) == 4


def test_other_settings_or_anew_forget(answered, tmp_path):
    before, after, answer = answered
    path, key = tmp_path / "answers.jsonl", key_of(before, after, [], DEFAULT)
    with StoredAnswers(path, IDENTITY) as stored:
        stored.add(key, answer)
    assert StoredAnswers(path, {"sensitivity": 2.0}).find(key) is None
    assert StoredAnswers(path, IDENTITY, anew=True).find(key) is None


def test_what_is_not_asked_for_any_more_is_dropped(answered, tmp_path):
    path = tmp_path / "answers.jsonl"
    with StoredAnswers(path, IDENTITY) as stored:
        stored.add("one", answered[2])
        stored.add("two", answered[2])
    with StoredAnswers(path, IDENTITY) as stored:
        assert stored.find("two") is not None
    assert [json.loads(line)[0] for line in path.read_text().splitlines()[1:]] == ["two"]


def test_a_spoiled_entry_is_no_answer(answered, tmp_path):
    path = tmp_path / "answers.jsonl"
    with StoredAnswers(path, IDENTITY) as stored:
        stored.add("one", answered[2])
    path.write_text(path.read_text().replace('"verdict"', '"verdikt"'))
    assert StoredAnswers(path, IDENTITY).find("one") is None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000, "[" * 5000])
def test_an_entry_that_could_not_be_written_again_is_none(answered, tmp_path, number):
    path = tmp_path / "answers.jsonl"
    with StoredAnswers(path, IDENTITY) as stored:
        stored.add("one", answered[2])
    with path.open("a") as stream:
        stream.write(f'["two", {{"score": {number}}}]\n')
    with StoredAnswers(path, IDENTITY) as stored:
        assert stored.find("one") is not None and stored.find("two") is None


@pytest.mark.parametrize("name", ["sentence", "no_change", "verdict", "doubtful", "answer"])
def test_a_member_of_another_type_is_no_answer(answered, name):
    answer = answered[-1]
    with pytest.raises(TypeError, match=name):
        answer_from_json({**answer_to_json(answer), name: ["wrong"]})


@pytest.fixture
def stored_file(answered, tmp_path):
    """A file with an answer, "one"."""
    path = tmp_path / "answers.jsonl"
    with StoredAnswers(path, IDENTITY) as stored:
        stored.add("one", answered[2])
    return path


def other_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))


def edited(path, change):
    """Change the entry of the file's only answer: [key, answer, signature]."""
    first, line = path.read_text().splitlines()
    entry = json.loads(line)
    path.write_text(f"{first}\n{json.dumps(change(entry))}\n")


def test_an_answer_that_a_stranger_edited_is_not_read(stored_file):
    edited(stored_file, lambda entry: [entry[0], {**entry[1], "verdict": "unchanged"}, entry[2]])
    assert StoredAnswers(stored_file, IDENTITY).find("one") is None


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry[:2],
        lambda entry: [*entry[:2], None],
        lambda entry: [*entry[:2], "0" * 64],
        lambda entry: [*entry, "more"],
        lambda entry: entry[0],
        lambda entry: {entry[0]: entry[1]},
    ],
)
def test_an_answer_without_its_signature_is_not_read(stored_file, change):
    edited(stored_file, change)
    assert StoredAnswers(stored_file, IDENTITY).find("one") is None


def test_a_signature_is_of_one_pair_and_one_set_of_settings(stored_file, answered):
    key, answer, signature = json.loads(stored_file.read_text().splitlines()[1])
    edited(stored_file, lambda entry: ["two", *entry[1:]])
    assert StoredAnswers(stored_file, IDENTITY).find("two") is None
    with StoredAnswers(stored_file, {"sensitivity": 2.0}) as stored:
        stored.find("one")
    with stored_file.open("a") as stream:
        stream.write(json.dumps([key, answer, signature]) + "\n")
    assert StoredAnswers(stored_file, {"sensitivity": 2.0}).find("one") is None


def test_answers_of_another_machine_are_not_read_nor_is_its_folder_ours(stored_file, tmp_path, monkeypatch):
    assert is_ours(stored_file) and StoredAnswers(stored_file, IDENTITY).find("one") is not None
    other_machine(monkeypatch, tmp_path)
    assert is_stored(stored_file) and not is_ours(stored_file)
    with StoredAnswers(stored_file, IDENTITY) as stored:
        assert stored.find("one") is None
    assert is_ours(stored_file)


def test_a_file_is_ours_from_its_beginning(tmp_path):
    with StoredAnswers(tmp_path / "answers.jsonl", IDENTITY):
        assert is_stored(tmp_path / "answers.jsonl") and is_ours(tmp_path / "answers.jsonl")


@pytest.mark.parametrize(
    ("content", "formed"),
    [
        ("", True),
        ('{"format": 1, "signature": 9}\n', True),
        ('[{"format": 2, "signature": 9}, "00"]\n', True),
        ('[{"format": 2, "signature": 9}, null]\n', True),
        ('{"format": "mine"}\n', False),
        ("[]\n", False),
        ("not JSON", False),
        ("[" * 20_000, False),
    ],
)
def test_the_form_of_a_file_makes_it_nobodys(tmp_path, content, formed):
    (tmp_path / "answers.jsonl").write_text(content)
    assert is_stored(tmp_path / "answers.jsonl") == formed and not is_ours(tmp_path / "answers.jsonl")


def test_what_is_no_file_is_nobodys(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe", "none"):
        assert not is_stored(tmp_path / name) and not is_ours(tmp_path / name)
