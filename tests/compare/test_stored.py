import json
from dataclasses import replace

import pytest
from compare.screens import save, screen, with_square

from whatchanged.answers import Answerer
from whatchanged.compare.stored import StoredAnswers, answer_from_json, answer_to_json, key_of

IDENTITY = {"sensitivity": 1.0}


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
    path, key = tmp_path / "answers.jsonl", key_of(before, after, [])
    with pytest.raises(KeyboardInterrupt), StoredAnswers(path, IDENTITY) as stored:
        stored.add(key, answer)
        raise KeyboardInterrupt
    with path.open("a") as stream:
        stream.write('["torn')
    stored = StoredAnswers(path, IDENTITY)
    assert stored.find(key).as_json() == answer.as_json()
    assert stored.find("other") is None


def test_the_key_is_of_bytes_and_boxes_not_of_names(answered, tmp_path):
    before, after, _ = answered
    copied = tmp_path / "copy.png"
    copied.write_bytes(after.read_bytes())
    assert key_of(before, copied, []) == key_of(before, after, [])
    assert (
        len({key_of(before, after, []), key_of(after, before, []), key_of(before, after, [(0, 0, 1, 1)])})
        == 3
    )


def test_other_settings_or_anew_forget(answered, tmp_path):
    before, after, answer = answered
    path, key = tmp_path / "answers.jsonl", key_of(before, after, [])
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
