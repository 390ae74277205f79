"""Prepares captions for a recipe: as annotated or in a fixed wording, preprocessed as published."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from whatchanged.datasets.preparation import Preparation
from whatchanged.errors import RecipeError
from whatchanged.recipes.hints import nearest
from whatchanged.records import PairRecord
from whatchanged.worlds import Truth, World


def check_wording(wording: str, world: World) -> None:
    """Raise RecipeError where ``data.wording`` is neither "captions" nor a fixed wording of the world."""
    known = ("captions", *world.language.wordings)
    if wording not in known:
        raise RecipeError(
            f'data.wording: got "{wording}", wanted one of {", ".join(known)}.' + nearest(wording, known)
        )


def reword(
    records: Sequence[PairRecord], wording: str, world: World | None, truths: Mapping[str, Truth]
) -> list[PairRecord]:
    """Return the records. With a fixed wording, the only caption of each training pair is the one sentence of
    this wording.

    With the wording "captions", records stay unchanged. Raises RecipeError where a training pair has no
    ground truth, or where the world has no such wording.
    """
    if wording == "captions":
        return list(records)
    if world is not None:
        check_wording(wording, world)
    results = []
    for record in records:
        if record.split == "train":
            if world is None or record.pair_id not in truths:
                raise RecipeError(
                    f'data.wording = "{wording}" needs the truth of every scene; {record.pair_id} has none.'
                    ' Use "captions".'
                )
            record = replace(record, captions=(world.write(truths[record.pair_id], wording),))
        results.append(record)
    return results


def prepare(record: PairRecord, prepared: Preparation) -> PairRecord:
    """Return the record with prepared captions. Captions for training are truncated to the paper's length,
    reference captions are not truncated.

    Validation scores compare prepared predictions with prepared references. The command ``evaluate`` uses the
    captions as annotated.
    """
    if prepared.name == "none":
        return record
    if record.split != "train":
        return replace(record, captions=tuple(" ".join(prepared.words(c)) for c in record.captions))
    return replace(
        record,
        captions=tuple(prepared.text(caption) for caption in record.captions),
        negatives=tuple(prepared.text(caption) for caption in record.negatives),
    )


def no_change_captions(records: Sequence[PairRecord]) -> tuple[str, ...]:
    """Return the captions that only unchanged pairs have, the most frequent caption first."""
    said: Counter[str] = Counter()
    others: set[str] = set()
    for record in records:
        if record.changed is False:
            said.update(record.captions)
        else:
            others.update(record.captions)
    return tuple(caption for caption, _ in said.most_common() if caption not in others)
