"""PCL's training steps and its decoding beside the released computation, on the same weights.

    python -m benchmarks.speed.pcl_speed [--batch 32] [--repeats 3] [--decode 64]

With --repeats 0 operations are counted and nothing is timed.

The published sizes, preset ``authors``, dropout as published, random features, captions of 7 to 11 words. The
released computation is ``plain_pcl``, written from its description. A step is the loss, its gradient and
Adam's update; both forms take turns on one thread, and the smallest processor time of each counts, which
other programs change less than the time on the clock. Operations are those of all products of matrices,
counted. "losses differ by": relative difference without dropout. Decoding takes all steps.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.speed.decoding import VOCABULARY, cached
from benchmarks.speed.plain_pcl import PlainPCL
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.training.batches import Batch
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.pcl_objectives import corrupt_patches
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS

MIX = {"mlm": 8, "mvcl": 1, "fda": 2}
"""How often pre-training draws each task."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--decode", type=int, default=64, metavar="PAIRS")
    parser.add_argument("--tasks", default="mlm,mvcl,fda,caption")
    add_record_option(parser, "pcl_speed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = PCL(PCLConfig(preset="authors"), StoredFeatures(7, 7, 2048), VOCABULARY)
    with Watch() as watch:
        rows = []
        for task in options.tasks.split(","):
            rows.append(training(model, task, options.batch, options.repeats))
            print(rows[-1], flush=True)
        rows += mixed(rows)
        if options.decode:
            rows.append(decoding(model, options.decode, options.repeats))
        print(*rows[len(options.tasks.split(",")) :], sep="\n")
    if options.record:
        figures = {"rows": rows, "times": ["released s", "ours s", "times as fast"]}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


def training(model: PCL, task: str, size: int, repeats: int) -> dict[str, Any]:
    """A task's step in both forms, on ``size`` examples or as many as the task takes of them."""
    pairs = max(1, model.batch_size(task, size))
    batch, plain = random_batch(model, pairs), PlainPCL(model)
    hidden = corrupt_patches(model.tokens(batch), None)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step(loss: Callable[[], Tensor]) -> None:
        optimizer.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def released() -> Tensor:
        return plain.loss(task, batch, hidden)

    def ours() -> Tensor:
        return torch.stack([*model.loss(task, batch).values()]).sum()

    model.eval()
    apart = abs(1 - float(seeded(ours).detach()) / float(seeded(agreeing(plain, task, batch)).detach()))
    model.train()
    row, _ = compared(lambda: step(released), lambda: step(ours), repeats)
    return {"what": task, "pairs": pairs, **row, "losses differ by": apart}


def agreeing(plain: PlainPCL, task: str, batch: Batch) -> Callable[[], Tensor]:
    """The released loss, which hides the patches that ours draws from the same state of the generator."""
    model = plain.model

    def loss() -> Tensor:
        if task != "mvcl":
            return plain.loss(task, batch, (torch.empty(0), torch.empty(0)))
        hidden = corrupt_patches(model.tokens(batch), None)
        return plain.loss(task, batch, hidden)

    return loss


def seeded(loss: Callable[[], Tensor]) -> Tensor:
    """The loss, with what it draws drawn from seed 1."""
    torch.manual_seed(1)
    return loss()


def compared(
    released: Callable[[], Any], ours: Callable[[], Any], repeats: int
) -> tuple[dict[str, Any], list[Any]]:
    """Least processor seconds of both, who take turns, and operations of their products of matrices; what
    both returned."""
    operations, seconds, returned = [], [], []
    for form in (released, ours):
        with FlopCounterMode(display=False) as counter:
            returned.append(form())
        operations.append(counter.get_total_flops())
    for _ in range(repeats):
        seconds.append([busy(form) for form in (released, ours)])
    row: dict[str, Any] = {}
    if repeats:
        slow, fast = (min(times) for times in zip(*seconds, strict=True))
        row = {"released s": slow, "ours s": fast, "times as fast": slow / fast}
    row |= {
        "released T operations": operations[0] / 1e12,
        "ours T operations": operations[1] / 1e12,
        "times as few": operations[0] / operations[1],
    }
    return row, returned


def busy(form: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    began = time.process_time()
    form()
    return time.process_time() - began


def mixed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean step of pre-training, which mixes its tasks; none where one was not measured."""
    known = {row["what"]: row for row in rows}
    if not known.keys() >= MIX.keys():
        return []
    total = sum(MIX.values())
    kinds: list[str] = [kind for kind in ("released s", "ours s") if kind in known["mlm"]]
    kinds += ["released T operations", "ours T operations"]
    mean: dict[str, float] = {
        kind: sum(times * known[task][kind] for task, times in MIX.items()) / total for kind in kinds
    }
    if "ours s" in mean:
        mean["times as fast"] = mean["released s"] / mean["ours s"]
    mean["times as few"] = mean["released T operations"] / mean["ours T operations"]
    return [{"what": "pre-training", **mean}]


@torch.no_grad()
def decoding(model: PCL, pairs: int, repeats: int) -> dict[str, Any]:
    """Greedy sentences of so many pairs, at full length, in both forms."""
    model.eval()
    shape = (pairs, model.vision.patches, model.vision.raw_width)
    before, after = torch.rand(shape), torch.rand(shape)
    plain = PlainPCL(model)
    row, (ids, ours) = compared(
        lambda: plain.decode(before, after), lambda: cached(model, before, after), repeats
    )
    return {"what": "decoding", "pairs": pairs, **row, "ids equal": torch.equal(ids, ours[0])}


def random_batch(model: PCL, pairs: int) -> Batch:
    """Random features, captions of 7 to 11 words, false captions, and whether each pair changed."""
    shape = (pairs, model.vision.patches, model.vision.raw_width)
    false = model.config.negatives
    ids = torch.full((pairs * (1 + false), model.max_length), PAD)
    for row in ids:
        words = int(torch.randint(7, 12, ()))
        row[0] = BOS
        row[1 : words + 1] = torch.randint(len(SPECIALS), len(VOCABULARY), (words,))
        row[words + 1] = EOS
    own, others = ids[:pairs], ids[pairs:].view(pairs, false, -1)
    changed = torch.arange(pairs) % 2
    return Batch(torch.rand(shape), torch.rand(shape), own, others, changed)


if __name__ == "__main__":
    main()
