"""Compares cached with uncached decoding: are the ids equal, how far apart are the logits, how much faster?

    python -m benchmarks.speed.decoding

Greedy decoding with random weights takes every step, without an early stop. Uncached decoding runs F_cross
over all image rows and all words again at each step. The image encoders run once in both forms. Times are the
better of two runs, on one thread.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.markdown import table
from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.errors import RecipeError
from whatchanged.recipes import ObjectsConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, MASK, SPECIALS, Vocabulary

VOCABULARY = Vocabulary(SPECIALS + tuple(f"w{i:02d}" for i in range(72)))


@dataclass(frozen=True)
class Size:
    """A model's size; the vision has as many tokens as the model reads of a picture."""

    name: str
    config: PCLConfig
    vision: StoredFeatures


def sizes() -> tuple[Size, Size]:
    """The published size, and the shipped one with as many tokens as its recipe keeps."""
    shipped = load_recipe("clevr-pcl")
    if not isinstance(shipped.method, PCLConfig) or not isinstance(shipped.vision, ObjectsConfig):
        raise RecipeError("clevr-pcl is no longer PCL on object tokens.")
    return (
        Size("published", PCLConfig(preset="authors"), StoredFeatures(7, 7, 2048)),
        Size("shipped", shipped.method, StoredFeatures(1, shipped.vision.keep, 128)),
    )


def cached(model: PCL, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    """Greedy ids (B, steps) and log-probabilities (B, steps, V), two rows a step."""
    memory = model.encode(before, after)
    cache = model.first_cache(memory)
    word = torch.full((len(before),), BOS)
    ids, rows = [], []
    for position in range(1, model.max_length):
        scores, _, cache = model.step(memory, word, position, cache)
        word = scores.argmax(1)
        ids.append(word)
        rows.append(scores)
    return torch.stack(ids, 1), torch.stack(rows, 1)


def uncached(model: PCL, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    """The same, everything computed anew at each step."""
    images = model.image_rows(model.vision.tokens(before, after))
    words, rows = torch.full((len(before), 1), BOS), []
    for _ in range(1, model.max_length):
        ids = F.pad(words, (0, 1), value=MASK)
        scores = model.output(model.captioning_rows(images, ids)[:, -1]).log_softmax(-1)
        words = torch.cat([words, scores.argmax(1, keepdim=True)], 1)
        rows.append(scores)
    return words[:, 1:], torch.stack(rows, 1)


def timed(decode: Callable[[], tuple[Tensor, Tensor]]) -> tuple[float, tuple[Tensor, Tensor]]:
    """Seconds of the faster of two runs, and what it returned."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        result = decode()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_record_option(parser, "decoding")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with Watch() as watch:
        rows = [measure(size, pairs) for size in sizes() for pairs in (1, 64)]
    cells = ([f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows)
    print(table(list(rows[0]), *cells))
    if options.record:
        figures = {"rows": rows, "times": ["uncached s", "cached s", "speed-up"]}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


def measure(size: Size, pairs: int) -> dict[str, Any]:
    """Both ways on random features of so many pairs."""
    model = PCL(size.config, size.vision, VOCABULARY).eval()
    shape = (pairs, size.vision.patches, size.vision.raw_width)
    before, after = torch.rand(shape), torch.rand(shape)
    slow, (slow_ids, slow_scores) = timed(lambda: uncached(model, before, after))
    fast, (fast_ids, fast_scores) = timed(lambda: cached(model, before, after))
    return {
        "size": size.name,
        "pairs": pairs,
        "steps": model.max_length - 1,
        "ids equal": torch.equal(slow_ids, fast_ids),
        "scores differ by": float((slow_scores - fast_scores).abs().max()),
        "uncached s": slow,
        "cached s": fast,
        "speed-up": slow / fast,
    }


if __name__ == "__main__":
    main()
