import pytest
from support.compared_screens import save, screen, two_runs, with_square

from whatchanged.compare import run
from whatchanged.compare.ignore import Ignored
from whatchanged.compare.pairs import PairToCompare, match_folders
from whatchanged.compare.policies import PolicyFor
from whatchanged.compare.settings import CompareSettings
from whatchanged.compare.stored import StoredAnswers
from whatchanged.errors import WhatchangedError
from whatchanged.measured.policy import DEFAULT, Policy


def test_every_pair_has_its_outcome_in_order(tmp_path):
    old, new = two_runs(tmp_path, same=1, squares=1)
    save(screen(5), old / "gone.png")
    save(screen(6), new / "new.png")
    (new / "bad.png").write_bytes(b"no picture")
    save(screen(1), old / "bad.png")
    seen = []
    outcomes = run.answer_pairs(match_folders(old, new).pairs, CompareSettings(), advance=seen.append)
    told = [(one.pair.pair_id, one.changed, one.failed) for one in outcomes]
    assert told == [
        ("00.png", False, False),
        ("01.png", True, False),
        ("bad.png", False, True),
        ("gone.png", True, False),
        ("new.png", True, False),
    ]
    assert outcomes[0].answer.verdict == "identical" and sum(seen) == 5


def test_files_of_the_same_bytes_are_not_decoded(tmp_path, monkeypatch):
    old, new = two_runs(tmp_path, same=3, squares=0)
    monkeypatch.setattr(run, "_answered", lambda tasks, settings, workers: iter(tasks and 1 / 0))
    outcomes = run.answer_pairs(match_folders(old, new).pairs, CompareSettings())
    assert [one.answer.verdict for one in outcomes] == ["identical"] * 3


def test_stored_answers_are_used_again(tmp_path, monkeypatch):
    old, new = two_runs(tmp_path)
    pairs = match_folders(old, new).pairs
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        first = run.answer_pairs(pairs, CompareSettings(), stored, workers=1)
    monkeypatch.setattr(run, "_answer", lambda answerer, task: 1 / 0)
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        again = run.answer_pairs(pairs, CompareSettings(), stored, workers=1)
    assert [one.answer.as_json() for one in again] == [one.answer.as_json() for one in first]


def same_two_files(tmp_path, count):
    """Pairs of copies of two pictures that differ, under other names."""
    pairs = []
    for number in range(count):
        before, after = tmp_path / f"old-{number}.png", tmp_path / f"new-{number}.png"
        save(screen(1), before)
        save(with_square(screen(1), 3), after)
        pairs.append(PairToCompare(f"{number}.png", before, after))
    return pairs


def test_the_same_two_files_are_answered_once(tmp_path, monkeypatch):
    pairs = same_two_files(tmp_path, 3)
    answer, asked = run._answer, []
    monkeypatch.setattr(run, "_answer", lambda answerer, task: asked.append(task) or answer(answerer, task))
    policies = (PolicyFor("2.png", Policy("own", sensitivity=0.5)),)
    settings = CompareSettings(policies=policies, read_text=False)
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        outcomes = run.answer_pairs(pairs, settings, stored, workers=1)
    assert [task.index for task in asked] == [0, 2]
    assert [one.answer.policy for one in outcomes] == ["default", "default", "own"]
    assert outcomes[0].answer.as_json() == outcomes[1].answer.as_json()
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        again = run.answer_pairs(pairs, settings, stored, workers=1)
    assert len(asked) == 2
    assert [one.answer.policy for one in again] == ["default", "default", "own"]


def test_what_is_wrong_with_a_file_is_not_said_of_its_copy(tmp_path):
    pairs = same_two_files(tmp_path, 2)
    for pair in pairs:
        pair.after.write_bytes(b"no picture")
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        outcomes = run.answer_pairs(pairs, CompareSettings(), stored, workers=1)
    assert [f"new-{number}.png" in one.error for number, one in enumerate(outcomes)] == [True, True]


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_answer_about_a_picture_that_was_replaced_meanwhile_is_not_stored(tmp_path, monkeypatch, side):
    old, new = two_runs(tmp_path, same=0, squares=1)
    pairs = match_folders(old, new).pairs
    answer = run._answer

    def slowly(answerer, task):
        found = answer(answerer, task)
        save(screen(9), getattr(task, side))
        return found

    monkeypatch.setattr(run, "_answer", slowly)
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        (first,) = run.answer_pairs(pairs, CompareSettings(), stored, workers=1)
    assert first.failed and "was replaced while it was compared" in first.error
    monkeypatch.setattr(run, "_answer", answer)
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        (second,) = run.answer_pairs(pairs, CompareSettings(), stored, workers=1)
    (anew,) = run.answer_pairs(pairs, CompareSettings(), workers=1)
    assert second.answer.as_json() == anew.answer.as_json()


