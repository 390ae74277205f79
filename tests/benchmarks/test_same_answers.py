"""What the comparison of two trees' answers calls a difference, what it keeps, and two pairs as a whole."""

import re
from pathlib import Path

import pytest

SCRIPT = "same_answers"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def records(bench):
    from benchmarks import same_answers_records

    return same_answers_records


@pytest.fixture
def commands(bench):
    from benchmarks import same_answers_commands

    return same_answers_commands


@pytest.fixture
def two_pairs(bench, monkeypatch):
    """The comparison of two pairs of the demonstration with the default settings, instead of many."""
    from benchmarks import same_answers_pairs

    few = same_answers_pairs.PairSet("demo", "demo", {"unnamed": {}})
    kept = {"demo": lambda folder, tree: list(same_answers_pairs.demo_pairs(folder, tree))[:2]}
    monkeypatch.setattr(bench, "SETS", (few,))
    monkeypatch.setattr(same_answers_pairs, "KEPT", kept)


# What differs

ANSWER = {"id": "1", "caption": "the cube moved", "no_change": 0.25, "changes": [{"box_after": [1, 2, 3, 4]}]}


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, []),
        ({"caption": "the cube"}, ["ui/1/caption"]),
        ({"no_change": 0.25000000000000006}, ["ui/1/no_change"]),
        ({"changes": [{"box_after": [1, 2, 3, 5]}]}, ["ui/1/changes"]),
        ({"doubtful": True}, ["ui/1/doubtful"]),
    ],
)
def test_every_field_is_compared_in_every_digit(changed, names, records):
    found = records.answer_differences("ui", [ANSWER], [{**ANSWER, **changed}])
    assert [one.name for one in found] == names


def test_a_pair_that_only_one_side_answered_is_a_difference(records):
    results = list(records.answer_differences("ui", [ANSWER], []))
    assert {one.now for one in results} == {records.MISSING}
    assert {one.name for one in results} == {f"ui/1/{field}" for field in ANSWER}


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        (b"one\ntwo\n", b"one\ntvo\n", ("line 2: 'two'", "line 2: 'tvo'")),
        (b"one\n", b"one\ntwo", ("line 2: ''", "line 2: 'two'")),
        (b"one\ntwo", b"one", ("line 2: 'two'", "line 2: (nothing)")),
        (b"\xff\x00", b"\xff\x01\x02", ("2 bytes", "3 other bytes")),
        (None, b"12", ("(nothing)", "a file of 2 bytes")),
    ],
)
def test_the_first_line_that_differs_is_shown(was, now, words, records):
    assert records.first_difference(was, now) == words


def test_of_a_long_line_the_part_that_differs_is_shown(records):
    was, now = records.first_difference(b"a" * 5000 + b"old", b"a" * 5000 + b"new")
    assert was.endswith("old'")
    assert now.endswith("new'")
    assert len(was) < 500


def test_outputs_are_compared_file_by_file(records, tmp_path):
    for side, code in (("old", "0"), ("new", "1")):
        (tmp_path / side / "files").mkdir(parents=True)
        (tmp_path / side / "1.code").write_text(code)
        (tmp_path / side / "files" / "same.txt").write_text("same")
    (tmp_path / "new" / "files" / "more.txt").write_text("more")
    results = list(records.output_differences("commands/a", tmp_path / "old", tmp_path / "new"))
    assert [one.name for one in results] == ["commands/a/1.code", "commands/a/files/more.txt"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("commands/help-*", ["commands/a/1.code"]),
        ("commands/a", ["commands/help-train/1.stdout"]),
        ("commands/*/1.stdout", ["commands/a/1.code"]),
        ("commands/hel", ["commands/help-train/1.stdout", "commands/a/1.code"]),
        ("commands", []),
    ],
)
def test_what_is_excepted_by_name(pattern, left, records):
    names = ("commands/help-train/1.stdout", "commands/a/1.code")
    differences = [records.Difference(name, "1", "2") for name in names]
    assert [one.name for one in records.unexcepted(differences, [pattern])] == left


# What is kept


def test_a_line_that_was_cut_short_is_written_again(records, tmp_path):
    file = tmp_path / "answers.jsonl"
    assert records.read_whole_lines(file) == []
    file.write_text('{"id": "1"}\n{"id": "2", "cap')
    assert records.read_whole_lines(file) == [{"id": "1"}]
    assert file.read_text() == '{"id": "1"}\n'


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("12 pairs, 3.4 a second, in 12.5 s", "12 pairs, N a second, in N s"),
        ("whatchanged 0.2.0 and /home/me/tree/src", "whatchanged VERSION and TREE/src"),
        ('{"version": "0.2.0", "no_change": 0.25}', '{"version": "VERSION", "no_change": 0.25}'),
        ('"README.md": {\n "size": 12,\n "sha256": "1f"}', '"README.md": {\n "size": N,\n "sha256": "HASH"}'),
        ('"a.onnx": {\n "size": 12,\n "sha256": "1f"}', '"a.onnx": {\n "size": 12,\n "sha256": "1f"}'),
        ("moved right by 12 pixels, 12 of 40 changed", "moved right by 12 pixels, 12 of 40 changed"),
    ],
)
def test_times_versions_and_paths_are_normalised_and_nothing_else(text, kept, commands):
    assert commands.normalised(text.encode(), {"/home/me/tree": "TREE"}).decode() == kept


def test_bytes_that_are_no_text_stay(commands):
    assert commands.normalised(b"\xff 12 s", {}) == b"\xff 12 s"


