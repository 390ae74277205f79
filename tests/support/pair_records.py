"""Pairs as records, whose pictures are only names; some as published data sets have them."""

from pathlib import Path

from whatchanged.records import PairRecord


def pair_record(pair_id, captions=("a",), dataset="plain", group=None, **other):
    """A pair of the test split; ``other`` are further fields of the record."""
    return PairRecord(
        dataset=dataset,
        pair_id=pair_id,
        group_id=pair_id if group is None else group,
        split="test",
        kind="pair_caption",
        before=other.pop("before", Path("a")),
        after=other.pop("after", Path("b")),
        captions=tuple(captions),
        **other,
    )


def clevr(scene, kind):
    """A pair of CLEVR-Change with its files."""
    return pair_record(
        f"{scene:06d}.png" + ("_n" if kind == "nonsemantic" else ""),
        group=f"{scene:06d}",
        before=Path(f"images/CLEVR_default_{scene:06d}.png"),
        after=Path(f"images/CLEVR_{kind}_{scene:06d}.png"),
    )


def spot(number):
    """A pair of Spot-the-Diff with its files."""
    return pair_record(
        f"{number}.png", group=f"{number}", before=Path(f"{number}.png"), after=Path(f"{number}_2.png")
    )


SCENES = [clevr(number, kind) for number in (28, 256) for kind in ("semantic", "nonsemantic")]
BIRDS = pair_record("647514_5595152", before=Path("647514.jpg"), after=Path("5595152.jpg"))