@pytest.mark.slow
def test_processes_give_what_one_gives(tmp_path):
    old, new = two_runs(tmp_path, squares=16)
    pairs = match_folders(old, new).pairs
    several = run.answer_pairs(pairs, CompareSettings(), workers=2)
    one = run.answer_pairs(pairs, CompareSettings(), workers=1)
    assert [found.answer.measured for found in several] == [found.answer.measured for found in one]


def test_processes_are_started_where_they_are_worth_it(tmp_path):
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    small.write_bytes(b"x")
    large.write_bytes(b"x" * 10 * run.USUAL_BYTES)
    few, many, long = (
        [run._PairToAnswer(0, path, path, (), DEFAULT)] * count
        for path, count in ((small, 7), (small, 100), (large, 2))
    )
    assert [run._count(8, tasks) for tasks in (few, many, long)] == [1, 8, 2]
    assert run._count(1, many) == 1 and run._count(None, few) == 1
    assert 1 <= run._count(None, many) <= 12


def end_this_process(answerer, task):
    import os

    os._exit(9)


@pytest.mark.slow
def test_a_process_that_is_ended_is_told(tmp_path, monkeypatch):
    old, new = two_runs(tmp_path, squares=16)
    monkeypatch.setattr(run, "_answer", end_this_process)
    with pytest.raises(WhatchangedError, match=r"ended from outside.*fewer --workers"):
        run.answer_pairs(match_folders(old, new).pairs, CompareSettings(), workers=2)


def test_ignored_boxes_and_which_of_them_hold_a_difference(tmp_path):
    before = save(screen(1), tmp_path / "before.png")
    after = save(with_square(screen(1)), tmp_path / "after.png")
    around, beside, elsewhere = (165, 88, 195, 115), (0, 0, 5, 5), (0, 0, 200, 120)
    ignored = (Ignored("*", around), Ignored("x*", beside), Ignored("y*", elsewhere))
    (outcome,) = run.answer_pairs([PairToCompare("x.png", before, after)], CompareSettings(ignored=ignored))
    assert not outcome.changed and outcome.ignored and not outcome.noise
    assert outcome.boxes == (around, beside) and outcome.touched == (0,)
    (outcome,) = run.answer_pairs(
        [PairToCompare("x.png", before, after)], CompareSettings(ignored=ignored[1:])
    )
    assert outcome.changed and outcome.touched == ()


def test_strict_and_sensitivity_reach_the_answer(tmp_path):
    before = save(screen(1), tmp_path / "before.png")
    faint = screen(1)
    faint[100:118, 170:188] -= 2  # two grey levels are seen by nobody
    after = save(faint, tmp_path / "after.png")
    pair = PairToCompare("x.png", before, after)
    changed = [
        run.answer_pairs([pair], settings)[0].changed
        for settings in (CompareSettings(), CompareSettings(strict=True))
    ]
    assert changed == [False, True]
    with pytest.raises(WhatchangedError, match="sensitivity"):
        CompareSettings(sensitivity=0.0)


def test_a_pair_that_is_in_trouble_fails(tmp_path):
    path = save(screen(1), tmp_path / "a.png")
    (outcome,) = run.answer_pairs([PairToCompare("x", path, path, trouble="a pointer")], CompareSettings())
    assert outcome.failed and outcome.error == "a pointer" and not outcome.changed


def test_a_file_that_may_not_be_read_is_its_pairs_error_alone(tmp_path, lock):
    old, new = two_runs(tmp_path, same=1, squares=1)
    pairs = match_folders(old, new).pairs
    lock(new / "00.png")
    wanted = f"{new / '00.png'}: cannot read the file: Permission denied."
    with StoredAnswers(tmp_path / "stored", {}) as stored:
        for results in (
            run.answer_pairs(pairs, CompareSettings()),
            run.answer_pairs(pairs, CompareSettings(), stored),
        ):
            assert [one.error for one in results] == [wanted, ""] and results[1].changed


def test_a_file_that_goes_away_meanwhile_is_its_pairs_error_alone(tmp_path):
    old, new = two_runs(tmp_path, same=0, squares=2)
    pairs = match_folders(old, new).pairs
    (new / "00.png").unlink()
    outcomes = run.answer_pairs(pairs, CompareSettings(), workers=None)
    assert "there is no such file" in outcomes[0].error and outcomes[1].changed
