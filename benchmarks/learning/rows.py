"""The rows that ``learning.py`` trains, and the tables that compare them.

A row is a recipe of the package, and the settings that differ from it. Each row of a published table is a
recipe of its own, named "clevr-" and the name of its row here. The complete method is a row of its own, which
its table includes. All rows read the same frozen tokens and the same number of pairs.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from whatchanged.errors import RecipeError

SMALLER = (
    *(f"method.{part}width=112" for part in ("", "text_", "joint_", "decoder_")),
    *(f"method.{part}ffn=224" for part in ("", "text_", "decoder_")),
    "method.text_layers=1",
)
"""CLIP4IDC in a bundle below 10 MB."""
UNGUIDED = "vision.guided_attention=false"
TABLE_4 = (
    "pcl-table4-1-none",
    "pcl-table4-2-mlm",
    "pcl-table4-3-mlm-mvcl",
    "pcl-table4-5-no-difference-encoder",
    "pcl-table4-6-no-distractor-judging",
)
TABLE_6 = (
    "scorer-table6-1-subtraction",
    "scorer-table6-2-rr",
    "scorer-table6-3-scorer",
    "scorer-table6-4-rr-cbr",
)
BASELINES = ("clip4idc-ft1", "clip4idc-ft2")
AS_IN_THE_PAPER = ("method.preset=paper", "method.repaired=[]")
COMPARISONS: Mapping[str, tuple[str, ...]] = {
    "scorer-matching-max": ("method.matching=max",),
    "scorer-matching-mean": ("method.matching=mean",),
    "scorer-view-distance": ("method.view_loss=distance",),
    "scorer-fusion-sum": ("method.fusion=sum",),
    "scorer-fusion-product": ("method.fusion=product",),
    "scorer-fusion-apart": ("method.fusion=apart",),
    "scorer-heads-sum": AS_IN_THE_PAPER,
    "scorer-heads-mean": (*AS_IN_THE_PAPER, "method.heads_combined=mean"),
}
"""What SCORER's paper compares beside its Table 6: row -> the settings that differ from its recipe."""
ROWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pcl": ("clevr-frozen-pcl", ()),
    "scorer": ("clevr-scorer", ()),
    "clip4idc": ("clevr-clip4idc", ()),
    "pcl-unguided": ("clevr-frozen-pcl", (UNGUIDED,)),
    "pcl-masked": ("clevr-frozen-pcl", ("method.every_word=false", UNGUIDED)),
    "scorer-unguided": ("clevr-scorer", (UNGUIDED,)),
    "clip4idc-unguided": ("clevr-clip4idc", (UNGUIDED,)),
    "duda": ("clevr-duda", ()),
    "dirl": ("clevr-dirl", ()),
    "clip4idc-small": ("clevr-clip4idc", SMALLER),
    **{row: (f"clevr-{row}", ()) for row in (*TABLE_4, *TABLE_6, *BASELINES)},
    **{row: ("clevr-scorer", settings) for row, settings in COMPARISONS.items()},
}
"""Row -> its recipe, and the settings that differ from it."""
METHODS = ("pcl", "scorer", "clip4idc")
"""The rows whose rates are searched; every other row takes the rate of its method."""


class Table(NamedTuple):
    """Rows side by side: what the table is called, its rows with their titles, and which are compared."""

    title: str
    rows: Mapping[str, str]
    compared: tuple[tuple[str, str], ...]