def test_of_a_command_codes_streams_and_files_are_kept(commands, tmp_path):
    inputs, out = tmp_path / "inputs", tmp_path / "out"
    inputs.mkdir()
    (inputs / "pairs.csv").write_text("before,after\n")
    commands.run_command(["--version", "none < inputs/pairs.csv"], inputs, out, ROOT)
    assert (out / "1.code").read_text() == "0\n"
    assert (out / "1.stdout").read_text() == "whatchanged VERSION\n"
    assert (out / "2.code").read_text() == "2\n"
    assert "No such command" in (out / "2.stderr").read_text()
    assert not (out / "files").exists()  # the inputs are as they were


def test_written_changed_and_removed_files_are_kept(commands, tmp_path):
    place = tmp_path / "place"
    (place / "run" / "events").mkdir(parents=True)
    (place / "changed.txt").write_text("old")
    (place / "gone.txt").write_text("old")
    before = commands.contents(place)
    (place / "changed.txt").write_text("new")
    (place / "gone.txt").unlink()
    (place / "run" / "events" / "1").write_text("of this machine")
    commands.keep_files(place, before, tmp_path / "out", {})
    assert commands.contents(tmp_path / "out") == {"changed.txt": b"new", "removed.txt": b"gone.txt\n"}


def test_only_the_commands_that_are_named_are_run_and_compared(bench, tmp_path, capsys):
    record = tmp_path / "record"
    (record / "inputs").mkdir(parents=True)
    (record / "commands.json").write_text('{"version": ["--version"], "help": ["--help"]}')
    given = ["--tree", str(ROOT), "--only", "commands", "--commands", "ver*"]
    assert bench.main([*given, "--keep", str(record)]) == 0
    assert [path.name for path in (record / "commands").iterdir()] == ["version"]
    assert bench.main([*given, "--against", str(record)]) == 0
    assert "| commands | 1 | equal |" in capsys.readouterr().out
    (record / "commands" / "version" / "1.stdout").write_text("whatchanged none\n")
    assert bench.main([*given, "--against", str(record)]) == 1
    assert "commands/version/1.stdout" in capsys.readouterr().out
    assert bench.main([*given, "--against", str(record), "--except", "commands/version"]) == 0


def test_every_line_is_of_a_promised_command_and_reads_inputs_that_are_listed(bench):
    from benchmarks import same_answers_inputs as inputs
    from benchmarks import same_answers_lines as lines

    forms = (lines.DESCRIBE, lines.CAPTION, lines.COMPARE, lines.EVALUATE)
    given = [line for form in forms for line in form.values()]
    steps = [step for steps in lines.OTHERS.values() for step in steps]
    assert {step.split()[0] for step in steps} <= {*lines.COMMANDS, "--version", "none"}
    read = {name for line in (*given, *steps) for name in re.findall(r"inputs/([\w.]+)", line)}
    listed = inputs.__doc__.replace("pairs.csv, .jsonl", "pairs.csv pairs.jsonl")
    assert {name for name in read if name not in listed} == {"none", "none.csv", "none.png"}


# A whole comparison


@pytest.mark.slow
def test_a_tree_equals_itself_and_goes_on_where_it_was_stopped(bench, two_pairs, tmp_path, capsys):
    record = tmp_path / "record"
    given = ["--tree", str(ROOT), "--keep", str(record), "--only", "demo"]
    assert bench.main(given) == 0
    answers = record / "answers" / "demo.unnamed.jsonl"
    whole = answers.read_text()
    first, second = whole.splitlines(keepends=True)
    answers.write_text(first + second[:20])  # as if it had been stopped
    assert bench.main(given) == 0
    assert answers.read_text() == whole
    assert bench.main(["--tree", str(ROOT), "--against", str(record), "--only", "demo"]) == 0
    assert "| demo.unnamed | 2 | equal |" in capsys.readouterr().out


@pytest.mark.slow
def test_another_answer_is_told_and_ends_in_exit_code_1(bench, two_pairs, tmp_path, capsys):
    record = tmp_path / "record"
    bench.main(["--tree", str(ROOT), "--keep", str(record), "--only", "demo"])
    answers = record / "answers" / "demo.unnamed.jsonl"
    answers.write_text(answers.read_text().replace("the large green", "the small green", 1))
    given = ["--tree", str(ROOT), "--against", str(record), "--only", "demo"]
    assert bench.main(given) == 1
    assert "demo.unnamed/01/caption" in capsys.readouterr().out
    assert bench.main([*given, "--except", "demo.unnamed/01/caption"]) == 0


def test_a_record_of_another_state_of_the_code_is_refused(bench, tmp_path):
    tree, record = tmp_path / "tree", tmp_path / "record"
    (tree / "src" / "whatchanged").mkdir(parents=True)
    bench.claim(record, tree)
    bench.claim(record, tree)
    (tree / "src" / "whatchanged" / "new.py").write_text("")
    with pytest.raises(SystemExit, match="another state of the code"):
        bench.claim(record, tree)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--tree", str(ROOT)], "--keep or --against"),
        (["--tree", "none", "--keep", "record"], "no src/whatchanged here"),
    ],
)
def test_a_wrong_call_is_told(given, words, bench, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        bench.main(given)
    assert words in capsys.readouterr().err


def test_a_part_that_was_not_recorded_is_told(bench, tmp_path):
    given = ["--tree", str(ROOT), "--against", str(tmp_path), "--keep", str(tmp_path / "new")]
    with pytest.raises(SystemExit, match="this part is not recorded"):
        bench.main([*given, "--only", "ui"])
    with pytest.raises(SystemExit, match="this part is not recorded"):
        bench.main([*given, "--only", "commands"])
