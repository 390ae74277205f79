"""A small copy of every data set in its documented layout, with pictures: fixtures, not real annotations."""

import json

from PIL import Image

COLUMNS = [
    *("img1ObservationURL", "img1ImgURL", "img1Species", "img1Selection"),
    *("img2ObservationURL", "img2ImgURL", "img2Species", "img2Selection"),
    *("split", "annN", "description"),
]
SITE = "https://www.inaturalist.org/photos"
LEVIR_NO_CHANGE = [
    "there is no difference",
    "the two scenes seem identical",
    "the scene is the same as before",
    "no change has occurred",
    "almost nothing has changed",
]


def paint(path, colour=(90, 120, 150)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 12), colour).save(path)


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def clevr_change(root):
    """Two scenes, four pairs: 3 gained a thing (train), 1205 lost one (test)."""
    for index in (3, 1205):
        for place, view in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
            paint(root / place / f"CLEVR_{view}_{index:06d}.png")
    names = [f"CLEVR_default_{index:06d}.png" for index in (3, 1205)]
    write(root / "splits.json", {"train": [3], "val": [], "test": [1205]})
    write(root / "type_mapping.json", {"add": ["000003.png"], "drop": ["001205.png"], "color": []})
    write(root / "change_captions.json", {names[0]: ["b  b", "a", "a"], names[1]: ["it is gone"]})
    write(root / "no_change_captions.json", {name: ["nothing has changed"] for name in names})
    boxes = {
        "3": {"bbox_before": [], "bbox_after": [1, 2, 3, 4]},
        "1205": {"bbox_before": [5, 6, 7, 8], "bbox_after": None},
    }
    write(root / "change_captions_with_bbox.json", boxes)
    write(root / "change_captions_by_IOU.json", {"3": 0.25})


def clevr_dc(root):
    """Four pairs whose unpadded names sort as 0, 10, 100, 2."""
    captions = {str(i): [f"the thing {i} is missing", "the thing is gone"] for i in (0, 2, 10, 100)}
    write(root / "captions.json", captions)
    write(root / "split.json", {"train": [0, 2], "val": [10], "test": [100]})
    for i in captions:
        paint(root / "bef" / f"{i}.png")
        paint(root / "aft" / f"{i}.png")


def spot_the_diff(root):
    """Five pairs in six records: 235 stands in two, 7 has a blank sentence only."""
    entries = {
        "train": [
            {"img_id": "235", "sentences": ["the person is gone", ""]},
            {"img_id": "256", "sentences": ["no difference"]},
            {"img_id": "235", "sentences": ["the suv is gone"]},
            {"img_id": "7", "sentences": [" "]},
        ],
        "val": [{"img_id": "10", "sentences": ["a car has moved", "a man is there"]}],
        "test": [{"img_id": "1", "sentences": ["the car is gone"]}],
    }
    for split, value in entries.items():
        write(root / "annotations" / f"{split}.json", value)
    for name in ("235", "256", "7", "10", "1"):
        paint(root / "resized_images" / f"{name}.png")
        paint(root / "resized_images" / f"{name}_2.png")


def image_editing_request(root):
    """Four records of three pairs: the same pair under two uids."""
    entry = {"img0": "Zhopped.com_a_a.jpg", "img1": "Zhopped.com_a_b.PNG"}
    other = {"img0": "Reddit.com_c_c.gif", "img1": "Reddit.com_c_d_1.jpeg"}
    train = [
        {**entry, "sents": ["change the back ground "], "uid": "Zhopped_2"},
        {**entry, "sents": ["Remove the tree"], "uid": "Zhopped_3"},
    ]
    valid = [{**other, "sents": ["crop it", "Crop it.", 'say "x'], "uid": "Reddit_1"}]
    test = [{**other, "img1": "Reddit.com_c_e.JPG", "sents": ["a", "b", "c"], "uid": "Reddit_2"}]
    for name, value in (("train", train), ("valid", valid), ("test", test)):
        write(root / f"{name}.json", value)
    for name in (*entry.values(), *other.values(), "Reddit.com_c_e.JPG"):
        paint(root / "images" / name)


def bird_row(first, second, split, number, text):
    """One row of the table."""
    sides = [[f"{SITE}/{i}", f"{SITE}/{i}/large.jpg", "Ardea alba", "base"] for i in (first, second)]
    quoted = '"' + text.replace('"', '""') + '"'
    return "\t".join([*sides[0], *sides[1], split, str(number), quoted])


def birds_to_words(root):
    """Three pairs: the first has two descriptions, one with a line's end and a tab within quotes."""
    rows = [
        "\t".join(COLUMNS),
        bird_row(647514, 5595152, "val", 1, "Animal 1 has a brown face,\tanimal 2\nhas a blue one."),
        bird_row(11, 12, "train", 1, 'Animal 1 is "puffy".'),
        bird_row(647514, 5595152, "val", 2, "They are the same."),
        bird_row(11, 13, "test", 1, "Animal 2 is larger."),
    ]
    write(root / "birds-to-words-v1.0.tsv", "\n".join(rows) + "\n")
    for name in (647514, 5595152, 11, 12, 13):
        paint(root / "images" / f"{name}.jpg")


def levir_entry(name, captions, flag):
    return {
        "filepath": name.partition("_")[0],
        "filename": name,
        "imgid": 1,
        "split": name.partition("_")[0],
        "changeflag": flag,
        "sentids": [0, 1, 2, 3, 4],
        "sentences": [{"raw": f" {c} .", "tokens": c.split(), "imgid": 1, "sentid": 0} for c in captions],
    }


