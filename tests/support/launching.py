"""Several processes at once, numbered as ``torchrun`` numbers them, but without its supervision.

They are forked from a server that has imported what they need; a test process itself must not be forked once
torch has gone backwards in it.
"""

import importlib
import os
import signal
import socket
import traceback
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

PROGRAMS = ["support.steps_together", "support.run_together"]
SECONDS = 500
"""How long a program may take on a busy machine."""
_SERVER = get_context("forkserver")
_SERVER.set_forkserver_preload(PROGRAMS)


@contextmanager
def launched(count, folder, program, *arguments):
    """The running processes, which are killed at the end if they still run.

    folder: each leaves its traceback there, in NUMBER.txt, where it fails.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = [str(argument) for argument in arguments]
    started = [
        _SERVER.Process(target=_main, args=(number, count, port, str(folder), program, arguments))
        for number in range(count)
    ]
    try:
        for process in started:
            process.start()
        yield started
    finally:
        for process in started:
            process.kill()
            process.join()


def launch(count, folder, program, *arguments):
    """Run it to its end. Raises AssertionError, with the tracebacks, where a process fails."""
    with launched(count, folder, program, *arguments) as started:
        for process in started:
            process.join(SECONDS)
        codes = [process.exitcode for process in started]
    said = [file.read_text() for file in folder.glob("[0-9].txt")]
    assert codes == [0] * count, "\n".join(map(str, (codes, *said)))


def _main(number, count, port, folder, program, arguments):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    os.environ |= {"RANK": str(number), "LOCAL_RANK": str(number)}
    try:
        importlib.import_module(program).main(*arguments)
    except BaseException:
        (Path(folder) / f"{number}.txt").write_text(traceback.format_exc())
        raise SystemExit(1) from None
