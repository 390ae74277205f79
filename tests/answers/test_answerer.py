import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.tiny_bundle import WARY, build_card

from whatchanged.answers import Answerer
from whatchanged.answers import models as models_room
from whatchanged.captioner import runtime
from whatchanged.captioner.card import InDistribution
from whatchanged.captioner.onnx_graphs import CaptionGraphs
from whatchanged.errors import BundleError, ImageError, WhatchangedError

DEMO = Path(models_room.__file__).parents[1] / "models" / "demo"
BLENDER = Path(__file__).resolve().parents[2] / "../shared/data/blender_clevr_dev"
GREY = np.full((320, 480, 3), 120, np.uint8)


def picture(*boxes, color=(0, 0, 0), ground=GREY):
    pixels = ground.copy()
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = color
    return Image.fromarray(pixels)


SMALL = (100, 100, 140, 130)
"""Hardly a hundredth of the picture: the tiny model does not see it, a person does."""
LARGE = (240, 160, 480, 320)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs tiny models, which know grey pictures only, in the place of the shipped ones."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setattr("whatchanged.captioner.bundle.SHIPPED", folder)

    def add(name="tiny", **changes):
        build_card(folder / name, replace(WARY, name=name, **changes))

    return add


@pytest.fixture
def built(monkeypatch):
    """The names of the models whose graphs are built, in order."""
    names, real = [], CaptionGraphs.__init__

    def init(self, bundle, world, threads=None):
        names.append(bundle.card.name)
        real(self, bundle, world, threads)

    monkeypatch.setattr(CaptionGraphs, "__init__", init)
    return names


def test_a_model_that_knows_the_pictures_speaks(install, built):
    install()
    answer = Answerer().answer(picture(), picture(LARGE))
    assert (answer.sentence, answer.answer, answer.verdict) == ("the square changed", "tiny", "changed")
    assert answer.changed and not answer.doubtful and answer.unfamiliar is False
    assert answer.changes == () and "changes" not in answer.as_json()
    assert built == ["tiny"]


def test_pictures_that_no_model_knows_are_measured(install):
    install()
    red = np.full_like(GREY, (255, 0, 0))
    answer = Answerer().answer(picture(ground=red), picture(LARGE, ground=red))
    assert (answer.answer, answer.verdict, answer.description) == ("measured", "changed", None)
    assert answer.changes[0].box_after == LARGE
    assert answer.unfamiliar is None


def test_nothing_changed_is_not_said_over_what_is_visible(install):
    install(world="a world that nobody declared")
    answer = Answerer().answer(picture(), picture(SMALL))
    assert (answer.answer, answer.verdict, answer.changed) == ("measured", "changed", True)


def test_where_view_and_light_may_differ_the_model_is_believed(install):
    install(world="clevr")
    answer = Answerer().answer(picture(), picture(SMALL))
    assert (answer.sentence, answer.verdict) == ("there is no change", "unchanged")
    assert not answer.changed and answer.measured is None
    assert Answerer(strict=True).answer(picture(), picture(SMALL)).answer == "measured"


def test_a_named_model_is_not_overruled_but_the_verdict_is_measured(install, tmp_path):
    build_card(tmp_path / "mine", replace(WARY, name="mine"))
    answer = Answerer(tmp_path / "mine").answer(picture(), picture(SMALL))
    assert (answer.sentence, answer.answer) == ("there is no change", "mine")
    assert (answer.verdict, answer.doubtful, answer.changed) == ("changed", True, True)
    assert answer.measured is not None and answer.measured.statements[0].box_after == SMALL


def test_a_named_model_without_a_clue_is_measured_too(tmp_path):
    """The world's word on view and light holds for pictures of the world only."""
    build_card(tmp_path / "mine", replace(WARY, name="mine", world="clevr"))
    red = np.full_like(GREY, (255, 0, 0))
    answer = Answerer(tmp_path / "mine").answer(picture(ground=red), picture(SMALL, ground=red))
    assert answer.sentence == "there is no change" and answer.unfamiliar is True
    assert answer.verdict == "changed" and answer.changed


def test_same_pixels_ask_no_model(install, built):
    install()
    answer = Answerer().answer(picture(SMALL), picture(SMALL))
    assert (answer.verdict, answer.answer, answer.no_change, built) == ("identical", "measured", 1.0, [])


