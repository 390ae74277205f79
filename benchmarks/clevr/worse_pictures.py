"""Scores a model's captions on degraded pictures: compression, noise, light, colour, frame.

    python -m benchmarks.clevr.worse_pictures MODEL DATASET [--only NAME --only NAME] [--seed 0]

Each picture is degraded at its own size, before the model resizes it; both pictures of a pair alike, except
in "after only". The scores need the scenes' truth (a twin, or $BLENDER_DEV). If pictures are cropped or
rotated, the references' words for positions still hold nearly everywhere.
"""

import argparse
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter

from benchmarks.markdown import head_lines, line
from benchmarks.record import add_record_option, write_result
from whatchanged.captioner.description import Description
from whatchanged.captioner.runtime import Captioner, load
from whatchanged.datasets import open_dataset
from whatchanged.evaluation.metrics.change_detection import Ranking
from whatchanged.evaluation.metrics.truth import Truths, judged, read_truths
from whatchanged.records import PairRecord

Picture = Image.Image
Floats = NDArray[np.float64]
Worsen = Callable[[Picture, np.random.Generator], Picture]
BATCH = 16
COLUMNS = (
    "type right",
    "phrase fits",
    "fits alone",
    "wholly true",
    "called no change",
    "unchanged recognised",
    "AUC",
    "warned of",
    "contradictory",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--only", action="append", choices=list(WORSE), help="default: all")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    add_record_option(parser, "worse_pictures")
    options = parser.parse_args()
    captioner = load(options.model, 1)
    records = open_dataset(options.dataset).records
    truths = read_truths(options.dataset, records)
    if truths is None:
        parser.error(f"{options.dataset}: needs scenes.json and pairs.json, which hold the truth.")
    print(head_lines(["pictures", *COLUMNS]))
    rows = []
    for name in options.only or WORSE:
        results = describe_worse(captioner, records, name, options.seed)
        rows.append({"pictures": name, **scores(records, truths, results)})
        cells = [str(v) if isinstance(v, str | int) else f"{v:.1f}" for v in rows[-1].values()]
        print(line(cells), flush=True)
    if options.record:
        decimals = {name: 2 if name == "AUC" else 1 for name in COLUMNS[:-2]}
        figures = {"rows": rows, "decimals": decimals}
        write_result(options.record, "rows", figures, seeds={"noise": options.seed})


def describe_worse(
    captioner: Captioner, records: Sequence[PairRecord], name: str, seed: int
) -> list[Description]:
    """All pairs, worsened as ``name`` says; each picture's noise follows from (seed, its place)."""
    worsen, both = WORSE[name], not name.startswith("after only")
    results: list[Description] = []
    for start in range(0, len(records), BATCH):
        pairs: list[tuple[Picture, Picture]] = []
        for index, record in enumerate(records[start : start + BATCH], start):
            assert record.after is not None
            before, after = (Image.open(path).convert("RGB") for path in (record.before, record.after))
            rng = np.random.default_rng((seed, index))
            pairs.append((worsen(before, rng) if both else before, worsen(after, rng)))
        results += captioner.describe([before for before, _ in pairs], [after for _, after in pairs])
    return results


def scores(
    records: Sequence[PairRecord], truths: Truths, found: Sequence[Description]
) -> dict[str, float | int]:
    """``COLUMNS``: percentages of the changed pairs and of the unchanged ones, then two counts: pairs that
    were warned of, and sentences that contradict themselves."""
    verdicts = judged(records, [d.sentence for d in found], truths)
    chosen = verdicts.subsets({})
    changed, unchanged = verdicts.counts(chosen["semantic",]), verdicts.counts(chosen["distractor",])
    counts = [changed[name] for name in truths.world.breakdown.grades if name != "value_right"]
    shares = [100 * right / of for right, of in (*counts, unchanged["called_none"])]
    truly = np.array([kind != "none" for kind in verdicts.kinds])
    ranking = Ranking(np.array([d.no_change for d in found]), truly)
    auc = float(ranking.auc(np.ones((1, len(found))))[0])
    warned = sum(bool(description.unfamiliar) for description in found)
    contradicts = truths.world.language.contradicts
    contradictory = sum(contradicts is not None and contradicts(d.sentence) for d in found)
    return dict(zip(COLUMNS, [*shares, auc, warned, contradictory], strict=True))


def _values(change: Callable[[Floats, np.random.Generator], Floats]) -> Worsen:
    """A change of pixel values, 0 to 255."""

    def worsen(picture: Picture, rng: np.random.Generator) -> Picture:
        changed = change(np.asarray(picture, np.float64), rng)
        return Image.fromarray(changed.clip(0, 255).round().astype(np.uint8))

    return worsen


def _jpeg(quality: int) -> Worsen:
    def worsen(picture: Picture, rng: np.random.Generator) -> Picture:
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=quality)
        return Image.open(io.BytesIO(file.getvalue())).convert("RGB")

    return worsen


