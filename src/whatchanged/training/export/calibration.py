"""Computes the no-change probability of a trained method, and calibrates it on validation pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whatchanged.captioner.card import NoChange
from whatchanged.captioner.decoding import GraphCache
from whatchanged.captioner.no_change import sayable, sentences_probability
from whatchanged.recipes.schema import Recipe
from whatchanged.training.batches import Example, Source, read_examples
from whatchanged.training.methods import Method
from whatchanged.vocabulary import UNK, Vocabulary

PAIRS = 1000
BATCH = 64
MOST_SENTENCES = 32
"""No-change sentences at most: each is scored word by word for every pair."""


def calibrate(method: Method, validation: Source, sentences: tuple[str, ...]) -> NoChange:
    """Fit p' = sigmoid(scale * logit(p) + shift) to the first ``PAIRS`` validation pairs by Newton's method.

    p: the method's probability that nothing changed. The fit is maximum likelihood with a weak prior at scale
    1 and shift 0 (``fit_sigmoid``), so that a perfect classifier does not drive the scale to infinity. The
    threshold on p' is 1/2. sentences: the no-change sentences, from which p is computed if the method has no
    head for it.
    """
    probabilities: list[float] = []
    labels: list[bool] = []
    count, by_head = min(len(validation), PAIRS), True
    for start in range(0, count, BATCH):
        examples = list(read_examples(validation, range(start, min(start + BATCH, count))))
        found, by_head = judge(method, examples, sentences)
        probabilities += found.tolist()
        labels += [example.record.changed is False for example in examples]
    p = np.clip(np.array(probabilities), 1e-7, 1 - 1e-7)
    scale, shift = fit_sigmoid(np.log(p / (1 - p)), np.array(labels, float))
    how = f"maximum likelihood on {count} validation pairs ({sum(labels)} without change); threshold at 1/2"
    if not by_head and not sentences:
        how = "nothing: no pair is known to be unchanged, so there is no no-change sentence to score"
    return NoChange(0.5, scale, shift, how, sentences, "head" if by_head else "sentences")


def sayable_sentences(captions: Sequence[str], recipe: Recipe, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the first ``MOST_SENTENCES`` of these captions whose words are all in the vocabulary, truncated
    and without repeats, as the decoder would write them.
    """
    rows = (vocabulary.sentence(caption, recipe.method.longest_caption()) for caption in captions)
    sentences = dict.fromkeys(vocabulary.text(row) for row in rows if UNK not in row)
    return tuple(sentences)[:MOST_SENTENCES]


def judge(
    method: Method, examples: Sequence[Example], sentences: Sequence[str]
) -> tuple[NDArray[np.float64], bool]:
    """Return each pair's uncalibrated no-change probability, and whether a head of the method predicts it.

    For a method without such a head, it is the sum of the probabilities that its decoder assigns to
    ``sentences``.
    """
    batch = method.collate(examples)
    with torch.inference_mode():
        memory = method.encode(batch.before, batch.after)
        judged = method.no_change(memory)
        if judged is not None:
            return judged.double().numpy(), True
        cached = list(method.first_cache(memory))
        known = {name: part for name, part in memory._asdict().items() if part is not None}

        def step(
            previous: NDArray[np.int64], position: int, cache: GraphCache
        ) -> tuple[Any, None, GraphCache]:
            parts = memory._replace(**{name: cache[f"memory_{name}"] for name in known})
            own = {name: cache[name] for name in cached}
            scores, _, grown = method.step(parts, torch.from_numpy(previous), position, own)
            return scores.numpy(), None, {**cache, **grown}

        start = {f"memory_{name}": part for name, part in known.items()}
        ids = sayable(sentences, method.vocabulary, method.max_length)
        start |= method.first_cache(memory)
        return sentences_probability(step, start, len(examples), ids), False


def fit_sigmoid(logits: NDArray[np.float64], labels: NDArray[np.float64]) -> tuple[float, float]:
    """(a, b) that minimise sum of log-losses of sigmoid(a x + b) + ((a - 1)^2 + b^2) / 2."""
    x, prior = np.stack([logits, np.ones(len(logits))], axis=1), np.array([1.0, 0.0])  # (n, 2)
    weights = prior
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -500, 500)))
        gradient = x.T @ (p - labels) + weights - prior
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(2)
        move = np.linalg.solve(hessian, gradient)
        weights = weights - move * min(1.0, 2.0 / max(1e-12, float(np.abs(move).max())))
        if np.abs(move).max() < 1e-9:
            break
    return float(weights[0]), float(weights[1])
