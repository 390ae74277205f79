"""Workers of a process that is killed end, too. Only processes that these tests started are signalled."""

import os
import signal
import subprocess
import sys
import time

import pytest

from whatchanged.files import alive
from whatchanged.processes import worker_pool

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
