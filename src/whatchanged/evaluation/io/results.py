"""Write predictions in formats of other programs of the field; ``predictions`` reads the same formats."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.errors import OutputError
from whatchanged.evaluation.io.predictions import TWO_FILES, Prediction
from whatchanged.evaluation.io.spellings import image_id_of_pcl
from whatchanged.files import write_output
from whatchanged.records import PairRecord

DISTRACTOR = "_n"
"""The end of a distractor's id in CLEVR-Change, the only data set with a file for each kind of pair."""

CaptionedRecords = Sequence[tuple[PairRecord, Prediction]]


def write_results(path: Path, form: str, captioned: CaptionedRecords) -> None:
    """Write the captions in a format of the field, one of ``RESULTS``; a pair that failed is left out.

    path: the file, or the folder of SCORER's two files. Raises OutputError where it cannot be written.
    """
    done = [(record, prediction) for record, prediction in captioned if prediction.error is None]
    texts = RESULTS[form](done)
    if "" not in texts:
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: cannot be made ({error.strerror}).") from error
    for name, text in texts.items():
        write_output(path / name if name else path, text)


def results_paths(path: Path, form: str) -> tuple[Path, ...]:
    """Return the files that ``write_results`` writes."""
    return tuple(path / name for name in TWO_FILES) if form == "two-files" else (path,)


def check_kinds(form: str, records: Sequence[PairRecord]) -> None:
    """Raise OutputError where the format has a file for distractors and the pairs have none."""
    kinds = {record.pair_id.endswith(DISTRACTOR) for record in records}
    if form == "two-files" and kinds != {True, False}:
        raise OutputError(
            f"--format two-files writes {' and '.join(TWO_FILES)}, the changed pairs and the distractors of "
            "CLEVR-Change; these pairs are of one kind. Use --format coco."
        )


def _coco(captioned: CaptionedRecords) -> Mapping[str, str]:
    return {"": _list(captioned)}


def _scorer(captioned: CaptionedRecords) -> Mapping[str, str]:
    changed = [one for one in captioned if not one[0].pair_id.endswith(DISTRACTOR)]
    unchanged = [one for one in captioned if one[0].pair_id.endswith(DISTRACTOR)]
    return dict(zip(TWO_FILES, (_list(changed), _list(unchanged)), strict=True))


def _pcl(captioned: CaptionedRecords) -> Mapping[str, str]:
    rows = [{"ImgId": image_id_of_pcl(record), "candidates": [said.caption]} for record, said in captioned]
    return {"": "".join(f"{_json(row)}\n" for row in rows)}


def _list(captioned: CaptionedRecords) -> str:
    return _json([{"image_id": record.pair_id, "caption": said.caption} for record, said in captioned]) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


RESULTS: Mapping[str, Callable[[CaptionedRecords], Mapping[str, str]]] = {
    "coco": _coco,
    "two-files": _scorer,
    "pcl": _pcl,
}
"""Name of a format -> its files by name; "" is the one file that has the requested name."""
