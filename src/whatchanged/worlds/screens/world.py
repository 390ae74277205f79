"""The screens world: implements the contract of ``whatchanged.worlds`` with the modules of this folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.random import Generator

from whatchanged.records import PairRecord
from whatchanged.worlds import (
    Breakdown,
    Drawer,
    DrawerOption,
    TruthFiles,
    World,
    WorldLanguage,
    WorldPictures,
)
from whatchanged.worlds.screens.judging import GRADES, judge
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.labelled import DATASET, labelled_truths
from whatchanged.worlds.screens.reading import read
from whatchanged.worlds.screens.templates import NO_CHANGE
from whatchanged.worlds.screens.truth import ScreenTruth, has_truth, read_truths
from whatchanged.worlds.screens.writing import write_captions, write_full, write_plain

LIMITS = """Its world is screens: web pages, application windows, plots and typeset documents. Real renderers
drew them from published pages, and from designs of our own under published stylesheets. They are in sixteen
languages and ten scripts. The windows measure at most 1280x900, with one to two device pixels per CSS pixel.
Its sentences about other designs, maps and large canvases may be wrong. It does not know photographs and
films. It reads no words, and it cannot say why something changed."""


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, ScreenTruth]:
    """Return the truth of these records by id; {} if neither the data set nor the records contain any."""
    labelled = labelled_truths(records)
    if labelled or not has_truth(root):
        return labelled
    wanted = {record.pair_id for record in records}
    return {name: truth for name, truth in read_truths(root) if name in wanted}


def kind_of(truth: ScreenTruth) -> str:
    """Return the kind of the most striking change, or "none"."""
    return truth.changes[0].kind if truth.changes else "none"


def _captions(truth: ScreenTruth, rng: Generator) -> tuple[str, ...]:
    return write_captions(truth, rng)


WORLD = World(
    name="screens",
    description="web pages, application windows, plots and documents: what changed on a screen, or nothing",
    pictures=WorldPictures(datasets=(DATASET,), view_and_light_differ=False, limits=LIMITS),
    truth=TruthFiles(has_truth, truths, kind_of),
    language=WorldLanguage(
        captions=_captions,
        reads=lambda sentence: read(sentence) is not None,
        judge=judge,
        no_change_sentences=NO_CHANGE,
        wordings={"plain": write_plain, "full": write_full},
    ),
    breakdown=Breakdown(
        kinds=KINDS,
        grades=GRADES,
        grade_titles={
            "kind_right": "kind right",
            "element_right": "element right",
            "value_right": "values right",
            "place_right": "place right",
            "complete": "tells every change",
            "true": "wholly true",
            "called_none": "called no change",
        },
    ),
    drawers=(
        Drawer(
            "screens",
            "pairs of screens from real renderers, with sentences and full truth; four pairs a document",
            "whatchanged.synth.screens.run:draw_screens",
            (1280, 900),
            unit="documents",
            options=(
                DrawerOption(
                    "family",
                    "what to draw: our own web pages, published ones (sites), plots, charts in a browser,"
                    " typeset documents, or all in turn",
                    "all",
                    choices=("all", "pages", "sites", "plots", "charts", "documents"),
                ),
                DrawerOption("styles", "a folder into which npm installed the stylesheets of pages", ""),
                DrawerOption(
                    "changes",
                    "mixed: none, one or several changes in a pair; several: two or three in every pair, of"
                    " which some may be too faint to see",
                    "mixed",
                    choices=("mixed", "several"),
                ),
            ),
            extra="screens",
        ),
    ),
)
