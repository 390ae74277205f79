import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from PIL import Image
from support.tiny_bundle import CARD, GRID

from whatchanged.captioner import runtime
from whatchanged.captioner.bundle import write_bundle
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError, ImageError, ShapeError, WhatchangedError


@pytest.fixture
def captioner(bundle_folder):
    return load(bundle_folder)


def test_a_pair_with_a_change(captioner, pictures):
    found = captioner.describe(*pictures)
    assert found.sentence == "the square changed"
    assert found.changed
    # one of six cells differs by (255 - 100) / 255 / 0.5 after normalisation: 1.216, so 0.2026 on average
    assert found.no_change == pytest.approx(1 / (1 + np.exp(200 * 1.2157 / 6 - 4)), abs=1e-4)
    assert not found.doubtful


def test_a_pair_without(captioner, pictures):
    found = captioner.describe(pictures[0], pictures[0])
    assert (found.sentence, found.changed, found.doubtful) == ("there is no change", False, False)
    assert found.no_change == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-5)


def test_heatmaps_are_hot_where_the_change_is(captioner, pictures):
    found = captioner.describe(*pictures)
    assert found.heatmaps.shape == (2, *GRID)
    assert np.unravel_index(found.heatmaps.argmax(), found.heatmaps.shape) == (1, 1, 2)
    assert [word for word, _ in found.words] == ["the", "square", "changed"]
    content = [maps for word, maps in found.words if word != "the"]
    assert np.allclose(found.heatmaps, np.mean(content, axis=0))


def test_before_and_after_are_told_apart(captioner, pictures):
    bright, dark = Image.new("RGB", (24, 16), "white"), Image.new("RGB", (24, 16), "black")
    assert captioner.describe(bright, dark).sentence == "the square changed"
    pixels = captioner.read(bright, dark)
    assert pixels[0].min() == 255 and pixels[1].max() == 0


def test_paths_pictures_and_arrays_alike(captioner, pictures):
    images = [Image.open(path) for path in pictures]
    arrays = [np.asarray(image) for image in images]
    wanted = captioner.describe(*pictures)
    for pair in (images, arrays, map(str, pictures), [a / 255 for a in arrays]):
        found = captioner.describe(*pair)
        assert (found.sentence, found.no_change) == (wanted.sentence, wanted.no_change)


def test_lists_give_lists_and_more_than_one_batch(captioner, pictures):
    before, after = pictures
    found = captioner.describe([before] * 20, [after, before] * 10)
    assert [d.changed for d in found] == [True, False] * 10
    single = captioner.describe(before, after)
    assert all(d.sentence == single.sentence for d in found[::2])
    assert all(np.allclose(d.heatmaps, single.heatmaps, atol=1e-6) for d in found[::2])
    assert captioner.describe([], []) == []


def test_beams(captioner, pictures):
    assert captioner.describe(*pictures, beams=4).sentence == "the square changed"


def test_a_sentence_that_contradicts_itself_is_not_written(bundle_folder, pictures, monkeypatch):
    language = SimpleNamespace(contradicts=lambda sentence: sentence == "the square changed")
    monkeypatch.setattr(runtime, "known_world", lambda name: SimpleNamespace(language=language))
    captioner = load(bundle_folder)
    first, second = pictures[:2]
    for beams in (1, 3):
        changed, same = captioner.describe([first, first], [second, first], beams=beams)
        assert changed.sentence != "the square changed" and same.sentence == "there is no change"
    assert captioner.describe(first, second).sentence == captioner.describe(first, second, beams=4).sentence


def test_lists_that_do_not_fit(captioner, pictures):
    with pytest.raises(ShapeError, match="2 pictures before and 1 after"):
        captioner.describe([pictures[0]] * 2, [pictures[1]])
    with pytest.raises(ShapeError, match="list"):
        captioner.describe([pictures[0]], pictures[1])


def test_two_sizes(captioner, pictures, tmp_path):
    Image.open(pictures[1]).resize((96, 64)).save(tmp_path / "large.png")
    assert captioner.describe(pictures[0], tmp_path / "large.png").sentence == "the square changed"


def test_a_bad_picture(captioner, pictures, tmp_path):
    with pytest.raises(ImageError, match=r"none\.png"):
        captioner.describe(pictures[0], tmp_path / "none.png")


