import json
import sys

import pytest

from whatchanged.training.log import RunLog


def test_a_log_opened_at_a_length_forgets_what_came_later(tmp_path, capsys):
    with RunLog(tmp_path, 0, 0, quiet=False) as log:
        log.write({"stage": "s", "step": 1, "mlm": 2.5}, 1)
        kept = log.length
        log.write({"stage": "s", "step": 2, "mlm": 1.5}, 2)
    with RunLog(tmp_path, kept, 1, quiet=False) as log:
        log.write({"stage": "s", "step": 2, "mlm": 1.25}, 2)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["mlm"] for line in lines] == [2.5, 1.25]
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["s 1: mlm 2.5", "s 2: mlm 1.5", "s 2: mlm 1.25"]
    assert shown.out == ""


def test_a_log_opened_twice_before_anything_is_written_keeps_its_length(tmp_path):
    with RunLog(tmp_path, 0, 0, quiet=True) as log:
        log.write({"stage": "s", "step": 1, "mlm": 2.5}, 1)
        kept = log.length
        log.write({"stage": "s", "step": 2, "mlm": 1.5}, 2)
    with RunLog(tmp_path, kept, 1, quiet=True) as log:
        assert log.length == kept
    with RunLog(tmp_path, kept + 100, 1, quiet=True) as log:
        log.write({"stage": "s", "step": 2, "mlm": 1.25}, 2)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["mlm"] for line in lines] == [2.5, 1.25]


def test_quiet_is_quiet(tmp_path, capsys):
    with RunLog(tmp_path, 0, 0, quiet=True) as log:
        log.write({"stage": "s", "step": 1, "mlm": 2.5}, 1)
        log.info("hello")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_with_the_losses(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    with RunLog(tmp_path, 0, 0, quiet=False) as log:
        log.stage("caption", 3, 10)
        log.advance(4)
        log.write({"stage": "caption", "step": 4, "mlm": 2.5}, 4)
        log.stage("more", 0, 5)
    shown = capsys.readouterr()
    assert "caption" in shown.err and "4/10" in shown.err and "mlm 2.5" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_an_error_closes_the_log(tmp_path, quiet):
    with pytest.raises(ValueError, match="x"), RunLog(tmp_path, 0, 0, quiet) as log:
        raise ValueError("x")
    with pytest.raises(ValueError, match="closed file"):
        log.write({"stage": "s", "step": 1}, 1)
