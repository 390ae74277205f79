"""A run in double precision and without dropout, in one of several processes or alone.

    main(RECIPE, RUN, SECONDS_A_STEP, [MAX_SECONDS])

A run that is in the folder goes on. A step takes at least so many seconds, so that a test can kill it.
"""

import time
from dataclasses import replace
from pathlib import Path

import torch

from whatchanged.recipes.reader import load_recipe
from whatchanged.testing.method_case import in_double
from whatchanged.training import loop, run


def main(recipe, folder, seconds, most=None):
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double  # what is computed in float32 on purpose
    make_method, take_step = run.make_method, loop.take_step

    def in_doubles(*arguments):
        method = in_double(make_method(*arguments))
        collate = method.collate
        method.collate = lambda examples: doubled(collate(examples))
        return method

    def slow_step(*arguments):
        time.sleep(float(seconds))
        return take_step(*arguments)

    run.make_method, loop.take_step = in_doubles, slow_step
    resume = (Path(folder) / "recipe.toml").is_file()
    most = None if most is None else float(most)
    run.run_recipe(load_recipe(recipe), Path(folder), resume, most, device="cpu", quiet=True)


def doubled(batch):
    if not batch.before.is_floating_point():
        return batch
    return replace(batch, before=batch.before.double(), after=batch.after.double())
