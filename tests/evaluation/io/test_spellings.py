import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pair_records import BIRDS, SCENES, pair_record, spot

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction, aligned
from whatchanged.evaluation.io.spellings import Spellings

DC = [pair_record(f"{number:06d}.png", group=f"{number:06d}") for number in (0, 28, 256)]


@pytest.mark.parametrize(
    ("records", "spelled", "meant"),
    [
        # CLEVR-DC and Spot-the-Diff: one pair a number
        (
            [pair_record("000028.png", group="000028"), pair_record("000256.png", group="000256")],
            "28",
            "000028.png",
        ),
        (DC, "000028", "000028.png"),
        (DC, "0", "000000.png"),
        ([spot(256), spot(28)], "256", "256.png"),
        ([spot(256), spot(28)], "000256.png", "256.png"),
        ([spot(256), spot(28)], "000028", "28.png"),
        ([spot(256)], "256.png_256_2.png", "256.png"),
        ([pair_record("256", group="256")], "256.png", "256"),
        # CLEVR-Change: the ending or the mark tells which pair of the scene
        (SCENES, "28.png", "000028.png"),
        (SCENES, "28.png_n", "000028.png_n"),
        (SCENES, "28_n", "000028.png_n"),
        (SCENES, "CLEVR_default_000028.png_CLEVR_nonsemantic_000028.png", "000028.png_n"),
        # names
        ([pair_record("train_000016.png")], "train_000016", "train_000016.png"),
        ([BIRDS], "647514.jpg_5595152.jpg", "647514_5595152"),
        ([pair_record("Zhopped_2")], "Zhopped_2", "Zhopped_2"),
    ],
)
def test_the_spellings_of_the_field(records, spelled, meant):
    assert list(Spellings(records).meant(spelled)) == [meant]


@pytest.mark.parametrize("spelled", ["28", "000028", "0028"])
def test_a_scene_with_two_pairs_is_no_pair(spelled):
    assert sorted(Spellings(SCENES).meant(spelled)) == ["000028.png", "000028.png_n"]
    with pytest.raises(PredictionsError, match=f"id {spelled} may mean 000028.png or 000028.png_n. Write"):
        aligned([Prediction(spelled, "x")], SCENES)


@pytest.mark.parametrize(
    "spelled", ["29", "2", "28.png_2", "x28.png", "", "280", "28_2", "_n", "CLEVR_default_28"]
)
def test_what_no_pair_is_called(spelled):
    assert list(Spellings(SCENES).meant(spelled)) == []


def test_an_id_of_the_references_means_that_pair():
    """Though another pair's id could be spelled so."""
    records = [pair_record("1"), pair_record("001"), pair_record("1.png")]
    for record in records:
        assert list(Spellings(records).meant(record.pair_id)) == [record.pair_id]
    assert sorted(Spellings(records).meant("01")) == ["001", "1", "1.png"]


@given(
    st.sets(st.integers(0, 10**6), min_size=1),
    st.integers(1, 8),
    st.sampled_from(["", ".png", ".jpg", ".PNG"]),
)
def test_any_number_however_padded(numbers, width, ending):
    records = [spot(number) for number in numbers]
    found = Spellings(records)
    for number in numbers:
        assert list(found.meant(f"{number:0{width}d}{ending}")) == [f"{number}.png"]


def test_predictions_get_the_ids_of_the_references():
    records = [spot(256), spot(28)]
    got = aligned(
        [Prediction("000028", "b"), Prediction("256", "a"), Prediction("7", "z")], records, [spot(7)]
    )
    assert got == (Prediction("256.png", "a"), Prediction("28.png", "b"))
    with pytest.raises(PredictionsError, match=r"The ids 28 and 000028.png both mean the pair 28.png"):
        aligned([Prediction("28", "b"), Prediction("000028.png", "c"), Prediction("256", "a")], records)
