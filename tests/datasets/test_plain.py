import json

import pytest
from PIL import Image

from whatchanged.datasets import open_dataset, plain
from whatchanged.datasets.reading import Reading
from whatchanged.errors import DatasetError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pictures").mkdir()
    for name in ("a.png", "b.png", "c.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / "pictures" / name)
    return tmp_path


def test_csv_with_all_columns(folder):
    path = folder / "pairs.csv"
    path.write_text(
        "id,after,before,captions,site\n"
        'x,pictures/b.png,pictures/a.png,"one, two|three",north\n'
        ",pictures/c.png,pictures/a.png,,south\n",
        encoding="utf-8-sig",
    )
    dataset = open_dataset(path)
    first, second = dataset.records
    assert dataset.name == "plain"
    assert (first.pair_id, second.pair_id) == ("x", "3")
    assert first.before == folder / "pictures/a.png" and first.after == folder / "pictures/b.png"
    assert first.captions == ("one, two", "three")
    assert second.captions == ()
    assert first.extra == {"site": "north"}
    assert first.changed is None and first.change_type is None


def test_json_lines(folder):
    path = folder / "pairs.jsonl"
    rows = [
        {"before": "pictures/a.png", "after": "pictures/b.png", "id": 7, "captions": ["one|two"]},
        {"before": "pictures/a.png", "after": "pictures/c.png"},
    ]
    path.write_text("\n".join(["", *map(json.dumps, rows)]) + "\n")
    first, second = open_dataset(path).records
    assert (first.pair_id, second.pair_id) == ("7", "3")
    assert (first.captions, second.captions) == (("one|two",), ())


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("p.csv", "", "the file is empty"),
        ("p.csv", "before,after\n", "the list is empty"),
        (
            "p.csv",
            "img1,img2\na,b\n",
            "no column 'before' and no column 'after'. Its first line names: img1, img2",
        ),
        ("p.csv", "before;after\na;b\n", "Its first line names: before;after.* has semicolons between"),
        ("p.csv", "before\tafter\na\tb\n", "has tabs between its columns: save it with commas"),
        ("p.csv", "before,after,before\na,b,c\n", "names the column 'before' more than once"),
        ("p.csv", "before,after\na.png\n", "line 2: 'after' should name a picture"),
        ("p.csv", "before,after\na,b,c\n", "line 2: more values than columns"),
        ("p.csv", 'before,after\n"a,b\n', "not a CSV file"),
        ("p.csv", "before,after,id\na,b,1\na,c,1\n", r"1 ids occur more than once \(first: 1\)"),
        ("p.jsonl", "", "the list is empty"),
        ("p.jsonl", '{"before": "a", "after": "b"}\n{"before":', "line 2: not JSON"),
        ("p.jsonl", "[1]", "line 1: a JSON object is wanted, this is a list"),
        ("p.jsonl", '{"before": "a"}', "line 1: 'after' should name a picture. The line holds: before"),
        (
            "p.jsonl",
            '{"before": "a", "after": "b", "captions": "c"}',
            "'captions' should be a list of sentences",
        ),
    ],
)
def test_broken_lists_say_what_is_wrong(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path / name)


def test_bytes_that_are_no_text(tmp_path):
    for name in ("p.csv", "p.jsonl"):
        (tmp_path / name).write_bytes(b"\xff\xfe\x00\x01" * 8)
        with pytest.raises(DatasetError, match="UTF-8"):
            open_dataset(tmp_path / name)


def test_splits(folder):
    path = folder / "pairs.csv"
    rows = [
        "before,after,split",
        *(f"pictures/a.png,pictures/b.png,{s}" for s in ("train", "Valid", "test", "")),
    ]
    path.write_text("\n".join(rows) + "\n")
    records = open_dataset(path).records
    assert [record.split for record in records] == ["train", "val", "test", "test"]
    assert records[0].extra == {}


def test_a_wrong_split_is_damage(folder):
    path = folder / "pairs.csv"
    path.write_text(
        "before,after,split\npictures/a.png,pictures/b.png,dev\npictures/a.png,pictures/c.png,val\n"
    )
    with pytest.raises(DatasetError, match="line 2: 'split' should be one of train, val, test; it is 'dev'"):
        open_dataset(path)
    assert len(open_dataset(path, skip_missing=True).records) == 1


def test_ids_are_text_or_whole_numbers(folder):
    path = folder / "pairs.jsonl"
    row = {"before": "pictures/a.png", "after": "pictures/b.png"}
    for wrong in (True, 1.5, ["x"], {"a": 1}, "  "):
        path.write_text("\n".join(json.dumps({**row, "id": value}) for value in ("x", wrong)))
        with pytest.raises(DatasetError, match="line 2: 'id' should be a text or a whole number, not"):
            open_dataset(path)
        assert [record.pair_id for record in open_dataset(path, skip_missing=True).records] == ["x"]


