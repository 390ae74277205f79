import os
import signal
import subprocess
import sys
import time

import pytest

import whatchanged as package
from whatchanged.cli import COMMANDS, main

HEAVY = ("torch", "numba", "safetensors", "sklearn", "onnx", "tensorboard", "pandas", "scipy")

PROGRAM = f"""
import sys
import time
from whatchanged.cli import main
try:
    main()
finally:
    loaded = {{name.split(".")[0] for name in sys.modules}}
    print("loaded:", *sorted(loaded & set({HEAVY!r})), file=sys.stderr)
"""


@pytest.fixture
def listed_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("before,after\na.png,b.png\n")
    return path


def fresh(*arguments):
    """The command line in an interpreter of its own: exit code, stdout, stderr, heavy modules loaded."""
    # an older Typer uses what a newer Click deprecates
    warnings = ["-W", "error", "-W", "ignore:'click.utils:DeprecationWarning"]
    command = [sys.executable, *warnings, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    *err, loaded = done.stderr.splitlines()
    assert loaded.startswith("loaded:"), done.stderr
    return done.returncode, done.stdout, "\n".join(err), loaded.removeprefix("loaded:").split()


def test_help_names_every_command(whatchanged):
    code, out, _ = whatchanged("--help")
    assert code == 0
    assert all(f" {name} " in out for name in COMMANDS)
    assert whatchanged("-h")[1] == out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(whatchanged, name):
    code, out, _ = whatchanged(name, "--help")
    assert code == 0 and f"whatchanged {name}" in out


def test_version(whatchanged):
    assert whatchanged("--version")[:2] == (0, f"whatchanged {package.__version__}\n")


def test_wrong_usage(whatchanged):
    assert whatchanged("no-such-command")[0] == 2
    assert whatchanged("describe")[0] == 2


def test_a_systems_refusal_is_a_message(whatchanged, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", "secret.csv")

    monkeypatch.setattr("whatchanged.datasets.open_dataset", refuse)
    code, _, err = whatchanged("caption", "secret.csv", "-o", "out.jsonl")
    assert (code, err) == (2, "whatchanged: secret.csv: Permission denied\n")


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("recipes",), ("train", "--help")])
def test_nothing_heavy_is_loaded(arguments):
    code, _, _, loaded = fresh(*arguments)
    assert (code, loaded) == (0, [])


def test_captioning_and_scoring_load_no_torch(bundle_folder, pictures, tmp_path):
    model = ("--model", bundle_folder)
    code, out, _, loaded = fresh("describe", *pictures, *model, "--heatmap", tmp_path / "heat.png")
    assert (code, loaded) == (0, []) and out.startswith("the square changed")
    (tmp_path / "pairs.jsonl").write_text(
        '{"before": "before.png", "after": "after.png", "captions": ["the square changed"]}\n' * 2
    )
    predictions = tmp_path / "out.jsonl"
    code, _, err, loaded = fresh("caption", tmp_path / "pairs.jsonl", "-o", predictions, *model)
    assert (code, loaded) == (0, []), err
    code, out, err, loaded = fresh("evaluate", predictions, tmp_path / "pairs.jsonl")
    assert (code, loaded) == (0, []), err
    assert "CIDEr" in out


def test_the_package_itself_imports_nothing_heavy():
    program = "import whatchanged, sys; print('numpy' in sys.modules, 'onnxruntime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_counts_though_a_library_raises_an_error_in_its_place(monkeypatch, capsys, sent):
    """As code in C does that cannot go on with the exception of a signal."""

    def app(prog_name):
        try:
            os.kill(os.getpid(), sent)
            time.sleep(5)
        except BaseException:
            raise ValueError("Invalid bounding box") from None

    monkeypatch.setattr("whatchanged.cli.app", app)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 128 + sent and "Traceback" not in capsys.readouterr().err
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_terminated_command_cleans_up_and_the_handler_is_given_back(monkeypatch):
    """The command ends as an exit, so that ``finally`` runs; afterwards the signal is what it was."""
    cleaned = []

    def works(prog_name):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        finally:
            cleaned.append(prog_name)

    monkeypatch.setattr("whatchanged.cli.app", works)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 128 + signal.SIGTERM and cleaned == ["whatchanged"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_fault_of_the_program_is_told_apart(whatchanged, monkeypatch):
    """1 would say that pairs failed, or that something changed."""

    def stumble(*arguments, **options):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("whatchanged.datasets.open_dataset", stumble)
    code, out, err = whatchanged("caption", "pairs.csv", "-o", "out.jsonl")
    assert (code, out) == (70, "") and "Traceback" in err and "nobody thought of this" in err


def test_a_reader_that_has_gone_is_no_fault(listed_pairs):
    """The pipe's other end is closed before anything is printed."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "whatchanged", "dataset", listed_pairs, "--annotations-only"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writing)
    assert done.returncode == 1 and b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(tmp_path, bundle_folder, pictures, closed):
    """No output may take the number of a stream and get what others print."""
    pairs, out = tmp_path / "pairs.csv", tmp_path / "out.jsonl"
    pairs.write_text(f"before,after\n{pictures[0]},{pictures[1]}\n")
    run = [sys.executable, "-m", "whatchanged", "caption", pairs, "-o", out, "--model", bundle_folder]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *map(str, run)]
    assert subprocess.run(shell, timeout=60, check=False).returncode == 0
    lines = out.read_text().splitlines()
    assert lines and all(line.startswith("{") for line in lines)
    missing = subprocess.run([*shell[:4], *shell[4:7], "describe", "no.png", "no.png"], check=False)
    assert missing.returncode == 2


def test_the_package_is_a_program():
    command = [sys.executable, "-m", "whatchanged", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == f"whatchanged {package.__version__}\n"


def test_what_strangers_wrote_cannot_act_on_the_terminal(whatchanged, tmp_path):
    name = "\x1b[2J\x1b]0;owned\x07\u202e.png"
    code, out, err = whatchanged("describe", tmp_path / name, tmp_path / "b.png")
    assert code == 2 and r"\x1b[2J\x1b]0;owned\x07\u202e.png" in err
    assert not set("\x1b\x07\u202e") & set(out + err)


def test_what_is_very_long_is_cut(whatchanged, tmp_path):
    code, _, err = whatchanged("train", "pcl-tiny", "-o", tmp_path / "run", "--set", f"seed={'9' * 4000}")
    assert code == 2 and "too large" in err and len(err) < 6000
    code, _, err = whatchanged("train", "x" * 100_000, "-o", tmp_path / "run")
    assert code == 2 and "100,001 characters" in err and len(err) < 6000


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("seed=18446744073709551616", "seed: got a number that is too large"),
        ("seed=" + "9" * 5000, "seed: got"),
        ("method.width=100000000", "method.width: got 100000000, wanted a number above 0, at most 65,536"),
        ("stage.caption.lr=1e300", "stage.caption.lr: got 1e+300, wanted a number above 0"),
        ("stage.caption.lr=" + "9" * 400, "too large"),
        ("data.path=" + "[" * 5000, "File name too long"),
    ],
)
def test_numbers_and_nesting_without_bound_are_one_message(whatchanged, tmp_path, setting, said):
    code, _, err = whatchanged("train", "pcl-tiny", "-o", tmp_path / "run", "--set", setting)
    assert code == 2 and said in err, err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_told(whatchanged, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("whatchanged.datasets.open_dataset", interrupted)
    code, _, err = whatchanged("caption", "pairs.csv", "-o", "out.jsonl")
    assert (code, err) == (130, "whatchanged: interrupted.\n")
