"""Scores the measured answer on labelled real pairs of screens, and compares it with other tools.

    python -m benchmarks.screens $UI_DEV [--rivals NODE_MODULES] [--resamples 1000] [--record]

NODE_MODULES holds pixelmatch, odiff-bin and looks-same (npm install pixelmatch odiff-bin looks-same). SSIM
needs scikit-image. The other tools are used with their default (any counted pixel is a change) and with their
best threshold, which is chosen on these same pairs and so favours them. Intervals: 95 %, commits resampled.

"The rules" are the measured answer.

Pairs whose label is uncertain are left out. Kinds are the eight of ``measured``; ``ACCEPTED`` says which of
them are right for a label. Nothing is fitted or chosen here. ``LOOKS`` records how often the authors looked
at these pairs while they wrote the rules, and what they did then.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.judged import Judged, Pair
from benchmarks.screens.parts import examples, parts, strict
from whatchanged.answers.by_measurement import of_measured
from whatchanged.measured import measure

LOOKS = (
    "Six while the rules were first written: aggregate figures. Thresholds and weights were fitted on "
    "drawn pairs; a few constants were set by hand, none of them by these pairs.",
    "The seventh, after alike changes were made one and gaps held only what is new in them: aggregate "
    "figures (IoU of at least .5 in 69.1, pointing 84.3 %). What changed afterwards, a noise test that "
    "works faster, other descriptors for groups and a mended case of a banner, followed drawn pictures and "
    "times.",
    "The eighth: kind, size and score of the three changed pairs above 1 % of the pixels that exit with"
    " 0 (two patterns with another texture, one avatar of another size). Nothing was changed for it.",
    "The ninth: the figures recorded then. Beside it, runs of screen_exits, the last one recorded, read exit"
    " codes of these pairs.",
    "The tenth, after foreground pixels became a measure of the noise test and all limits were fitted anew on"
    " drawn pairs: aggregate figures (AUROC .995, pointing 85.9, IoU of at least .5 in 70.2 %).",
    "The eleventh, after words were matched one by one and what pushes others came before them, which was"
    " judged on drawn pairs alone: pointing 86.4, IoU of at least .5 in 70.2, kind and pointing 50.3 %.",
    "The twelfth, after words that changed were told with their line and what grew or shrank as the thing"
    " itself, judged on drawn pairs alone: aggregate figures (AUROC .995, change 97.4, no change 97.2, kind"
    " 56.5, pointing 86.9, IoU of at least .5 in 68.6, kind and pointing 52.4 %). Nothing was changed for"
    " it but that a word whose neighbours only closed up is told by itself, which a test asked for.",
    "The thirteenth, the only one of a model of screens (the network of `screens-regions` with its export's"
    " calibration), fitted and chosen on drawn pairs alone (AUROC .993, change 95.3, no change 97.2, kind"
    " 53.4, pointing 83.8, IoU of at least .5 in 59.7, kind and pointing 48.7 %). It tells less of these"
    " pairs than the rules do, so it is not shipped.",
    "The fourteenth, after a side that lies elsewhere was told as a thing that grew, words beside those that"
    " they moved as one line, noise beside a change left out of its box and exchanged lines of two sizes laid"
    " on each other, all judged on drawn pairs alone: aggregate figures (kind 57.6, pointing 88.5, IoU of at"
    " least .5 in 70.2 %), of that model too, whose weights stayed and whose places follow the rules. Nothing"
    " was changed for it.",
    "The fifteenth, after a glyph that was exchanged was told by the rest of its line, and a plot by its axis"
    " that covers another range, both judged on drawn pairs alone; and of a second model of screens, learnt"
    " from 11,887 pairs of wider designs, for one yes or no: aggregate figures (rules: change 97.9, no"
    " change 94.4; the model: kind 53.4, pointing 86.4, IoU of at least .5 in 64.9, no change 85.9 %). It"
    " tells less of these pairs than the rules do, so it is not shipped. After it screen_exits gave 0 for 63"
    " of the 71 unchanged pairs (67 before); of 27,309 lines drawn anew, in faces that limits were fitted on,"
    " the comparison of glyphs had 34 called changed, so its limit was raised, on drawn lines alone, and a"
    " glyph below it leaves no doubt.",
    "The sixteenth, after that: the figures above. Nothing was changed for it.",
    "The seventeenth, of a third model of screens, learnt from 8,327 pairs, more than half of them of"
    " published pages: aggregate figures (change 95.3, no change 97.2, kind 49.7, pointing 86.4, IoU of at"
    " least .5 in 63.9, kind and pointing 46.1 %), and how often each kind was told for each type of label,"
    " by it and by the rules. It tells less of these pairs than the rules do, so it is not shipped. Nothing"
    " was changed for it.",
    "The eighteenth, of a fourth model of screens, which judges places by measured numbers alone: learnt from"
    " 5,388 pairs, its form chosen on drawn pairs, whole families of them left out of training: aggregate"
    " figures (change 97.9, no change 98.6, kind 59.7, pointing 86.4, IoU of at least .5 in 68.1, kind and"
    " pointing 53.9 %). Nothing was changed for it.",
    "The nineteenth, of the rules alone: their first kinds by type of label (several changes right in 5"
    " of 15) and by repository (vaadin 65, KaTeX 64, streamlit 59, bokeh 42, openlayers 36 %), and contact"
    " sheets of the pairs labelled as size, added, several, removed, position, spacing and text. Nothing was"
    " changed for it but that further statements were told where they point to a change of their own, as the"
    " precision of the specification counts them: the model of the eighteenth look told five, the rules 92.",
    "The twentieth, of a fifth model of screens, which reads fourteen numbers more of each place (how alike"
    " what is drawn there is) and tells finer words, both chosen on drawn pairs: aggregate figures (change"
    " 92.7, no change 98.6, kind 60.2, pointing 85.9, IoU of at least .5 in 65.5, kind and pointing 56.5 %)."
    " After it a change of which the measurement is sure was made to stand where the model denies it, the"
    " limit of that found on drawn pairs: of 15 such ones in held-out designs 11 had really changed.",
    "The twenty-first, after that, with that model shipped: aggregate figures (change 93.7, no change 98.6,"
    " kind 60.2, pointing 85.9, IoU of at least .5 in 65.5, kind and pointing 56.5 %), then which pairs the"
    " model did not know, and the sentences and boxes of 17 pairs that the rules told better. Seen in it:"
    " files with noise of a grey level were taken for photographs; that a few colours make up most of such"
    " screens was found, and its limit set, on drawn screens, photographs and scenes of CLEVR.",
    "The twenty-second, of the model as it is shipped, in which five networks judge each place: aggregate"
    " figures (AUROC .991, change 98.4, no change 97.2, kind 61.3, pointing 87.4, IoU of at least .5 in 68.6,"
    " kind and pointing 57.6 %). That they do, the threshold of a change, the noise of which no network is"
    " asked, and how precise later statements are to be, followed drawn families which the networks had not"
    " learnt from. Nothing was changed for it.",
    "The twenty-third, of the same model, whose sentences tell more often what something new or gone pushed,"
    " and call nothing a text that may be a line; both followed drawn pairs and pages of this project's own"
    " site. All figures but times are those of the twenty-second. Then pictures of twelve wrong statements"
    " that chance chose. Nothing was changed for it.",
    "The twenty-fourth, after structured faint changes became changes: aggregate verdicts (change 97.9, no"
    " change 90.1, AUROC .9904). Why was looked for in drawn noise and in other labelled pairs: an edge or a"
    " fill counts no longer where all around it was drawn anew.",
    "The twenty-fifth, the blind reading: sentences of 75 pairs and of 60 (seeds 44 and 45) by the program"
    " before names and amounts, by the rules and by one network, read by people who saw pictures alone. Their"
    " verdicts were counted; nothing was changed for it.",
    "The twenty-sixth, of the shipped network, which learned on from real pairs, and the rules of the same"
    " commit: the figures above. Then the sentences of the seven unchanged pairs that the rules call changed,"
    " and by how many levels they differ (four are faint and structured). Nothing was changed for it.",
    "The twenty-seventh: sentences of the 75 pairs of the twenty-fifth once more, by the rules of then and"
    " of now, read by two other people; verdicts were counted. What changed in between followed pairs of"
    " $UI_TRAIN alone. Nothing was changed for it.",
    "The twenty-eighth, of the same rules: aggregate figures (change 97.9, no change 87.3, kind 60.7).",
    "The twenty-ninth, after further wrong statements about pairs of $UI_TRAIN were mended, and exchanged"
    " glyphs were seen beside one unchanged side of their line: the figures above.",
    "The thirtieth, after seven rules followed pairs of $UI_TRAIN: the figures above, and the sentences of"
    " the 12 of the 75 pairs that read differently since the twenty-seventh. Two other readers judged the"
    " old and the new ones. Nothing was changed for it.",
    "The thirty-first, after rules on $UI_TRAIN explained what only looked different: the sentences of the 14"
    " of the 75 pairs that read differently since the thirtieth. Two other readers judged the old and the new"
    " ones. Afterwards a drawing of which parts became lighter and others darker was no longer said to become"
    " lighter, since both readers had named that fault.",
    "The thirty-second, after that: the figures of that time.",
    "The thirty-third, after rules for containers, highlights and surfaces followed drawn pages and pairs of"
    " $UI_TRAIN: the sentences of the 4 of the 75 pairs that read differently since the thirty-first. Two"
    " other readers judged the old and the new ones: three became better and one false. Afterwards heavy"
    " letters that became lighter were no longer said to lose a fill, which had made that one false.",
    "The thirty-fourth, after that: the figures above.",
    "The thirty-fifth, to choose what to build: the reasons of the readers for every sentence that was not"
    " useful, and the sentences of the 6 of the 75 pairs that read differently after rules that followed"
    " pairs of $UI_TRAIN (corners, pictures in another frame, backgrounds, what a text pushes). Two rules"
    " followed these reasons and pairs of $UI_TRAIN: several long things are not called bands, and how far"
    " the rest moved is told only where its cause grew as far. Another reader judged the 6 sentences.",
    "The thirty-sixth, after that: kind 67.0, both 60.7.",
    "The thirty-seventh, after rules that followed pairs of $UI_TRAIN and pages and plots of this project's"
    " own (other orders, covers, legends, lines of plots, areas and drawings of another size, wrapped words,"
    " pale colours): kind 68.1, both 61.8. A reader judged the changed sentences of the blind reading."
    " Two rules followed: a column has cells in several rows, and a closed line is an outline.",
    "The thirty-eighth, after that: kind 68.1, both 61.8.",
    "The thirty-ninth, after rules that followed pages, plots and lines of text of this project's own, drawn"
    " with many fonts (the type of a line, lines alone in another type, ranges of axes): kind 68.6, both"
    " 62.3.",
    "The fortieth, after rules for causes by the direction of what they push, for single ones of many places"
    " (withdrawn since), shadows, icons behind lines and areas with old words, most of which a reading of the"
    " validation pairs suggested: the sentences of the blind reading, then kind 68.6, both 62.3. A rule that"
    " numbers name nothing was withdrawn and one that takes short words for the same was narrowed after the"
    " sentences were seen.",
    "The forty-first, after rules for capitals, for the background around something large and for alike"
    " things that grew, from the same reading: one of the sentences, and the figures above.",
)
"""Each look at the labelled real pairs, and what was done after it."""

EXAMPLES = 10
"""Pairs of each group whose sentences are shown."""
Score = Callable[[NDArray[np.intp]], float]


def auroc(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """The share of couples of a changed and an unchanged pair that are in order; ties count half."""
    yes, no = scores[labels], scores[~labels]
    if not len(yes) or not len(no):
        return float("nan")
    return float(np.mean((yes[:, None] > no) + 0.5 * (yes[:, None] == no)))


def expected_error(probabilities: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Expected calibration error of the probability of a change, ten bins."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    gaps = [
        abs(float(probabilities[bins == k].mean()) - float(labels[bins == k].mean()))
        * float(np.mean(bins == k))
        for k in range(10)
        if np.any(bins == k)
    ]
    return sum(gaps)


def share_of(right: NDArray[np.bool_]) -> Score:
    """The score that is the share of rows that are right."""
    return lambda rows: float(right[rows].mean())


def with_interval(score: Score, groups: NDArray[np.intp], resamples: int) -> dict[str, float]:
    """A score of rows and its interval, groups resampled."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    drawn = [
        score(np.concatenate([members[k] for k in rng.integers(len(members), size=len(members))]))
        for _ in range(resamples)
    ]
    low, high = np.nanpercentile(drawn, [2.5, 97.5]) if drawn else (float("nan"), float("nan"))
    return {"value": round(score(np.arange(len(groups))), 4), "low": round(low, 4), "high": round(high, 4)}


