"""A damaged copy of every data set: one clear message and exit code 2, or a counted, listed skip."""

import json
import shutil

import pytest
from support.tiny_sets import SETS, bird_row

PAIRS = {
    "clevr_change": 4,
    "clevr_dc": 4,
    "spot_the_diff": 4,
    "image_editing_request": 4,
    "birds_to_words": 3,
    "levir_cc": 3,
    "cub": 3,
    "nabirds": 3,
    "ui_train": 3,
    "plain": 2,
}


def edit(name, change):
    """Change a JSON file's value in place."""

    def spoil(root):
        value = json.loads((root / name).read_text())
        (root / name).write_text(json.dumps(change(value) or value))

    return spoil


def swap(name, old, new):
    """Exchange text in a file."""

    def spoil(root):
        content = (root / name).read_text()
        assert old in content
        (root / name).write_text(content.replace(old, new, 1))

    return spoil


def append(name, text):
    def spoil(root):
        with (root / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return spoil


def halve(name):
    def spoil(root):
        content = (root / name).read_bytes()
        (root / name).write_bytes(content[: len(content) // 2])

    return spoil


def utf16(name):
    def spoil(root):
        content = (root / name).read_text()
        (root / name).write_bytes(content.encode("utf-16"))

    return spoil


def remove(name):
    return lambda root: (root / name).unlink()


SPOT, IER = "annotations/train.json", "train.json"
CUB = "CUB_200_2011/"
DAMAGES = [
    # data set, what, how, the message, pairs left with --skip-missing (None: still exit code 2)
    (
        "clevr_change",
        "picture",
        remove("images/CLEVR_default_000003.png"),
        "pictures are missing: 1",
        2,
    ),
    ("clevr_change", "key", swap("splits.json", "train", "trian"), "unknown split 'trian'", None),
    (
        "clevr_change",
        "caption key",
        swap("change_captions.json", "default_000003", "x_3"),
        "names no scene",
        4,
    ),
    ("clevr_change", "half", halve("change_captions.json"), "change_captions.json: not JSON", None),
    ("clevr_change", "twice", edit("splits.json", lambda v: v["test"].append(3)), "scene 3 stands in", 4),
    (
        "clevr_change",
        "same key",
        swap("change_captions.json", "001205", "000003"),
        "'CLEVR_default_000003.png' occurs twice",
        4,
    ),
    ("clevr_change", "empty", swap("change_captions.json", '"b  b"', '" "'), "caption 1 is empty", 4),
    ("clevr_change", "leaves", swap("splits.json", "[3]", '["../3"]'), "list of scene numbers", None),
    ("clevr_change", "encoding", utf16("no_change_captions.json"), "not a text file in UTF-8", None),
    ("clevr_dc", "picture", remove("aft/10.png"), "pictures are missing: 1", 3),
    ("clevr_dc", "key", swap("captions.json", '"10"', '"ten"'), "'ten' names no scene", 4),
    ("clevr_dc", "half", halve("split.json"), "split.json: not JSON", None),
    ("clevr_dc", "twice", edit("split.json", lambda v: v["val"].append(100)), "scene 100 stands in", 4),
    ("clevr_dc", "empty", swap("captions.json", "the thing is gone", ""), "caption 2 is empty", 4),
    ("clevr_dc", "leaves", swap("captions.json", '"10"', '"../10"'), "'../10' names no scene", 4),
    ("clevr_dc", "encoding", utf16("captions.json"), "not a text file in UTF-8", None),
    ("spot_the_diff", "picture", remove("resized_images/10_2.png"), "pictures are missing: 1", 3),
    ("spot_the_diff", "key", swap(SPOT, '"sentences"', '"sentence"'), "'sentences' should be a list", 4),
    ("spot_the_diff", "half", halve(SPOT), "train.json: not JSON", None),
    (
        "spot_the_diff",
        "twice",
        edit("annotations/test.json", lambda v: v.append({"img_id": "235", "sentences": ["a"]})),
        "the id 235 is in train and in test",
        4,
    ),
    ("spot_the_diff", "leaves", swap(SPOT, '"256"', '"../256"'), "no 'img_id' (a number)", 3),
    ("spot_the_diff", "encoding", utf16("annotations/val.json"), "not a text file in UTF-8", None),
    (
        "image_editing_request",
        "picture",
        remove("images/Reddit.com_c_c.gif"),
        "pictures are missing: 1",
        2,
    ),
    ("image_editing_request", "key", swap(IER, '"uid"', '"id"'), "no 'uid' in img0, img1, sents, id", 3),
    ("image_editing_request", "half", halve("valid.json"), "valid.json: not JSON", None),
    ("image_editing_request", "twice", swap(IER, "Zhopped_3", "Zhopped_2"), "1 ids occur more than once", 3),
    ("image_editing_request", "empty", swap(IER, "Remove the tree", "  "), "caption 1 is empty", 3),
    (
        "image_editing_request",
        "leaves",
        swap(IER, "Zhopped.com_a_a.jpg", "../../etc/passwd"),
        "'../../etc/passwd' leaves the folder",
        3,
    ),
    ("image_editing_request", "encoding", utf16("test.json"), "not a text file in UTF-8", None),
    ("birds_to_words", "picture", remove("images/11.jpg"), "pictures are missing: 1", 1),
    (
        "birds_to_words",
        "key",
        swap("birds-to-words-v1.0.tsv", "annN", "ann"),
        "should name the columns",
        None,
    ),
    (
        "birds_to_words",
        "half",
        append("birds-to-words-v1.0.tsv", 'https://x/9\t"ends in a quo'),
        "not a table with tabs",
        None,
    ),
    ("birds_to_words", "columns", append("birds-to-words-v1.0.tsv", "a\tb\n"), "2 columns, wanted 11", 3),
    (
        "birds_to_words",
        "twice",
        append("birds-to-words-v1.0.tsv", bird_row(11, 12, "test", 1, "b") + "\n"),
        "the pair 11_12 is in train and in test",
        3,
    ),
    ("birds_to_words", "empty", swap("birds-to-words-v1.0.tsv", "They are the same.", " "), "is empty", 3),
    (
        "birds_to_words",
        "leaves",
        append("birds-to-words-v1.0.tsv", bird_row("..", 12, "test", 1, "b") + "\n"),
        "called by numbers, not '..'",
        3,
    ),
    ("birds_to_words", "encoding", utf16("birds-to-words-v1.0.tsv"), "not a text file in UTF-8", None),
    ("levir_cc", "picture", remove("images/test/B/test_002135.png"), "pictures are missing: 1", 2),
    ("levir_cc", "key", swap("LevirCCcaptions.json", '"images"', '"pictures"'), "no list 'images'", None),
    ("levir_cc", "split", swap("LevirCCcaptions.json", '"split"', '"part"'), "unknown split None", 2),
    ("levir_cc", "half", halve("LevirCCcaptions.json"), "LevirCCcaptions.json: not JSON", None),
    (
        "levir_cc",
        "twice",
        edit("LevirCCcaptions.json", lambda v: v["images"].append(v["images"][0])),
        "1 ids occur more than once (first: train_000007.png)",
        3,
    ),
    (
        "levir_cc",
        "empty",
        swap("LevirCCcaptions.json", '" a road is built ."', '""'),
        "caption 1 is empty",
        3,
    ),
    (
        "levir_cc",
        "leaves",
        swap("LevirCCcaptions.json", '"filename": "val_', '"filename": "../'),
        "leaves its folder",
        2,
    ),
    ("levir_cc", "encoding", utf16("LevirCCcaptions.json"), "not a text file in UTF-8", None),
    (
        "cub",
        "picture",
        remove(CUB + "images/002.Laysan_Albatross/Laysan_Albatross_0002_1027.jpg"),
        "pictures are missing: 1",
        2,
    ),
    ("cub", "key", swap(CUB + "image_class_labels.txt", "3 2", "3 7"), "image 3: no class", 2),
    ("cub", "half", swap(CUB + "train_test_split.txt", "3 1\n", "3"), "1 values, wanted 2", 2),
    (
        "cub",
        "twice",
        append(CUB + "images.txt", "4 002.Laysan_Albatross/Laysan_Albatross_0002_1027.jpg\n"),
        "image 4: no class",
        3,
    ),
    ("cub", "leaves", swap(CUB + "images.txt", "2 001", "2 ../001"), "leaves the folder", 2),
    ("cub", "encoding", utf16(CUB + "classes.txt"), "not a text file in UTF-8", None),
    ("cub", "table", remove(CUB + "train_test_split.txt"), "train_test_split.txt: missing", None),
    (
        "nabirds",
        "picture",
        remove("images/0328/0000d9fc4e024c06a0afa55cfb16b12b.jpg"),
        "pictures are missing: 1",
        2,
    ),
    ("nabirds", "key", swap("classes.txt", "328 Loon\n", ""), "no class in classes.txt", 2),
    ("nabirds", "half", halve("train_test_split.txt"), "line 2: 1 values, wanted 2", 1),
    (
        "nabirds",
        "twice",
        append("images.txt", "0000139e-21dc-4d0c-bfe1-4cae3c85c829 0817/x.jpg\n"),
        "occurs twice",
        3,
    ),
    ("nabirds", "leaves", swap("images.txt", "0328/", "/etc/"), "'/etc/0000d9fc", 2),
    ("nabirds", "encoding", utf16("images.txt"), "not a text file in UTF-8", None),
    ("plain", "picture", remove("p/b.png"), "pictures are missing: 1", 1),
    ("plain", "key", swap("pairs.jsonl", '"after"', '"later"'), "'after' should name a picture", 1),
    ("plain", "half", swap("pairs.jsonl", '["three"]}', '["thr'), "line 2: not JSON", 1),
    ("plain", "twice", swap("pairs.jsonl", '"y"', '"x"'), "1 ids occur more than once (first: x)", 1),
    ("plain", "empty", swap("pairs.jsonl", '"two"', '""'), "caption 2 is empty", 2),
    ("plain", "leaves", swap("pairs.jsonl", "p/c.png", "../c.png"), "pictures are missing: 1", 1),
    ("plain", "absolute", swap("pairs.jsonl", "p/c.png", "/etc/c.png"), "pictures are missing: 1", 1),
    ("plain", "nul", swap("pairs.jsonl", "p/c.png", "c\\u0000.png"), "leaves the folder", 1),
    (
        "clevr_change",
        "digits",
        swap("change_captions_by_IOU.json", "0.25", "1" + "0" * 309),
        "not JSON (a whole number of 310 digits)",
        None,
    ),
    ("levir_cc", "long", swap("LevirCCcaptions.json", "train_000007", "x" * 300), "leaves its folder", 2),
    ("nabirds", "long", swap("images.txt", "0328/", "x" * 300), "leaves the folder", 2),
    ("plain", "encoding", utf16("pairs.jsonl"), "not a text file in UTF-8", None),
]


@pytest.fixture(scope="session")
def sound_sets(tmp_path_factory):
    """Every tiny set, sound, to be copied."""
    root = tmp_path_factory.mktemp("sets")
    for name, build in SETS.items():
        build(root / name)
    return root


def place(root, name):
    return root / "pairs.jsonl" if name == "plain" else root


@pytest.mark.parametrize("name", SETS)
def test_the_sound_copy_is_recognised_and_whole(sound_sets, whatchanged, name):
    code, out, err = whatchanged("dataset", place(sound_sets / name, name))
    assert (code, err) == (0, "")
    unit = "pictures" if name in ("cub", "nabirds") else "pairs"
    assert f": {name}, {PAIRS[name]} {unit}\n" in out
    assert "missing" not in out and "damaged" not in out


@pytest.mark.parametrize(
    "name, spoil, message, left",
    [pytest.param(n, s, m, k, id=f"{n}-{what}") for n, what, s, m, k in DAMAGES],
)
def test_a_damaged_copy_says_so_or_is_skipped(sound_sets, tmp_path, whatchanged, name, spoil, message, left):
    root = shutil.copytree(sound_sets / name, tmp_path / name)
    spoil(root)
    code, out, err = whatchanged("dataset", place(root, name), "--dataset", name)
    assert (code, out) == (2, "")
    assert message in err and str(root) in err and "Traceback" not in err
    code, out, err = whatchanged("dataset", place(root, name), "--skip-missing", "--dataset", name)
    if left is None:
        assert code == 2 and message in err
        return
    assert code == 0
    assert f": {name}, {left} " in out
    listed = out.partition("damaged, left out:")[2] + out.partition("missing pictures:")[2]
    assert message.replace("pictures are missing: 1", " 1") in listed