def levir_cc(root):
    """Three pairs with gaps in their numbers; the folder above has an A in its name."""
    changed = ["a road is built", "a\\almost all trees are removed", "a lower-right house", "b", "c"]
    images = [
        levir_entry("train_000007.png", changed, 1),
        levir_entry("val_000001.png", LEVIR_NO_CHANGE, 0),
        levir_entry("test_002135.png", changed, 1),
    ]
    write(root / "LevirCCcaptions.json", {"images": images})
    for entry in images:
        for view in "AB":
            paint(root / "images" / entry["split"] / view / entry["filename"])


BIRDS = {
    "1": ("001.Black_footed_Albatross/Black_Footed_Albatross_0046_18", "1", "1"),
    "2": ("001.Black_footed_Albatross/Black_Footed_Albatross_0009_34", "1", "0"),
    "3": ("002.Laysan_Albatross/Laysan_Albatross_0002_1027", "2", "1"),
}


def cub(root):
    """Three pictures of two classes; the second has nine good lines, the third no text."""
    base = root / "CUB_200_2011"
    write(base / "images.txt", "".join(f"{i} {name}.jpg\n" for i, (name, _, _) in BIRDS.items()))
    write(base / "image_class_labels.txt", "".join(f"{i} {c}\n" for i, (_, c, _) in BIRDS.items()))
    write(base / "train_test_split.txt", "".join(f"{i} {s}\n" for i, (_, _, s) in BIRDS.items()))
    write(base / "classes.txt", "1 001.Black_footed_Albatross\n2 002.Laysan_Albatross\n")
    write(base / "bounding_boxes.txt", "".join(f"{i} 1.0 2.0 3.5 4.0\n" for i in BIRDS))
    for i, (name, _, _) in BIRDS.items():
        paint(base / "images" / f"{name}.jpg")
        lines = [f"A bird number {n}." for n in range(10)]
        if i == "2":
            lines[3] = "  "
        if i != "3":
            write(root / "birds/text" / f"{name}.txt", "\n".join(lines) + "\n")


NA = {
    "0000139e-21dc-4d0c-bfe1-4cae3c85c829": ("0817", "817", "0"),
    "0000d9fc-4e02-4c06-a0af-a55cfb16b12b": ("0328", "328", "1"),
    "00019306-9d83-4334-b255-a447742edce3": ("0817", "817", "1"),
}


def nabirds(root):
    """Three pictures; classes.txt lists an inner node and a class without pictures too."""
    paths = {i: f"{folder}/{i.replace('-', '')}.jpg" for i, (folder, _, _) in NA.items()}
    write(root / "images.txt", "".join(f"{i} {path}\n" for i, path in paths.items()))
    write(root / "image_class_labels.txt", "".join(f"{i} {c}\n" for i, (_, c, _) in NA.items()))
    write(root / "train_test_split.txt", "".join(f"{i} {s}\n" for i, (_, _, s) in NA.items()))
    write(root / "classes.txt", "0 Birds\n328 Loon\n817 Oak Titmouse (Adult Male)\n900 Wren\n")
    write(root / "hierarchy.txt", "328 0\n817 0\n900 0\n")
    write(root / "bounding_boxes.txt", "".join(f"{i} 83 59 128 228\n" for i in NA))
    for path in paths.values():
        paint(root / "images" / path)


def plain(root):
    """A list of two pairs beside its pictures; the list is ``root / pairs.jsonl``."""
    rows = [
        {"before": "p/a.png", "after": "p/b.png", "id": "x", "captions": ["one", "two"]},
        {"before": "p/a.png", "after": "p/c.png", "id": "y", "captions": ["three"]},
    ]
    write(root / "pairs.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    for name in "abc":
        paint(root / "p" / f"{name}.png")


UI_CHANGE = {
    "kind": "moved",
    "element": "button",
    "aspect": "position",
    "detail": "1 px down",
    "box_before": [2, 3, 6, 8],
    "box_after": [2, 4, 6, 9],
}


def ui_pair(name, split, visible):
    """A line of labels, as the data set of real pairs has them."""
    return {
        "id": name,
        "split": split,
        "repo": "owner/things",
        "licence": "MIT",
        "commit": "a" * 40,
        "path": "shots/button.png",
        "before": f"images/{name}_before.png",
        "after": f"images/{name}_after.png",
        "size_before": [16, 12],
        "size_after": [16, 12],
        "group": "ui-component",
        "visible_change": visible,
        "changes": [UI_CHANGE],
        "sentences": ["The button moved down.", "The button stands lower."],
    }


def ui_train(root):
    """Three pairs: one changed, one not, one of which people may disagree."""
    names = (("ab-001", "train", "yes"), ("ab-002", "train", "no"), ("cd-001", "validation", "uncertain"))
    lines = [ui_pair(*name) for name in names]
    for line in lines:
        paint(root / line["before"])
        paint(root / line["after"])
    write(root / "pairs.jsonl", "\n".join(json.dumps(line) for line in lines))


SETS = {
    function.__name__: function
    for function in (
        *(clevr_change, clevr_dc, spot_the_diff, image_editing_request, birds_to_words),
        *(levir_cc, cub, nabirds, ui_train, plain),
    )
}
