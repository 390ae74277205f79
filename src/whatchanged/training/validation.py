"""Scores on validation data, for early stopping: greedy captions, ROUGE-L and CIDEr-D, no Java."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from whatchanged.captioner.decoding import Cache, greedy
from whatchanged.evaluation.cider import cider_d
from whatchanged.evaluation.ngrams import count
from whatchanged.evaluation.rouge import rouge_l
from whatchanged.training.batches import Source
from whatchanged.training.grids import Batch
from whatchanged.training.methods import Method

BATCH = 64


def validate(method: Method, source: Source, device: torch.device) -> dict[str, float]:
    """CIDEr-D and ROUGE-L (x100) of the greedy captions of every pair of ``source``, and how many differ."""
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
        "ROUGE-L": 100 * float(rouge_l(corpus).mean()),
        "distinct": len(set(captions)),
    }


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
