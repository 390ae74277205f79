import json

import pytest
from support.tiny_sets import LEVIR_NO_CHANGE, levir_cc, levir_entry, paint, write

from whatchanged.datasets import open_dataset
from whatchanged.datasets.levir_cc import is_no_change
from whatchanged.errors import DatasetError


def test_paths_survive_a_folder_with_an_a_in_its_name(tmp_path):
    root = tmp_path / "DATA" / "LEVIR_CC_dataset"
    levir_cc(root)
    opened = open_dataset(root)
    assert [r.pair_id for r in opened.records] == ["train_000007.png", "val_000001.png", "test_002135.png"]
    first = opened.records[0]
    assert first.before == root / "images/train/A/train_000007.png"
    assert first.after == root / "images/train/B/train_000007.png"
    assert first.mask is None and first.extra["sentids"] == [0, 1, 2, 3, 4]


def test_captions_are_raw_and_tokens_as_given(tmp_path):
    levir_cc(tmp_path)
    first = open_dataset(tmp_path).records[0]
    assert first.captions[:3] == (
        " a road is built .",
        " a\\almost all trees are removed .",
        " a lower-right house .",
    )
    assert first.tokens[1][0] == "a\\almost"


def test_changed_follows_the_flag(tmp_path):
    levir_cc(tmp_path)
    kinds = [(r.changed, r.change_type) for r in open_dataset(tmp_path).records]
    assert kinds == [(True, None), (False, "none"), (True, None)]
    odd = [levir_entry(f"train_00000{number}.png", LEVIR_NO_CHANGE, 1) for number in range(4)]
    write(tmp_path / "LevirCCcaptions.json", {"images": odd})
    opened = open_dataset(tmp_path, pictures=False)
    assert opened.records[0].changed is True
    (note,) = [note for note in opened.report.notes if "changeflag" in note]
    assert note.startswith(
        "pairs whose captions say other than their changeflag, which counts: 4 (first: train"
    )


def test_a_pair_without_a_sentence_is_told(tmp_path):
    write(tmp_path / "LevirCCcaptions.json", {"images": [levir_entry("train_000001.png", [], 1)]})
    with pytest.raises(DatasetError, match="image 1: 'sentences' holds no sentence"):
        open_dataset(tmp_path, pictures=False)


def test_without_a_flag_the_fixed_sentences_tell(tmp_path):
    levir_cc(tmp_path)
    value = json.loads((tmp_path / "LevirCCcaptions.json").read_text())
    for entry in value["images"]:
        del entry["changeflag"]
    write(tmp_path / "LevirCCcaptions.json", value)
    assert [r.changed for r in open_dataset(tmp_path).records] == [True, False, True]


def test_every_wording_of_no_change_is_known():
    assert is_no_change([*LEVIR_NO_CHANGE, "no change is occurred"])
    assert is_no_change([" There is no difference ."])
    assert not is_no_change(["there is no difference", "a road"]) and not is_no_change([])


def test_masks_of_the_later_release(tmp_path):
    levir_cc(tmp_path)
    for name in ("train_000007.png",):
        paint(tmp_path / "images/train/label" / name)
    first, second, _ = open_dataset(tmp_path).records
    assert first.mask == tmp_path / "images/train/label/train_000007.png" and second.mask is None


def token_files(root, entries):
    """LEVIR-MCI's form: a list of marked token lists a pair, and lists of names."""
    lists = {}
    for entry in entries:
        name, captions = entry["filename"], entry["captions"]
        marked = [["<START>", *caption.split(" "), "<END>"] for caption in captions]
        write(root / "tokens" / f"{name.removesuffix('.png')}.txt", marked)
        lists.setdefault(entry["split"], []).append(name)
    for split, names in lists.items():
        write(root / f"{split}.txt", "\n".join(names) + "\n")


def test_token_files_lose_their_marks(tmp_path):
    token_files(
        tmp_path, [{"filename": "test_000004.png", "split": "test", "captions": ["trees are removed"]}]
    )
    write(tmp_path / "train.txt", "")
    write(tmp_path / "val.txt", "")
    opened = open_dataset(tmp_path, pictures=False)
    (record,) = opened.records
    assert opened.name == "levir_cc" and record.captions == ("trees are removed",)
    assert record.tokens == (("trees", "are", "removed"),) and record.changed is True
    assert any("other than five captions: 1" in note for note in opened.report.notes)