def verdict_rows(
    scores: NDArray[np.float64],
    threshold: float,
    labels: NDArray[np.bool_],
    groups: NDArray[np.intp],
    resamples: int,
) -> dict[str, Any]:
    """AUROC and both accuracies at a threshold (scores from it on are changes)."""

    def accuracy(wanted: bool) -> Score:
        return lambda rows: float(np.mean((scores[rows] >= threshold)[labels[rows] == wanted] == wanted))

    return {
        "auroc": with_interval(lambda rows: auroc(scores[rows], labels[rows]), groups, resamples),
        "threshold": float(threshold),
        "change": with_interval(accuracy(True), groups, resamples),
        "no_change": with_interval(accuracy(False), groups, resamples),
    }


def best_threshold(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """The threshold with the largest mean of both accuracies."""
    candidates = np.unique(scores)
    means = [np.mean(scores[labels] >= t) + np.mean(scores[~labels] < t) for t in candidates]
    return float(candidates[int(np.argmax(means))])


def rival_scores(folder: Path, pairs: list[Pair], modules: Path) -> dict[str, list[float]]:
    """The share of pixels that each rival counts, and 1 - SSIM; pairs of two sizes are 1."""
    script = Path(__file__).with_name("rivals.mjs")
    lines = "\n".join(f"{folder / p['before']}\t{folder / p['after']}" for p in pairs)
    answer = subprocess.run(
        ["node", str(script), str(modules)], input=lines, capture_output=True, text=True, check=True
    )
    counted = [json.loads(line) for line in answer.stdout.splitlines()]
    scores = {name: [float(row[name]) for row in counted] for name in ("pixelmatch", "odiff", "looks-same")}
    return {
        "exact": [exact(folder, p) for p in pairs],
        **scores,
        "1 - SSIM": [dissimilar(folder, p) for p in pairs],
    }


def exact(folder: Path, pair: Pair) -> float:
    """The share of pixels that differ at all."""
    before, after = (np.asarray(Image.open(folder / pair[end]).convert("RGB")) for end in ("before", "after"))
    return 1.0 if before.shape != after.shape else float(np.mean((before != after).any(axis=2)))


def dissimilar(folder: Path, pair: Pair) -> float:
    """1 - SSIM of the grey pictures."""
    from skimage.metrics import structural_similarity

    before, after = (np.asarray(Image.open(folder / pair[end]).convert("L")) for end in ("before", "after"))
    if before.shape != after.shape:
        return 1.0
    window = min(7, *(side - 1 + side % 2 for side in before.shape))
    similarity: float = structural_similarity(before, after, win_size=window)
    return 1 - float(similarity)


def judge(folder: Path, pairs: list[Pair]) -> list[Judged]:
    """The measured answer for each pair."""
    judged = []
    for pair in pairs:
        before, after = (folder / pair[end] for end in ("before", "after"))
        start = time.process_time()
        answer = of_measured(measure(before, after))
        judged.append(Judged(pair, answer, time.process_time() - start))
    return judged


def later_statements(judged: list[Judged]) -> list[bool]:
    """Whether each second and third statement points into a label."""
    return [one.holds(statement) for one in judged for statement in one.answer.changes[1:3]]


def figures_of(
    judged: list[Judged], labels: NDArray[np.bool_], groups: NDArray[np.intp], resamples: int
) -> dict[str, Any]:
    """All figures of one system. labels: which pairs changed; groups: their commits, as numbers."""
    scores = np.array([1 - one.answer.no_change for one in judged])
    said = np.array([float(one.answer.verdict == "changed") for one in judged])
    results = verdict_rows(said, 0.5, labels, groups, resamples)
    results["auroc"] = with_interval(lambda rows: auroc(scores[rows], labels[rows]), groups, resamples)
    results["ece"] = round(expected_error(scores, labels), 4)
    shown = [one for one in judged if one.changed]
    for name in ("kind", "pointing", "overlap", "statement"):
        right = np.array([getattr(one, name) for one in shown])
        results[name] = with_interval(share_of(right), groups[labels], resamples)
    results["kind of twelve"] = with_interval(
        share_of(np.array([strict(one) for one in shown])), groups[labels], resamples
    )
    later = later_statements(shown)
    results["later statements"] = {
        "precision": round(float(np.mean(later)), 4) if later else None,
        "count": len(later),
    }
    large = [one for one in shown if one.pair["stats"].get("share8", 1) > 0.01]
    results["large changes that exit with 1"] = [sum(one.answer.changed for one in large), len(large)]
    results["parts"] = parts(judged)
    results["milliseconds"] = round(1000 * float(np.median([one.seconds for one in judged])), 1)
    return results


def main() -> None:
    """Prints the figures, and writes them as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rivals", type=Path)
    parser.add_argument("--resamples", type=int, default=1000)
    add_record_option(parser, "screens")
    options = parser.parse_args()
    lines = (options.folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["visible_change"] != "uncertain"]
    labels = np.array([pair["visible_change"] == "yes" for pair in pairs])
    groups = np.unique([pair["commit"] for pair in pairs], return_inverse=True)[1]
    results: dict[str, Any] = {"pairs": [int(labels.sum()), int((~labels).sum())]}
    with Watch() as watch:
        judged = judge(options.folder, pairs)
        results["measured"] = figures_of(judged, labels, groups, options.resamples)
        results["examples"] = examples(judged, EXAMPLES)
    if options.rivals:
        for name, values in rival_scores(options.folder, pairs, options.rivals).items():
            rival = np.array(values)
            results[name] = {
                "default": verdict_rows(rival, np.nextafter(0, 1), labels, groups, options.resamples),
                "best": verdict_rows(rival, best_threshold(rival, labels), labels, groups, options.resamples),
            }
    print(json.dumps(results, indent=1))
    if options.record:
        write_result(
            options.record, "screens", {**results, "looks": LOOKS}, watch=watch, seeds={"resampling": 0}
        )


if __name__ == "__main__":
    main()
