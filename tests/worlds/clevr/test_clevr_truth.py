import copy
import json

import numpy as np
import pytest

from whatchanged.errors import DatasetError
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.truth import triple_entries
from whatchanged.worlds.clevr.truth import read_change, read_scene, read_triples

TRIPLES = [sample_triple(5, i) for i in range(5)]
ENTRIES = [triple_entries(t) for t in TRIPLES]


def write(folder, pictures, pairs):
    (folder / "scenes.json").write_text(json.dumps({"info": {}, "scenes": pictures}))
    (folder / "pairs.json").write_text(json.dumps(pairs))


def test_what_is_written_is_read_back_whole(tmp_path):
    pictures = [entry for entries, _ in ENTRIES for entry in entries]
    write(tmp_path, pictures[::-1], [pair for _, pair in ENTRIES][::-1])
    assert list(read_triples(tmp_path)) == TRIPLES


def test_entries_have_the_development_sets_form_and_numbers(dev_folder, dev_pictures):
    pairs = json.loads((dev_folder / "pairs.json").read_text())
    for triple in read_triples(dev_folder)[:20]:
        entries, pair = triple_entries(triple)
        for mine, theirs in zip(entries, dev_pictures[3 * triple.index :][:3], strict=True):
            assert mine.keys() == theirs.keys()
            for key in ("split", "image_filename", "image_index", "camera", "lamps"):
                assert mine[key] == theirs[key]
            np.testing.assert_allclose(mine["camera_matrix"], theirs["camera_matrix"], atol=1e-6)
            for a, b in zip(mine["objects"], theirs["objects"], strict=True):
                assert a.keys() - {"whole_pixels"} == b.keys()
                for key in ("shape", "size", "color", "material", "rotation"):
                    assert a[key] == b[key]
                np.testing.assert_allclose(a["3d_coords"], b["3d_coords"], atol=1e-6)
                np.testing.assert_allclose(a["pixel_coords"], b["pixel_coords"], atol=2e-3)
                assert np.abs(np.subtract(a["bbox"], b["bbox"])).max() <= 4
        told = pairs[triple.index]
        assert pair.keys() == told.keys()
        for key in ("index", "id", "type", "changed_before", "changed_after"):
            assert pair[key] == told[key]
        assert [pair[k] is None for k in ("bbox_before", "bbox_after")] == [
            told[k] is None for k in ("bbox_before", "bbox_after")
        ]
        assert pair["view_iou_semantic"] == pytest.approx(told["view_iou_semantic"], abs=0.03)


def without(entry, *keys):
    return {k: v for k, v in entry.items() if k not in keys}


def first_object(**wrong):
    entry = copy.deepcopy(ENTRIES[0][0][0])
    entry["objects"][0].update(wrong)
    return entry


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (without(ENTRIES[0][0][0], "lamps"), "here: 'lamps' is missing"),
        (first_object(color="pink"), "here, object 0, color: 'pink' is unknown; known are gray, red"),
        (first_object(color=None), "here, object 0, color: None is unknown"),
        (
            first_object(**{"3d_coords": [1, 2]}),
            r"object 0: '3d_coords' should be three finite numbers, got \[1, 2\]",
        ),
        (first_object(rotation="north"), "'rotation' should be a number of degrees, got 'north'"),
        ({**ENTRIES[0][0][0], "camera": [1.0, 2.0, float("nan")]}, "'camera' should be three finite numbers"),
        ({**ENTRIES[0][0][0], "objects": {}}, "'objects' should be a list, got an object"),
        ({**ENTRIES[0][0][0], "objects": ["cube"]}, "object 0: expected an object, got a string"),
    ],
)
def test_a_malformed_picture_says_where_and_what(entry, message):
    with pytest.raises(DatasetError, match=message):
        read_scene(entry, "here")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"type": "texture"}, "'texture' is unknown; known are color, material, add, drop, move, none"),
        ({"changed_before": None}, "type color needs an index for changed_before and changed_after"),
        (
            {"type": "add"},
            "type add needs an index for changed_after and null for the rest, got changed_before",
        ),
        ({"changed_after": -1}, "'changed_after' should be a whole number from 0 on, got -1"),
        ({"changed_after": True}, "'changed_after' should be a whole number from 0 on, got True"),
    ],
)
def test_a_malformed_pair_says_where_and_what(wrong, message):
    with pytest.raises(DatasetError, match=message):
        read_change({**ENTRIES[0][1], **wrong}, "here")


def test_files_that_are_missing_broken_or_do_not_fit_each_other(tmp_path):
    (pictures, pair), (added, added_pair) = ENTRIES[0], ENTRIES[2]
    with pytest.raises(DatasetError, match=r"scenes\.json: no such file"):
        read_triples(tmp_path)
    cases = [
        (pictures[:2], [pair], "scenes.json has no nonsemantic view of scene 0"),
        ([*pictures, pictures[0]], [pair], "the default view of scene 0 comes twice"),
        (pictures, [{**pair, "changed_before": 99}], "changed_before is 99, but the scene has"),
        (added, [{**added_pair, "type": "color", "changed_before": 0}], "do not fit a change of type color"),
        (pictures, {"pair": pair}, "expected a list of pairs, got an object"),
    ]
    for scenes, pairs, message in cases:
        write(tmp_path, scenes, pairs)
        with pytest.raises(DatasetError, match=message):
            read_triples(tmp_path)
    for damaged in ('{"scenes": [', "[" * 5000, '{"scenes": ' + "9" * 5000 + "}"):
        (tmp_path / "scenes.json").write_text(damaged)
        with pytest.raises(DatasetError, match="cannot read it as JSON"):
            read_triples(tmp_path)
    (tmp_path / "scenes.json").write_text("[]")
    with pytest.raises(DatasetError, match="a list named 'scenes'"):
        read_triples(tmp_path)