def test_a_list_may_name_each_sentence_of_a_pair(tmp_path):
    token_files(tmp_path, [{"filename": "train_000001.png", "split": "train", "captions": ["a", "b"]}])
    write(tmp_path / "train.txt", "train_000001.png-0\ntrain_000001.png-1\n")
    write(tmp_path / "test.txt", "")
    (record,) = open_dataset(tmp_path, pictures=False).records
    assert record.pair_id == "train_000001.png" and record.captions == ("a", "b")


@pytest.mark.parametrize(
    "line, content, message",
    [
        ("../../secret.png", None, "leaves its folder"),
        ("test_000009.png", None, "has no token file"),
        ("test_000004.png", '[["a"', "test_000004.txt: not JSON"),
        ("test_000004.png", '{"a": 1}', "a list of token lists is wanted"),
    ],
)
def test_token_files_that_cannot_be_used(tmp_path, line, content, message):
    token_files(tmp_path, [{"filename": "test_000004.png", "split": "test", "captions": ["a"]}])
    write(tmp_path / "test.txt", line)
    if content is not None:
        write(tmp_path / "tokens/test_000004.txt", content)
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path, pictures=False)


@pytest.mark.parametrize("split", [{"a": 1}, ["train"], 3, None, True, "training"])
def test_a_split_that_is_none(tmp_path, split):
    images = [
        {"filename": "a.png", "split": split, "sentences": [{"raw": "a"}]},
        {"filename": "b.png", "split": "val", "sentences": [{"raw": "a"}]},
    ]
    write(tmp_path / "LevirCCcaptions.json", {"images": images})
    with pytest.raises(DatasetError, match=r"image 1: unknown split .* Known: train, val, test"):
        open_dataset(tmp_path, pictures=False)
    opened = open_dataset(tmp_path, pictures=False, skip_missing=True)
    assert [record.pair_id for record in opened.records] == ["b.png"] and len(opened.report.damaged) == 1


@pytest.fixture(scope="module")
def real_entries(annotations):
    lines = (annotations / "levir_cc/levir_cc_captions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def check_counts(annotations, opened):
    counts = json.loads((annotations / "counts.json").read_text())["levir_cc"]
    assert opened.name == "levir_cc" and opened.report.differences == ()
    last = {}
    for split in ("train", "val", "test"):
        here = [r for r in opened.records if r.split == split]
        assert len(here) == counts["pairs"][split]
        assert sum(r.changed is False for r in here) == counts["no_change_pairs"][split]
        last[split] = max(int(r.pair_id[-10:-4]) for r in here)
    assert last == {"train": 7_590, "val": 1_438, "test": 2_135}
    assert {len(r.captions) for r in opened.records} == {5}
    assert sum(len(r.captions) for r in opened.records) == counts["captions"]
    same = {tuple(sorted(r.captions)) for r in opened.records if not r.changed}
    assert same == {tuple(sorted(LEVIR_NO_CHANGE))}


def test_the_real_captions_in_the_official_layout_give_the_published_counts(
    annotations, real_entries, tmp_path
):
    """The official file could not be had: the real captions in its documented layout, without flags."""
    images = [
        {"filename": e["filename"], "split": e["split"], "sentences": [{"raw": c} for c in e["captions"]]}
        for e in real_entries
    ]
    write(tmp_path / "LevirCCcaptions.json", {"images": images})
    check_counts(annotations, open_dataset(tmp_path, pictures=False))


def test_the_real_token_files_of_a_split_with_pictures(annotations, real_entries, tmp_path, pictures_for):
    token_files(tmp_path, [e for e in real_entries if e["split"] == "val"])
    write(tmp_path / "test.txt", "")
    pictures_for(open_dataset(tmp_path, pictures=False).records, tmp_path / "seed.png")
    opened = open_dataset(tmp_path)
    captions = {e["filename"]: tuple(e["captions"]) for e in real_entries if e["split"] == "val"}
    assert {r.pair_id: r.captions for r in opened.records} == captions


@pytest.mark.slow
def test_the_real_token_files_give_the_published_counts(annotations, real_entries, tmp_path):
    token_files(tmp_path, real_entries)
    check_counts(annotations, open_dataset(tmp_path, pictures=False))
