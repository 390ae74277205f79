"""A run that is told to stop saves first; what it then learns is what it would have learned."""

import os
import signal
import threading
from dataclasses import replace

import pytest
from support.finished_runs import assert_same

from whatchanged.training import loop
from whatchanged.training.checkpoint import read_state
from whatchanged.training.interrupts import noting_signals
from whatchanged.training.run import run_recipe


def stopped_at(step, monkeypatch, number, times=1):
    """From that step on, this process gets the signal, so many times."""
    counted, seen = loop.count_terms, []

    def count(*given):
        seen.append(given)
        for _ in range(times if len(seen) == step else 0):
            os.kill(os.getpid(), number)
        counted(*given)

    monkeypatch.setattr(loop, "count_terms", count)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_has_saved_its_last_step(quick_recipe, unbroken, tmp_path, monkeypatch, capsys, number):
    run, ends = tmp_path / "run", KeyboardInterrupt if number == signal.SIGINT else SystemExit
    rare = replace(quick_recipe, stages=tuple(replace(s, save_every=1000) for s in quick_recipe.stages))
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    with monkeypatch.context() as patch, pytest.raises(ends) as ended:
        stopped_at(5, patch, number)
        run_recipe(rare, run, device="cpu")
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert ends is KeyboardInterrupt or ended.value.code == 143
    assert read_state(run / "checkpoints" / "last.safetensors").step == 5
    said = capsys.readouterr().err
    assert f"{number.name}: this step ends" in said
    assert "Stopped and saved at pretrain, step 5. Go on with --resume." in said
    assert run_recipe(None, run, resume=True, quiet=True, device="cpu").finished
    assert_same(run, unbroken)


def test_a_second_signal_ends_at_once(quick_recipe, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stopped_at(5, patch, signal.SIGINT, times=2)
        run_recipe(quick_recipe, tmp_path / "run", quiet=True, device="cpu")
    saved = tmp_path / "run" / "checkpoints" / "last.safetensors"
    assert not saved.exists()


def test_a_run_without_a_checkpoint_says_that_it_starts_over(quick_recipe, tmp_path, monkeypatch, capsys):
    test_a_second_signal_ends_at_once(quick_recipe, tmp_path, monkeypatch)
    run_recipe(None, tmp_path / "run", resume=True, device="cpu", max_seconds=0)
    assert "ended before its first checkpoint, so it starts over" in capsys.readouterr().err


def test_a_thread_hears_no_signals():
    results = []

    def ask():
        with noting_signals(print) as request:
            results.append(request.signal)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert results == [None]