def test_a_model_is_not_built_for_pictures_of_another_shape_or_colour(install, built):
    install(in_distribution=InDistribution(0.25, "by hand", {"brightness": (60.0, 180.0)}))
    answerer = Answerer()
    square = Image.new("RGB", (300, 300), (120, 120, 120))
    dark = np.full_like(GREY, 30)
    tiny = [Image.new("RGB", (6, 4), (level,) * 3) for level in (100, 140)]
    for pair in ((square, picture()), (picture(), picture(ground=dark)), tiny):
        assert answerer.answer(*pair).answer == "measured"
    assert built == []
    assert answerer.answer(picture(), picture(LARGE)).answer == "tiny"


def test_colours_out_of_range_are_unfamiliar_to_a_named_model(install, tmp_path):
    known = InDistribution(0.25, "by hand", {"brightness": (60.0, 180.0)})
    build_card(tmp_path / "mine", replace(WARY, name="mine", in_distribution=known))
    dark = np.full_like(GREY, 30)
    answer = Answerer(tmp_path / "mine").answer(picture(), picture(ground=dark))
    assert answer.unfamiliar is True
    assert answer.description.ood_distance == pytest.approx(
        (0, 1.5)
    )  # (120 - 30) / 60, and the middle is 120


def test_of_two_models_that_know_a_pair_the_nearer_one_speaks(install, built):
    install("far", world="one", in_distribution=InDistribution(0.25, "by hand"))
    install("near", world="two", in_distribution=InDistribution(0.5, "by hand"))
    reddish = np.full_like(GREY, (140, 120, 110))
    answer = Answerer().answer(picture(ground=reddish), picture(LARGE, ground=reddish))
    assert answer.answer == "near" and sorted(built) == ["far", "near"]


def test_one_model_of_each_world_is_asked(install):
    install("b", world="one")
    install("a", world="one")
    install("c", world="two")
    assert [model.card.name for model in Answerer().models] == ["a", "c"]


def test_a_model_that_cannot_tell_what_it_knows_is_asked_only_by_name(install, tmp_path):
    install(in_distribution=None)
    assert Answerer().answer(picture(), picture(LARGE)).answer == "measured"
    assert Answerer("tiny").answer(picture(), picture(LARGE)).answer == "tiny"


def test_ignored_places_count_for_no_one(install):
    install()
    answerer = Answerer()
    assert answerer.answer(picture(), picture(LARGE), ignore=[LARGE]).verdict == "ignored"
    beside = answerer.answer(picture(), picture(SMALL, LARGE), ignore=[SMALL])
    assert beside.sentence == "the square changed"


def test_a_batch_keeps_its_order(install, tmp_path):
    install()
    red = np.full_like(GREY, (255, 0, 0))
    pairs = [
        (picture(), picture(LARGE)),
        (picture(), tmp_path / "none.png"),
        (picture(ground=red), picture(LARGE, ground=red)),
        (picture(), picture()),
        (picture(LARGE), picture()),
    ]
    results = Answerer().answer_batch(pairs)
    assert isinstance(results[1], ImageError)
    assert [answer.answer for answer in results if not isinstance(answer, ImageError)] == [
        *("tiny", "measured", "measured", "tiny")
    ]
    alone = [Answerer().answer(*pair).as_json() for i, pair in enumerate(pairs) if i != 1]
    assert [answer.as_json() for answer in results if not isinstance(answer, ImageError)] == alone


def test_a_picture_that_may_not_be_read_is_its_pairs_error_alone(install, tmp_path, lock):
    install()
    paths = [tmp_path / f"{name}.png" for name in ("one", "other", "locked")]
    for path in paths:
        picture().save(path)
    lock(paths[2])
    results = Answerer().answer_batch([(paths[0], paths[2]), (paths[2], paths[0]), (paths[0], paths[1])])
    assert [str(error) for error in results[:2]] == [
        f"{paths[2]}: cannot read the file: Permission denied."
    ] * 2
    assert results[2].verdict == "identical"


