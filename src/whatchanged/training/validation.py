"""Scores on validation data, for early stopping: captions (ROUGE-L, CIDEr-D, without Java) or retrieval."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from whatchanged.captioner.decoding import Decoded, GraphCache, beam, greedy
from whatchanged.errors import RecipeError
from whatchanged.evaluation.io.similarity import Similarity
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.rouge import rouge_l
from whatchanged.evaluation.report.retrieval_report import retrieval
from whatchanged.json_values import read_json
from whatchanged.training.batches import Batch, Example, Source, read_examples
from whatchanged.training.distributed import (
    first_row,
    gather_batch,
    gather_texts,
    greatest,
    own_part,
    processes,
    rank,
)
from whatchanged.training.methods import EmbedsCaptions, Method

BATCH = 64


def validate(
    method: Method, source: Source, device: torch.device, metric: str = "CIDEr-D"
) -> dict[str, float]:
    """Return CIDEr-D and ROUGE-L (x100) of greedy captions for the pairs of ``source``, and the number of
    distinct captions.

    With ``metric`` R@1 no captions are written; see ``rank_captions``.
    """
    if metric == "R@1":
        return rank_captions(method, source, device)
    return captioning_scores(*caption_source(method, source, device))


def caption_source(
    method: Method, source: Source, device: torch.device
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the greedy caption of every pair of ``source``, and each pair's reference captions.

    Several processes share the pairs, and each process returns all captions.
    """
    captions: list[str] = []
    references: list[str] = []
    own = own_part(len(source), rank(), processes())
    for start in range(own.start, own.stop, BATCH):
        examples = list(read_examples(source, range(start, min(start + BATCH, own.stop))))
        captions += write_captions(method, method.collate(examples).to(device))
        references += [json.dumps(example.record.captions) for example in examples]
    return gather_texts(captions), [tuple(read_json(own)) for own in gather_texts(references)]


def captioning_scores(captions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return CIDEr-D and ROUGE-L (x100) of one caption per pair, and the number of distinct captions."""
    corpus = count(captions, references)
    return {
        "CIDEr-D": 100 * float(cider_d(corpus).mean()),
        "ROUGE-L": 100 * float(rouge_l(corpus).mean()),
        "distinct": len(set(captions)),
    }


def rank_captions(method: Method, source: Source, device: torch.device) -> dict[str, float]:
    """Return the ``retrieval`` scores among the changed pairs of ``source``. Each pair has all its captions.

    Ties are shuffled, so a model that gives every pair the same embedding reaches R@1 = 1 in n. If two pairs
    have identical captions, retrieving the other pair counts as wrong. Raises RecipeError for a method that
    embeds no captions.
    """
    examples = read_examples(source, own_part(len(source), rank(), processes()))
    changed = (example for example in examples if example.record.changed is not False)
    found = similarity(method, ((example, example.record.captions) for example in changed), device)
    if not found.pairs:
        raise RecipeError('stage.metric = "R@1": no validation pair changed. Use another metric or data set.')
    scores = retrieval(found)
    ranked = {side: scores[side]["expected"] for side in ("text_to_pair", "pair_to_text")}
    flat = {f"{side}/{name}": value for side, own in ranked.items() for name, value in own.items()}
    return {"R@1": ranked["text_to_pair"]["R@1"], **flat}


def similarity(
    method: Method, captioned: Iterable[tuple[Example, Sequence[str]]], device: torch.device
) -> Similarity:
    """Return the cosine similarities of all pairs with all captions.

    Several processes embed different pairs, and each process returns all similarities. Raises RecipeError for
    a method that embeds no captions.
    """
    if not isinstance(method, EmbedsCaptions):
        raise RecipeError('Retrieval (metric = "R@1") needs a method that embeds captions.')
    training = method.training
    method.eval()
    seen, read = [], []
    pairs: list[str] = []
    texts: list[str] = []
    owner: list[int] = []
    examples = iter(captioned)
    with torch.inference_mode():
        while chunk := list(islice(examples, BATCH)):
            batch = method.collate([example for example, _ in chunk]).to(device)
            seen.append(F.normalize(method.embed_pairs(batch.before, batch.after), dim=-1))
            said = [replace(example, caption=caption) for example, own in chunk for caption in own]
            for start in range(0, len(said), BATCH):
                batch = method.collate(said[start : start + BATCH]).to(device)
                read.append(F.normalize(method.embed_texts(batch.ids), dim=-1))
            for example, own in chunk:
                owner += [len(pairs)] * len(own)
                pairs.append(example.record.pair_id)
                texts += own
        matrix = _of_all(seen, device) @ _of_all(read, device).T
        owners = gather_batch(torch.tensor(owner, dtype=torch.long) + first_row(len(pairs)))
    method.train(training)
    return Similarity(
        _numpy(matrix), tuple(gather_texts(pairs)), tuple(gather_texts(texts)), owners.numpy().copy()
    )


def _of_all(chunks: Sequence[Tensor], device: torch.device) -> Tensor:
    """Return the rows of all chunks of all processes, in order. A process may have no chunks."""
    width = greatest([chunks[0].shape[1] if chunks else 0])[0]
    return gather_batch(torch.cat([*chunks]) if chunks else torch.zeros(0, width, device=device))


def write_captions(method: Method, batch: Batch) -> list[str]:
    """Return the greedy caption of every pair of a batch. Afterwards the method is in its previous mode
    (training or evaluation).
    """
    training = method.training
    method.eval()
    decoded = decode(method, batch.before, batch.after)
    method.train(training)
    return [method.vocabulary.text(row.ids) for row in decoded]


def decode(method: Method, before: Tensor, after: Tensor) -> list[Decoded]:
    """Return greedy captions of pairs by a method in evaluation mode, on the device of the pictures."""
    with torch.inference_mode():
        return decode_memory(method, method.encode(before, after), len(before), before.device)


def decode_memory(
    method: Method, memory: Any, pairs: int, device: torch.device, beams: int = 1, maps: bool = False
) -> list[Decoded]:
    """Return captions of encoded pairs, decoded from ``memory``. Call this function within
    ``torch.inference_mode``.

    beams: number of hypotheses in the beam search; 1 is greedy. maps: whether each word comes with its
    attention.
    """
    first = method.first_cache(memory)
    if beams > 1:  # a pair's hypotheses lie side by side, each with the memory of its pair
        memory = type(memory)(
            *(None if part is None else part.repeat_interleave(beams, dim=0) for part in memory)
        )

    def step(previous: NDArray[np.int64], position: int, cache: GraphCache) -> tuple[Any, Any, GraphCache]:
        ids = torch.from_numpy(previous).to(device)
        scores, attention, grown = method.step(memory, ids, position, dict(cache))
        return _numpy(scores), _numpy(attention) if maps else None, grown

    if beams > 1:
        return beam(step, first, pairs, method.max_length, beams)
    return list(greedy(step, first, pairs, method.max_length))


def _numpy(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.float().cpu().numpy()
