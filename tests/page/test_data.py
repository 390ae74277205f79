from pathlib import Path

import numpy as np

from whatchanged.contours import SHARES
from whatchanged.page import Badge, Page, Pair
from whatchanged.page.data import page_data

FOLDER = Path("/d/out")


def shown(*pairs):
    return page_data(Page("t", pairs), FOLDER, embed=False)["pairs"]


def test_what_is_not_known_is_left_out():
    assert shown(Pair("1", None, None)) == [{"id": "1", "pictures": [None, None]}]


def test_a_line_of_output():
    change = {
        "kind": "moved",
        "element": "button",
        "box_before": None,
        "box_after": [1, 2, 3, 4],
        "sentence": "It moved.",
        "confidence": 0.9,
        "values": {"dx": 1},
    }
    line = {
        "id": "1",
        "caption": "It moved.",
        "no_change": 0.0,
        "verdict": "changed",
        "doubtful": True,
        "answer": "measured",
        "unfamiliar": False,
        "group": 3,
        "changes": [change],
        "size_before": [10, 20],
        "size_after": [30, 40],
    }
    (pair,) = shown(
        Pair(
            "1",
            None,
            None,
            line,
            boxes=(None, (0, 1, 2.5, 3)),
            ignored=[(5, 5, 6, 6)],
            badges=[Badge("right", "good")],
            facts=["a fact"],
            tags={"type": "add"},
        )
    )
    assert pair == {
        "id": "1",
        "caption": "It moved.",
        "no_change": 0.0,
        "verdict": "changed",
        "doubtful": True,
        "answer": "measured",
        "changes": [{"kind": "moved", "sentence": "It moved.", "boxes": [None, [1, 2, 3, 4]]}],
        "size_before": [10, 20],
        "size_after": [30, 40],
        "pictures": [None, None],
        "boxes": [None, [0, 1, 2.5, 3]],
        "ignored": [[5, 5, 6, 6]],
        "badges": [["right", "good"]],
        "facts": ["a fact"],
        "tags": {"type": "add"},
    }


def test_what_was_read_for_a_change():
    read = {"words": "Save all changes now", "text_before": "old", "dx": 4}
    changes = [{"kind": "moved", "sentence": "It moved.", "values": read}, {"values": "none"}]
    (pair,) = shown(Pair("1", None, None, {"changes": changes}))
    assert pair["changes"][0]["read"] == ["Save all changes now", "old"]
    assert "read" not in pair["changes"][1]


def test_numbers_that_json_does_not_know():
    line = {"no_change": float("nan"), "changes": [{"box_after": [0, 0, float("inf"), 1]}]}
    (pair,) = shown(Pair("1", None, None, line, boxes=((0, float("nan"), 1, 1), None)))
    assert "no_change" not in pair and "boxes" not in pair
    assert pair["changes"] == [{"kind": None, "sentence": "", "boxes": [None, None]}]


def test_lines_of_each_share_for_both_pictures():
    maps = np.zeros((2, 4, 6))
    maps[1, 2, 3] = 1.0
    (pair,) = shown(Pair("1", None, None, heatmaps=maps))
    before, after = pair["outlines"]
    assert before == [""] * len(SHARES) and len(after) == len(SHARES)
    assert all(path.startswith("M") and path.endswith("z") for path in after)
    assert page_data(Page("t", []), FOLDER, False)["shares"] == list(SHARES)


def test_where_each_word_looked():
    maps = np.zeros((2, 3, 10))
    maps[0, 1, 2], maps[1, 2, 9] = 0.5, 1.0
    (pair,) = shown(Pair("1", None, None, words=[("cube", maps), ("the", np.zeros((2, 1, 2)))]))
    cube, the = pair["words"]
    assert cube == {"word": "cube", "columns": 10, "levels": ["l4q", "zc9"]}
    assert the == {"word": "the", "columns": 2, "levels": ["b", "b"]}