def test_a_broken_later_frame_is_its_pairs_error_alone(tmp_path):
    whole, broken = tmp_path / "whole.gif", tmp_path / "broken.gif"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), np.uint8)
    later = [Image.fromarray(noise.T.copy())]
    Image.fromarray(noise).save(whole, save_all=True, append_images=later)
    noise[5, 5] ^= 1  # the first frames are not the same, but nobody sees it
    Image.fromarray(noise).save(broken, save_all=True, append_images=later)
    broken.write_bytes(broken.read_bytes()[:-2000])
    error, answer = Answerer().answer_batch([(whole, broken), (whole, whole)])
    assert isinstance(error, ImageError) and "cannot decode the picture" in str(error)
    assert answer.verdict == "identical"


def test_few_pixels_wait_at_a_time_and_the_answers_stay(install, monkeypatch):
    install()
    pairs = [(picture(), picture(LARGE)), (picture(), picture(SMALL)), (picture(LARGE), picture())] * 2
    wanted = [answer.as_json() for answer in Answerer().answer_batch(pairs)]
    events, begin, ask = [], Answerer._begin, Answerer._nearest
    monkeypatch.setattr(Answerer, "_begin", lambda *of: events.append("read") or begin(*of))
    monkeypatch.setattr(Answerer, "_nearest", lambda *of: events.append("answered") or ask(*of))
    monkeypatch.setattr("whatchanged.answers.answerer.MOST_PENDING_PIXELS", 4 * GREY.shape[0] * GREY.shape[1])
    assert [answer.as_json() for answer in Answerer().answer_batch(pairs)] == wanted
    assert events == [*("read", "read", "answered") * 3, "answered"]


# The name of a model of before


def test_the_model_of_screens_is_the_measurement_for_a_while(install):
    install()
    pair = picture(), picture(SMALL)
    with pytest.warns(DeprecationWarning, match="The model screens is gone; measured answers in its place"):
        answerer = Answerer("screens")
    answer = answerer.answer(*pair)
    assert answer.answer == "measured" and answerer.models == ()
    assert answer.as_json() == Answerer("measured").answer(*pair).as_json()


def test_ignored_places_are_told_by_nobody(install):
    install()
    assert Answerer().answer(picture(), picture(LARGE), ignore=[LARGE]).verdict == "ignored"
    beside = Answerer("measured").answer(picture(), picture(SMALL, LARGE), ignore=[LARGE])
    assert [change.box_after for change in beside.changes] == [SMALL]


def test_the_measured_answer_has_its_old_name_for_a_while():
    answer = Answerer("measured").answer(picture(), picture(LARGE))
    with pytest.warns(DeprecationWarning, match=r"as_measured is Answer\.measured now"):
        assert answer.as_measured is answer.measured


def test_bytes_and_open_files(install, pictures):
    install()
    wanted = Answerer().answer(*pictures).as_json()
    before, after = (path.read_bytes() for path in pictures)
    assert Answerer().answer(before, after).as_json() == wanted
    with pictures[1].open("rb") as stream:
        assert Answerer().answer(io.BytesIO(before), stream).as_json() == wanted
    assert Answerer().answer(before, before).verdict == "identical"


def test_a_picture_too_small_for_a_named_model(tmp_path):
    build_card(tmp_path / "mine", WARY)
    with pytest.raises(ImageError, match="1 x 1 pixels are too few"):
        Answerer(tmp_path / "mine").answer(Image.new("RGB", (1, 1)), picture())


def test_what_cannot_be():
    with pytest.raises(BundleError, match="no such model"):
        Answerer("nonesuch")
    with pytest.raises(WhatchangedError, match="sensitivity"):
        Answerer(sensitivity=0)


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "x", 1001])
def test_counts_that_are_none(number):
    with pytest.raises(WhatchangedError, match="beams should be a whole number from 1"):
        Answerer(beams=number)
    with pytest.raises(WhatchangedError, match="threads should be a whole number from 1"):
        Answerer(threads=number)


# The shipped model


def demo(number):
    return [Image.open(DEMO / f"{number:02d}-{side}.png").convert("RGB") for side in ("before", "after")]


def toned(image, red=1.0, green=1.0, blue=1.0, grey=False):
    pixels = np.asarray(image, np.float64)
    if grey:
        pixels = pixels.mean(-1, keepdims=True)
    return Image.fromarray(np.clip(np.rint(pixels * (red, green, blue)), 0, 255).astype(np.uint8))