def _noise(deviation: float) -> Worsen:
    return _values(lambda values, rng: values + rng.normal(0, deviation, values.shape))


def _gain(*factors: float) -> Worsen:
    return _values(lambda values, rng: values * np.array(factors))


def _gamma(exponent: float) -> Worsen:
    return _values(lambda values, rng: 255 * (values / 255) ** exponent)


def _saturation(factor: float) -> Worsen:
    return lambda picture, rng: ImageEnhance.Color(picture).enhance(factor)


def _contrast(factor: float) -> Worsen:
    return lambda picture, rng: ImageEnhance.Contrast(picture).enhance(factor)


def _blur(radius: float) -> Worsen:
    return lambda picture, rng: picture.filter(ImageFilter.GaussianBlur(radius))


def _smaller(factor: float) -> Worsen:
    return lambda picture, rng: picture.resize(
        (round(factor * picture.width), round(factor * picture.height)), Image.Resampling.BICUBIC
    )


def _cropped(share: float) -> Worsen:
    """Without ``share`` of the width on the left and on the right, of the height above and below."""

    def worsen(picture: Picture, rng: np.random.Generator) -> Picture:
        width, height = picture.size
        x, y = round(share * width), round(share * height)
        return picture.crop((x, y, width - x, height - y))

    return worsen


def _turned(degrees: float) -> Worsen:
    return lambda picture, rng: picture.rotate(
        degrees, Image.Resampling.BICUBIC, fillcolor=picture.getpixel((0, 0))
    )


def _across(values: Floats, rng: np.random.Generator) -> Floats:
    return values * np.linspace(0.75, 1.15, values.shape[1])[None, :, None]


WORSE: dict[str, Worsen] = {
    "as they are": lambda picture, rng: picture,
    "JPEG, quality 30": _jpeg(30),
    "JPEG, quality 10": _jpeg(10),
    "noise, 5 grey levels": _noise(5),
    "noise, 12 grey levels": _noise(12),
    "blur, 2 pixels": _blur(2),
    "a third of the size": _smaller(1 / 3),
    "light x 0.6": _gain(0.6),
    "light x 1.4": _gain(1.4),
    "light x 0.75 to 1.15 across": _values(_across),
    "gamma 0.7": _gamma(0.7),
    "gamma 1.4": _gamma(1.4),
    "contrast x 0.6": _contrast(0.6),
    "contrast x 1.4": _contrast(1.4),
    "warm": _gain(1.1, 1.0, 0.85),
    "cold": _gain(0.87, 1.0, 1.1),
    "saturation x 0.5": _saturation(0.5),
    "saturation x 1.5": _saturation(1.5),
    "10 % cropped on each side": _cropped(0.1),
    "turned by 3 degrees": _turned(3),
    "after only: JPEG, quality 30": _jpeg(30),
    "after only: light x 0.8": _gain(0.8),
    "after only: warm": _gain(1.1, 1.0, 0.85),
}


if __name__ == "__main__":
    main()