def test_calibration_and_doubt(bundle_folder, pictures):
    path = bundle_folder / "bundle.json"
    fields = json.loads(path.read_text())
    fields["no_change"]["calibration"] = {"scale": 1.0, "shift": 60.0}
    path.write_text(json.dumps(fields))
    found = load(bundle_folder).describe(*pictures)
    assert found.no_change > 0.99
    assert found.changed and found.doubtful  # the sentence decides


def test_strangeness_is_told_in_units_of_the_threshold(wary_folder, pictures, red):
    """Red less blue: 0 for grey pictures, 1 for a red one; the threshold is 0.25."""
    captioner = load(wary_folder)
    in_distribution, first, second = captioner.describe(
        [pictures[0], red, pictures[0]], [pictures[1], pictures[0], red]
    )
    assert (
        in_distribution.ood_distance == pytest.approx((0, 0), abs=1e-5)
        and in_distribution.unfamiliar is False
    )
    assert first.ood_distance == pytest.approx((4, 0), abs=1e-5) and first.unfamiliar is True
    assert second.ood_distance == pytest.approx((0, 4), abs=1e-5) and second.unfamiliar is True


def test_a_bundle_that_cannot_tell_says_so(captioner, pictures, red):
    found = captioner.describe(pictures[0], red)
    assert found.ood_distance is None and found.unfamiliar is None


def test_any_changed_file_is_refused_on_loading(bundle_folder):
    (bundle_folder / "README.md").write_text("# Tiny\n")
    with pytest.raises(BundleError, match=r"README\.md"):
        load(bundle_folder)


def test_without_a_head_the_sentence_is_judged(bundle_folder, pictures):
    """The tiny decoder is sure of its sentence: each word stands ten logits above all others."""
    model = onnx.load(bundle_folder / "encoder.onnx")
    model.graph.output.remove(next(item for item in model.graph.output if item.name == "no_change"))
    onnx.save(model, bundle_folder / "encoder.onnx")
    write_bundle(bundle_folder, replace(CARD, no_change=replace(CARD.no_change, by="sentences")))
    captioner = load(bundle_folder)
    changed, same = captioner.describe([pictures[0]] * 2, [pictures[1], pictures[0]])
    assert (changed.sentence, same.sentence) == ("the square changed", "there is no change")
    assert changed.no_change < 1e-6
    sure = np.exp(10) / (np.exp(10) + len(CARD.vocabulary) - 1)
    assert same.no_change == pytest.approx(sure**5, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["screens", Path(__file__).parents[1] / "fixtures" / "regions-0.2" / "bundle"]
)
def test_a_model_that_judges_regions_is_refused_with_the_version_that_runs_it(name):
    with pytest.raises(
        BundleError, match=r"a network that judges regions of screens\. .* Version 0\.2 reads it"
    ):
        load(name)


def test_the_weights_are_not_read_to_describe(bundle_folder, pictures):
    """They may be large; `models` and training check them."""
    (bundle_folder / "weights.safetensors").write_bytes(b"weights")
    bundle = write_bundle(bundle_folder, CARD)
    (bundle_folder / "weights.safetensors").unlink()
    assert load(bundle_folder).describe(*pictures).changed
    with pytest.raises(BundleError, match=r"weights\.safetensors: the file is missing"):
        bundle.check()


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2", 10**9])
def test_counts_that_are_none(captioner, bundle_folder, pictures, number):
    with pytest.raises(WhatchangedError, match="beams should be a whole number from 1"):
        captioner.describe(*pictures, beams=number)
    with pytest.raises(WhatchangedError, match="threads should be a whole number from 1"):
        load(bundle_folder, threads=number)


def test_an_open_file_is_described_and_shown(bundle_folder, pictures):
    with pictures[0].open("rb") as before, pictures[1].open("rb") as after:
        found = load(bundle_folder).describe(before, after)
    assert found.sentence == "the square changed" and found.heatmap().mode == "RGB"


def test_a_snapshot_of_a_model_hub_is_loaded(bundle_folder, tmp_path, pictures):
    """A hub's local copy: links named as the files are, into a folder of contents named by their hashes."""
    contents, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0a1b2c"
    contents.mkdir()
    snapshot.mkdir(parents=True)
    for number, path in enumerate(sorted(bundle_folder.iterdir())):
        (contents / f"{number:040x}").write_bytes(path.read_bytes())
        (snapshot / path.name).symlink_to(f"../../blobs/{number:040x}")
    (snapshot / ".gitattributes").write_text("*.onnx filter=lfs\n")
    assert load(snapshot).describe(*pictures).sentence == "the square changed"
