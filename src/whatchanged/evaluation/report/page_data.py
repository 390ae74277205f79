"""What the page shows of single pairs: scores of each, its sentence judged on its scene, its heat map."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.attention import AttentionFiles
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics import ngrams
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.pointing import fitting_maps
from whatchanged.evaluation.metrics.rouge import rouge_l
from whatchanged.evaluation.metrics.scene_grading import Truth
from whatchanged.evaluation.metrics.tokenisers import tokenise
from whatchanged.evaluation.report.page import Shown
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.grading import judge


def shown(
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    truths: Mapping[str, Truth],
    tokenizer: str = "ptb",
    files: AttentionFiles | None = None,
) -> Shown:
    """All that a page needs; ``predictions[i]`` belongs to ``records[i]``.

    Raises PredictionsError where the maps of ``files`` are not those of the predictions.
    """
    captions = [prediction.caption for prediction in predictions]
    scores = pair_scores(captions, [record.captions for record in records], tokenizer)
    verdicts = [
        judge(caption, *truths[record.pair_id]) if record.pair_id in truths else None
        for record, caption in zip(records, captions, strict=True)
    ]
    if files is None:
        return Shown(scores["ROUGE-L"].tolist(), scores["CIDEr-D"].tolist(), verdicts)
    silent = fitting_maps(files, records, predictions)
    mapped = frozenset(record.pair_id for record in records) - silent
    return Shown(scores["ROUGE-L"].tolist(), scores["CIDEr-D"].tolist(), verdicts, files.heat, mapped)


def pair_scores(
    captions: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str = "ptb"
) -> dict[str, NDArray[np.float64]]:
    """ROUGE-L and CIDEr-D of each pair, times 100; all pairs together are CIDEr-D's corpus."""
    corpus = ngrams.count(*tokenise(captions, references, tokenizer))
    return {"ROUGE-L": 100 * rouge_l(corpus), "CIDEr-D": 100 * cider_d(corpus)}