def test_a_key_that_occurs_twice_is_damage(folder):
    path = folder / "pairs.jsonl"
    good = '{"before": "pictures/a.png", "after": "pictures/b.png"}'
    path.write_text(good + "\n" + good.replace("{", '{"before": "pictures/c.png", ') + "\n")
    with pytest.raises(DatasetError, match="line 2: the key 'before' occurs more than once"):
        open_dataset(path)
    assert len(open_dataset(path, skip_missing=True).records) == 1


def test_blank_rows_before_the_header(folder):
    path = folder / "pairs.csv"
    path.write_text("\n,\nbefore,after\npictures/a.png,pictures/b.png\n")
    assert [record.pair_id for record in open_dataset(path).records] == ["4"]


def marks(path, *rows):
    lines = [f"pictures/a.png,pictures/b.png,{captions},{changed}" for captions, changed in rows]
    path.write_text("\n".join(["before,after,captions,changed", *lines]) + "\n")
    records = open_dataset(path).records
    assert all(r.change_type == ("none" if r.changed is False else None) and not r.extra for r in records)
    return [record.changed for record in records]


def test_a_pair_is_unchanged_where_the_list_or_all_its_sentences_say_so(folder):
    same, mixed, moved = "There is no change.|no  difference", "there is no change|it is gone", "it moved"
    found = marks(folder / "pairs.csv", (same, ""), (mixed, ""), (moved, ""), ("", ""), (same, "yes"))
    assert found == [False, True, True, None, True]


def test_where_nobody_says_unchanged_in_known_words_only_the_column_counts(folder):
    found = marks(folder / "pairs.csv", ("nichts geschah", ""), ("nichts geschah", "False"), ("", "1"))
    assert found == [None, False, True]


def test_an_answer_that_is_none_is_named(folder):
    path = folder / "pairs.jsonl"
    path.write_text('{"before": "pictures/a.png", "after": "pictures/b.png", "changed": "perhaps"}\n')
    with pytest.raises(DatasetError, match="line 1: 'changed' should be true or false; it is 'perhaps'"):
        open_dataset(path)
    path.write_text('{"before": "pictures/a.png", "after": "pictures/b.png", "changed": false}\n')
    assert open_dataset(path).records[0].changed is False


def test_a_list_that_was_named_may_lead_anywhere(folder):
    below = folder / "lists"
    below.mkdir()
    path = below / "pairs.csv"
    path.write_text(f"before,after\n../pictures/a.png,{folder}/pictures/b.png\n")
    (record,) = open_dataset(path).records
    assert record.before.samefile(folder / "pictures" / "a.png")
    assert record.after == folder / "pictures" / "b.png"


def test_a_list_inside_a_data_set_stays_in_its_folder(folder):
    (folder / "list.jsonl").write_text('{"before": "/etc/a.png", "after": "../b.png"}\n')
    with pytest.raises(DatasetError, match=r"'/etc/a\.png' leaves the folder"):
        plain.read(folder / "list.jsonl", Reading(root=folder))


def test_a_name_in_another_unicode_form_names_the_file(tmp_path):
    for name in ("cafe\u0301.png", "\u00f6.png"):
        Image.new("RGB", (40, 40)).save(tmp_path / name)
    (tmp_path / "list.csv").write_text("before,after\ncaf\u00e9.png,o\u0308.png\n", encoding="utf-8")
    (record,) = open_dataset(tmp_path / "list.csv").records
    assert (record.before.name, record.after.name) == ("cafe\u0301.png", "\u00f6.png")


def test_the_five_sentences_of_levir_cc_say_that_nothing_changed(tmp_path):
    five = "there is no difference|the two scenes seem identical|the scene is the same as before|"
    rows = [
        five + "no change has occurred|almost nothing has changed",
        "almost nothing has changed",
        five + "a road was built",
    ]
    path = tmp_path / "list.csv"
    path.write_text("before,after,captions\n" + "".join(f"a.png,b.png,{row}\n" for row in rows))
    results = open_dataset(path, pictures=False).records
    assert [(r.changed, r.change_type) for r in results] == [(False, "none"), (True, None), (True, None)]


def test_a_list_in_a_store_may_not_name_a_picture_as_a_url_begins():
    """``su:/a.png``: no path in a store can be made of it."""
    pytest.importorskip("upath", reason="needs the extra scale")
    from whatchanged.scale.urls import path_of

    store = path_of("memory://rows-like-urls")
    store.fs.pipe(f"{store.path}/pairs.csv", b"before,after,caption\na.png,su:/a.png,x\n")
    with pytest.raises(DatasetError, match=r"line 2: 'after': .*'su:/a.png', which begins like a URL"):
        open_dataset(store / "pairs.csv", pictures=False)
