"""Times plain training steps and steps compiled by ``torch.compile``, in turns.

    python -m benchmarks.speed.compiled_steps [--sizes tiny,published] [--batch 8] [--repeats 3]

Needs a C++ compiler. A step is the loss, its gradient and Adam's update, on random pictures or features and
captions of 7 to 11 words, of the recipes ``RECIPES``. Only the loss is compiled. Steps run on one thread; the
table has the least processor time of each, which other programs disturb less than wall time. "first s": wall
time of the first compiled step, including the compiler's own processes. All batches have the same shapes,
which favours the compiled form: for captions of other lengths, torch compiles anew.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.speed.decoding import VOCABULARY
from whatchanged.recipes import FeaturesConfig, PatchesConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import Batch
from whatchanged.training.build import make_method
from whatchanged.training.methods import Method
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS

RECIPES = {
    "tiny": ("pcl-tiny", "scorer-tiny", "clip4idc-tiny"),
    "published": ("pcl-clevr-paper", "scorer-clevr-paper", "clip4idc-clevr-paper"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="tiny,published")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    add_record_option(parser, "compiled_steps")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with Watch() as watch:
        rows = []
        for size in options.sizes.split(","):
            for name in RECIPES[size]:
                torch.manual_seed(0)
                rows.append(compared(name, size, options.batch, options.repeats))
                print(rows[-1], flush=True)
    if options.record:
        figures = {"rows": rows, "times": ["eager s", "compiled s", "first s", "times as fast"]}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


def compared(name: str, size: str, pairs: int, repeats: int) -> dict[str, Any]:
    """Least processor seconds of a captioning step in both forms, on the recipe's method."""
    recipe = load_recipe(name)
    method = make_method(recipe, VOCABULARY, longest_caption=13)
    batch = random_batch(method, recipe.vision, pairs)
    optimizer = torch.optim.Adam((p for p in method.parameters() if p.requires_grad), lr=1e-4)
    method.train()

    def step(loss: Callable[[str, Batch], dict[str, Tensor]]) -> float:
        began = time.process_time()
        optimizer.zero_grad()
        torch.stack([*loss("caption", batch).values()]).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return time.process_time() - began

    compiled = torch.compile(method.loss)
    began = time.perf_counter()
    step(compiled)
    first = time.perf_counter() - began
    for loss in (compiled, method.loss):  # once more, as compiling may take two steps
        step(loss)
    times = [(step(method.loss), step(compiled)) for _ in range(repeats)]
    eager, ours = (min(own) for own in zip(*times, strict=True))
    return {
        "recipe": name,
        "size": size,
        "pairs": pairs,
        "eager s": eager,
        "compiled s": ours,
        "first s": first,
        "times as fast": eager / ours,
    }


def random_batch(method: Method, vision: object, pairs: int) -> Batch:
    """Random pictures or features, captions of 7 to 11 words, and whether each pair changed."""
    shape: tuple[int, ...]
    match vision:
        case FeaturesConfig():
            shape = (pairs, vision.rows * vision.columns, vision.feature_width)
        case PatchesConfig():
            shape = (pairs, 3, vision.image_height, vision.image_width)
        case _:
            raise TypeError(f"a vision of {type(vision).__name__}: wanted stored features or patches")
    ids = torch.full((pairs, method.max_length), PAD)
    for row in ids:
        words = int(torch.randint(7, 12, ()))
        row[0] = BOS
        row[1 : words + 1] = torch.randint(len(SPECIALS), len(VOCABULARY), (words,))
        row[words + 1] = EOS
    return Batch(torch.rand(shape), torch.rand(shape), ids, None, torch.arange(pairs) % 2)


if __name__ == "__main__":
    main()
