"""Scores on validation data, for early stopping: captions (ROUGE-L and CIDEr-D, no Java) or retrieval."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.captioner.decoding import Cache, greedy
from whatchanged.errors import RecipeError
from whatchanged.evaluation.cider import cider_d
from whatchanged.evaluation.ngrams import count
from whatchanged.evaluation.retrieval import retrieval_scores
from whatchanged.evaluation.rouge import rouge_l
from whatchanged.training.batches import Source
from whatchanged.training.grids import Batch
from whatchanged.training.methods import Method

BATCH = 64


def validate(
    method: Method, source: Source, device: torch.device, metric: str = "CIDEr-D"
) -> dict[str, float]:
    """CIDEr-D and ROUGE-L (x100) of the greedy captions of every pair of ``source``, and how many differ.

    With ``metric`` R@1 nothing is written: see ``rank_captions``.
    """
    if metric == "R@1":
        return rank_captions(method, source, device)
    captions: list[str] = []
    references = []
    for start in range(0, len(source), BATCH):
        numbers = range(start, min(start + BATCH, len(source)))
        examples = [source.example(i, np.random.default_rng((0, i))) for i in numbers]
        captions += write_captions(method, method.collate(examples).to(device))
        references += [example.record.captions for example in examples]
    corpus = count(captions, references)
    return {
        "CIDEr-D": 100 * float(cider_d(corpus).mean()),
        "ROUGE-L": 100 * float(rouge_l(captions, references).mean()),
        "distinct": len(set(captions)),
    }


def rank_captions(method: Method, source: Source, device: torch.device) -> dict[str, float]:
    """``retrieval_scores`` of the changed pairs of ``source``, each with its first caption, both directions.

    Captions are told apart by their ids: a pair's caption that another pair also bears still counts as wrong.
    Raises RecipeError for a method that embeds no captions.
    """
    embed: Any = method
    if not hasattr(method, "embed_texts"):
        raise RecipeError('stage.metric = "R@1" needs a method with a retrieval stage, such as clip4idc.')
    assert isinstance(method, nn.Module)
    training = method.training
    method.eval()
    pairs, texts = [], []
    for start in range(0, len(source), BATCH):
        numbers = range(start, min(start + BATCH, len(source)))
        examples = [source.example(i, np.random.default_rng((0, i))) for i in numbers]
        examples = [example for example in examples if example.record.changed is not False]
        if not examples:
            continue
        batch = method.collate(examples).to(device)
        with torch.inference_mode():
            pairs.append(F.normalize(embed.embed_pairs(batch.before, batch.after), dim=-1))
            texts.append(F.normalize(embed.embed_texts(batch.ids), dim=-1))
    method.train(training)
    if not pairs:
        raise RecipeError('stage.metric = "R@1": no validation pair changed. Use another metric or data set.')
    similarities = _numpy(torch.cat(texts) @ torch.cat(pairs).T)
    scores = retrieval_scores(similarities, np.arange(len(similarities)))
    return {"R@1": scores.text_to_pair["R@1"], **scores.flat()}


def write_captions(method: Method, batch: Batch) -> list[str]:
    """The greedy caption of every pair of a batch; the method comes back in the mode it was in."""
    assert isinstance(method, nn.Module)
    training = method.training
    method.eval()
    with torch.inference_mode():
        memory = method.encode(batch.before, batch.after)
        device = batch.ids.device

        def step(previous: NDArray[np.int64], position: int, cache: Cache) -> tuple[Any, None, Cache]:
            ids = torch.from_numpy(previous).to(device)
            scores, _, grown = method.step(memory, ids, position, dict(cache))
            return _numpy(scores), None, grown

        decoded = greedy(step, method.first_cache(memory), len(batch.ids), method.max_length)
    method.train(training)
    return [method.vocabulary.text(row.ids) for row in decoded]


def _numpy(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.float().cpu().numpy()