def _against(whole: str, rows: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((row, whole) for row in rows)


TABLES: Mapping[str, Table] = {
    "methods": Table(
        "The three methods",
        {"pcl": "PCL, every word", "scorer": "SCORER + CBR", "clip4idc": "CLIP4IDC"},
        (("pcl", "scorer"), ("pcl", "clip4idc"), ("scorer", "clip4idc")),
    ),
    "guided": Table(
        "With and without guided attention; PCL with every word and with masked words",
        {
            "pcl": "PCL, every word",
            "pcl-unguided": "PCL, every word, without guided attention",
            "pcl-masked": "PCL, masked words (as published), without guided attention",
            "scorer": "SCORER + CBR",
            "scorer-unguided": "SCORER + CBR, without guided attention",
            "clip4idc": "CLIP4IDC",
            "clip4idc-unguided": "CLIP4IDC, without guided attention",
        },
        (
            ("pcl-unguided", "pcl"),
            ("pcl-masked", "pcl-unguided"),
            ("scorer-unguided", "scorer"),
            ("clip4idc-unguided", "clip4idc"),
        ),
    ),
    "table4": Table(
        "PCL, Table 4",
        {
            "pcl-table4-1-none": "1 fine-tuning only",
            "pcl-table4-2-mlm": "2 MLM",
            "pcl-table4-3-mlm-mvcl": "3 MLM, MVCL",
            "pcl": "4 MLM, MVCL, FDA: PCL",
            "pcl-table4-5-no-difference-encoder": "5 as 4, no difference encoder",
            "pcl-table4-6-no-distractor-judging": "6 as 4, no distractor judging",
        },
        _against("pcl", TABLE_4),
    ),
    "table6": Table(
        "SCORER, Table 6",
        {
            "scorer-table6-1-subtraction": "1 Subtraction",
            "scorer-table6-2-rr": "2 RR",
            "scorer-table6-3-scorer": "3 SCORER",
            "scorer-table6-4-rr-cbr": "4 RR + CBR",
            "scorer": "5 SCORER + CBR",
        },
        _against("scorer", TABLE_6),
    ),
    "comparisons": Table(
        "SCORER, its other comparisons",
        {
            "scorer": "SCORER + CBR",
            "scorer-matching-max": "views matched by their largest numbers",
            "scorer-matching-mean": "views matched by their mean",
            "scorer-view-distance": "L2 distance in place of the contrastive loss",
            "scorer-fusion-sum": "both reconstructions added",
            "scorer-fusion-product": "both reconstructions multiplied",
            "scorer-fusion-apart": "each reconstruction read by itself",
            "scorer-heads-sum": "as in the paper, heads matched and added",
            "scorer-heads-mean": "as in the paper, the mean over matched heads",
        },
        _against("scorer", tuple(COMPARISONS)),
    ),
    "others": Table(
        "DUDA and DIRL + CCR beside SCORER + CBR",
        {"duda": "DUDA", "dirl": "DIRL + CCR", "scorer-unguided": "SCORER + CBR, without guided attention"},
        _against("scorer-unguided", ("duda", "dirl")),
    ),
    "baselines": Table(
        "CLIP4IDC, Table 1",
        {"clip4idc-ft1": "FT1", "clip4idc-ft2": "FT2", "clip4idc": "CLIP4IDC"},
        _against("clip4idc", BASELINES),
    ),
}
"""The tables by the names that ``--rows`` takes; ``all`` stands for all of them."""
TITLES: Mapping[str, str] = {
    **{row: f"{table.title}: {title}" for table in TABLES.values() for row, title in table.rows.items()},
    **TABLES["guided"].rows,
    "clip4idc-small": "CLIP4IDC, smaller",
    "duda": "DUDA",
    "dirl": "DIRL + CCR",
}
"""What a row is called where it stands outside its table."""


def method_of(row: str) -> str:
    """The row of ``METHODS`` that a row is a variant of."""
    return row.partition("-")[0]


def rows_named(name: str) -> tuple[str, ...]:
    """The rows that a name of ``--rows`` stands for: a row, a table's rows, or those of all tables.

    Raises RecipeError for another name.
    """
    if name in ROWS:
        return (name,)
    if name == "all":
        return tuple(row for row in ROWS if any(row in table.rows for table in TABLES.values()))
    if name in TABLES:
        return tuple(TABLES[name].rows)
    raise RecipeError(f"--rows {name}: choose among all, {', '.join(TABLES)}, {', '.join(ROWS)}.")


def chosen(rows: str) -> Iterator[tuple[str, float | None]]:
    """The rows of a command, each once for each rate: ``NAME[=RATE],...``; None where no rate is given."""
    results: dict[tuple[str, float | None], None] = {}
    for part in rows.split(","):
        name, _, rate = part.partition("=")
        try:
            given = float(rate) if rate else None
        except ValueError as error:
            raise RecipeError(
                f"--rows {part}: {rate!r} is no rate. Write NAME=RATE, as in pcl=1e-3."
            ) from error
        results.update(dict.fromkeys((row, given) for row in rows_named(name)))
    yield from results