def test_scenes_are_described_by_their_model():
    entries = json.loads((DEMO / "demo.json").read_text())["pairs"]
    results = Answerer(threads=1).answer_batch([demo(i) for i in range(len(entries))])
    assert {answer.answer for answer in results} == {"clevr-pcl"}
    kinds = [entry["change"]["type"] for entry in entries]
    assert [answer.verdict for answer in results] == [
        "unchanged" if kind == "none" else "changed" for kind in kinds
    ]


@pytest.mark.parametrize(
    "tone",
    [{"grey": True}, {"grey": True, "red": 1.1, "blue": 0.75}, {"green": 0.8, "blue": 0.6}],
    ids=["grey", "sepia", "orange light"],
)
def test_grey_and_strongly_tinted_scenes_are_unfamiliar(tone):
    pairs = [[toned(image, **tone) for image in demo(i)] for i in range(10)]
    assert {answer.answer for answer in Answerer(threads=1).answer_batch(pairs)} == {"measured"}
    named = Answerer("clevr-pcl", threads=1).answer_batch(pairs[:2])
    assert [answer.unfamiliar for answer in named] == [True, True]


def test_scenes_on_their_side_are_unfamiliar():
    pairs = [[image.transpose(Image.Transpose.ROTATE_90) for image in demo(i)] for i in range(10)]
    assert {answer.answer for answer in Answerer(threads=1).answer_batch(pairs)} == {"measured"}


@pytest.mark.slow
def test_every_pair_of_the_development_set_is_answered_by_its_model():
    if not BLENDER.is_dir():
        pytest.skip("the development set of Blender scenes is not here")
    from whatchanged.datasets import open_dataset

    pairs = [(record.before, record.after) for record in open_dataset(BLENDER).records]
    answerer, captioner = Answerer(threads=1), runtime.load("clevr-pcl", threads=1)
    assert len(pairs) == 200
    for start in range(0, len(pairs), 20):
        part = pairs[start : start + 20]
        alone = captioner.describe([before for before, _ in part], [after for _, after in part])
        for answer, wanted in zip(answerer.answer_batch(part), alone, strict=True):
            assert answer.answer == "clevr-pcl" and not answer.unfamiliar
            assert (answer.sentence, answer.no_change) == (wanted.sentence, wanted.no_change)


@pytest.mark.parametrize("side", [1, 30])
def test_of_two_pictures_of_which_one_is_next_to_nothing_the_sizes_are_told(side, tmp_path):
    large, tiny = picture(SMALL, ground=np.full_like(GREY, 200)), Image.new("RGB", (side, side))
    for before, after in ((large, tiny), (tiny, large)):
        paths = tmp_path / "before.png", tmp_path / "after.png"
        for image, path in zip((before, after), paths, strict=True):
            image.save(path)
        answer = Answerer().answer(*paths)
        assert (answer.answer, answer.verdict) == ("measured", "changed")
        assert f"from {before.width} x {before.height} to {after.width} x {after.height}" in answer.sentence


def test_what_differs_in_ignored_places_alone_has_its_own_verdict(install):
    """Also where noise differs elsewhere; what nobody sees is noise inside of them, too."""
    install()
    faint, hidden = np.array(picture()), np.array(picture(LARGE))
    faint[-1, -1] ^= 1
    hidden[-1, -1] ^= 1
    answerer = Answerer(policy="lenient")
    answer = answerer.answer(picture(), hidden, ignore=[LARGE])
    assert (answer.verdict, answer.changed, answer.policy) == ("ignored", False, "lenient")
    assert answer.sentence == "The pictures differ visibly only in ignored places."
    width, height = picture().size
    assert answer.ignored == pytest.approx((LARGE[2] - LARGE[0]) * (LARGE[3] - LARGE[1]) / (height * width))
    assert (
        answerer.answer(picture(), faint, ignore=[(width - 4, height - 4, width, height)]).verdict == "noise"
    )


def test_more_than_half_of_a_picture_is_not_ignored(install):
    install()
    width, height = picture().size
    boxes = [(0, 0, width, height // 2), (0, 0, width // 2, height)]
    with pytest.raises(ImageError, match="Ignored places cover 75 % of the picture; at most 50 %"):
        Answerer().answer(picture(), picture(LARGE), ignore=boxes)
    assert Answerer().answer(picture(), picture(LARGE), ignore=boxes[:1]).ignored == 0.5
