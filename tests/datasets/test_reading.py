import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.datasets.reading import Reading, first_entry, leaves, parse, text
from whatchanged.errors import DatasetError


@pytest.mark.parametrize(
    "name, out",
    [
        ("a/b.png", False),
        ("a..b.png", False),
        ("./a.png", False),
        ("../a.png", True),
        ("a/../../b.png", True),
        ("/etc/passwd", True),
        ("C:\\a.png", True),
        ("\\\\host\\a.png", True),
        ("a\\..\\..\\b.png", True),
        ("a\0.png", True),
    ],
)
def test_paths_that_leave_their_folder(name, out):
    assert leaves(name) is out


@given(st.lists(st.sampled_from(["a", "..", ".", "b c"]), min_size=1, max_size=6))
def test_a_path_that_is_let_through_stays_below_its_root(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "root"
    name = "/".join(parts)
    if not leaves(name):
        assert (root / name).resolve().is_relative_to(root.resolve())


def test_a_mark_at_the_start_of_a_text_is_no_part_of_it(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf[1]")
    assert text(tmp_path / "a.json") == "[1]"


@pytest.mark.parametrize(
    "content", ["[1,", "NaN", "[Infinity]", "[" * 100_000, '{"a": 1' + "0" * 5_000 + "}"]
)
def test_json_that_is_none_or_hostile(content):
    with pytest.raises(DatasetError, match="here: not JSON"):
        parse(content, "here")


def test_damage_ends_the_reading_or_is_listed():
    with pytest.raises(DatasetError, match=r"^x is wrong. Mend it, or leave it out with --skip-missing"):
        Reading().damage("x is wrong.")
    reading = Reading(skipping=True)
    reading.damage("x is wrong.")
    assert reading.left_out == ["x is wrong."]


def test_captions_stay_as_they_are_but_for_blank_ones():
    reading = Reading(skipping=True)
    assert reading.sentences("here", [" A  b ", "\t", "A  b", ""]) == (" A  b ", "A  b")
    assert reading.left_out == ["here: caption 2 is empty.", "here: caption 4 is empty."]
    assert reading.sentences("here", ["a", 1]) is None


def test_the_first_of_two_equal_keys_stays(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1, "b": {"c": 2, "c": 3}, "a": 4}')
    reading = Reading(skipping=True)
    assert reading.json(path) == {"a": 1, "b": {"c": 2}}
    assert len(reading.left_out) == 2


def test_entries_of_a_list_and_of_lines_are_the_same(tmp_path):
    entries = [{"a": 1}, {"b": "x\u2028y"}]
    (tmp_path / "list.json").write_text(json.dumps(entries, indent=1))
    lines = "\n\n".join(json.dumps(e, ensure_ascii=False) for e in entries)
    (tmp_path / "lines.json").write_text(lines, encoding="utf-8")
    for name in ("list.json", "lines.json"):
        assert [entry for _, entry in Reading().entries(tmp_path / name)] == entries
        assert first_entry(tmp_path / name) == {"a": 1}


def test_a_broken_line_leaves_the_others(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a":\n[2]\n{"a": 3}\n')
    reading = Reading(skipping=True)
    assert [e["a"] for _, e in reading.entries(tmp_path / "a.jsonl")] == [1, 3]
    assert "a.jsonl, line 2: not JSON" in reading.left_out[0]
    assert "line 3: a JSON object is wanted, this is a list" in reading.left_out[1]


def test_the_last_column_of_a_table_takes_what_remains(tmp_path):
    (tmp_path / "t.txt").write_text("1 Oak Titmouse (Adult Male)\n\n2 Loon\n")
    assert Reading().table(tmp_path / "t.txt") == {"1": "Oak Titmouse (Adult Male)", "2": "Loon"}
