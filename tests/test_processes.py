"""Workers of a process that is killed end, too. Only processes that these tests started are signalled."""

import importlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import MissingExtra, MissingProgram, WhatchangedError
from whatchanged.files import alive
from whatchanged.processes import as_they_come, in_order, pools_from, worker_pool, works_elsewhere

WORK = """
import os, sys, time
from whatchanged.processes import worker_pool

def work(number):
    print(os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    with worker_pool(2) as pool:
        list(pool.map(work, range(2)))
"""


@pytest.fixture
def family(tmp_path):
    """A process and the numbers of its two workers, which are at work."""
    (tmp_path / "work.py").write_text(WORK)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "work.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background shells ignore it
    )
    workers = [int(process.stdout.readline()) for _ in range(2)]
    yield process, workers
    process.kill()
    process.wait()
    process.stdout.close()


def gone(pids, seconds):
    until = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_started_them(family, number):
    process, workers = family
    assert all(alive(pid) for pid in workers)
    process.send_signal(number)
    process.wait(20)
    assert gone(workers, 20)


def test_an_error_ends_the_workers_at_once(tmp_path):
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), worker_pool(2, print, ("ready",)) as pool:
        waiting = [pool.submit(time.sleep, 60) for _ in range(4)]
        assert pool.submit(int, "3") not in waiting
        raise ZeroDivisionError
    assert time.monotonic() - began < 30


def test_a_worker_hears_nothing_of_an_interrupt():
    with worker_pool(1) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
        assert pool.submit(os.getppid).result() == os.getpid()


LACKING = """
def lacking(error):
    raise error("Drawing", "a program", "a command")
"""


@pytest.mark.parametrize("error", [MissingProgram, MissingExtra])
def test_what_is_missing_in_a_worker_is_told_as_here(error, tmp_path, monkeypatch):
    (tmp_path / "lacking_in_a_worker.py").write_text(LACKING)  # this file has no name there
    monkeypatch.syspath_prepend(tmp_path)
    lacking = importlib.import_module("lacking_in_a_worker").lacking
    with worker_pool(1) as pool, pytest.raises(error) as raised:
        pool.submit(lacking, error).result(60)
    assert str(raised.value) == str(error("Drawing", "a program", "a command"))
    del sys.modules["lacking_in_a_worker"]


def begun(count, finished):
    """Tasks that are done as soon as the next one is asked for, if at all; those left are done at the end."""
    futures = [Future() for _ in range(count)]
    for number, future in enumerate(futures):
        if number in finished:
            future.set_result(number)
        yield number, future
    for number, future in enumerate(futures):
        if not future.done():
            future.set_result(number)


@given(st.integers(0, 30), st.sets(st.integers(0, 29)))
def test_every_result_comes_once(count, finished):
    assert list(in_order((future for _, future in begun(count, finished)), 100)) == list(range(count))
    results = list(as_they_come(begun(count, finished), 100))
    assert sorted(results) == [(n, n) for n in range(count)]
    early = [part for part, _ in results][: len([n for n in finished if n < count])]
    assert set(early) == {n for n in finished if n < count}  # those first that are done first


@pytest.mark.parametrize(
    "over", [in_order, lambda futures, ahead: as_they_come(((0, f) for f in futures), ahead)]
)
def test_only_so_many_tasks_are_begun_ahead(over):
    started, consumed, most = 0, 0, 0
    with ThreadPoolExecutor(2) as pool:

        def futures():
            nonlocal started
            for _ in range(40):
                started += 1
                yield pool.submit(time.sleep, 0.001)

        for _ in over(futures(), 5):
            consumed += 1
            most = max(most, started - consumed)
    assert consumed == 40 and most <= 5


def test_a_failed_task_raises_where_its_result_is_wanted():
    with ThreadPoolExecutor(1) as pool:
        results = in_order(pool.submit(int, text) for text in ("1", "x", "3"))
        assert next(results) == 1
        with pytest.raises(ValueError, match="invalid literal"):
            next(results)


def test_other_workers_in_place_of_processes():
    given = []

    def make(start, arguments):
        given.append((start, arguments))
        return ThreadPoolExecutor(1)

    with pools_from(make):
        assert works_elsewhere()
        with worker_pool(9, print, ("ready",)) as pool:
            assert isinstance(pool, ThreadPoolExecutor)
    assert given == [(print, ("ready",))] and not works_elsewhere()


def test_a_worker_that_is_ended_from_outside_is_one_message():
    with pytest.raises(WhatchangedError, match="ended from outside"), worker_pool(1) as pool:
        pool.submit(os._exit, 9).result(60)
