"""Times training steps and decoding of the three methods and of the released computations, on equal weights.

    python -m benchmarks.speed.methods_speed [--methods pcl,scorer,clip4idc] [--repeats 2] [--decode 64,14]

With --repeats 0 operations are counted and nothing is timed.

The published sizes, preset ``authors``, dropout as published, random pictures or features, captions of 7 to
11 words. The released computations are ``plain_pcl``, ``plain_scorer`` and ``plain_clip4idc``, written from
their descriptions. A step is the loss, its gradient and the update: Adam, or BertAdam after clipping all
gradients. Both forms take turns on one thread. The table has the smallest processor time of each, which other
programs disturb less than wall time. Operations are counted over all matrix products. "losses differ by":
relative difference without dropout. Decoding takes all steps, or as many as a caption of 11 words needs, if
ours stops at the end; the released PCL and CLIP4IDC never stop early.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.speed.decoding import VOCABULARY
from benchmarks.speed.plain_clip4idc import PlainBertAdam, PlainCLIP4IDC
from benchmarks.speed.plain_pcl import PlainPCL
from benchmarks.speed.plain_scorer import PlainSCORER
from whatchanged.recipes import PatchesConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.batches import Batch
from whatchanged.training.bert_adam import BertAdam
from whatchanged.training.methods import Method
from whatchanged.training.methods.clip4idc import CLIP4IDC
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.pcl_objectives import corrupt_patches
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS, Vocabulary

MIX = {"mlm": 8, "mvcl": 1, "fda": 2}
"""How often PCL's pre-training draws each task."""
PIECES = Vocabulary(SPECIALS + tuple(f"p{i}" for i in range(49408 - len(SPECIALS))))
"""As many entries as CLIP has pieces."""
WORDS = 11
"""Of the longest caption."""
Step = Callable[[], None]
Loss = Callable[[], Tensor]
Hides = tuple[Tensor, Tensor]


class Decodes(Protocol):
    """A released computation that makes sentences."""

    def decode(self, before: Tensor, after: Tensor) -> Tensor:
        """Ids (B, steps)."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--batch", default="16,8,4", help="examples a step, a number a method")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--decode", default="64,14", metavar="PAIRS", help="of PCL; of others the last")
    add_record_option(parser, "methods_speed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = options.methods.split(",")
    decoded = [int(pairs) for pairs in options.decode.split(",") if pairs]
    with Watch() as watch:
        rows = []
        for name, size in zip(names, map(int, options.batch.split(",")), strict=True):
            torch.manual_seed(0)
            for row in METHODS[name](size, decoded, options.repeats):
                rows.append({"method": name, **row})
                print(rows[-1], flush=True)
    if options.record:
        figures = {"rows": rows, "times": ["released s", "ours s"]}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


def pcl(size: int, decoded: list[int], repeats: int) -> list[dict[str, Any]]:
    """The steps of pre-training, their mean, captioning, and decoding. A task takes as many of the examples
    as it reads."""
    model = PCL(PCLConfig(preset="authors"), StoredFeatures(7, 7, 2048), VOCABULARY)
    plain, rows = PlainPCL(model), []
    move = torch.optim.Adam(model.parameters(), lr=1e-4).step
    for task in (*MIX, "caption"):
        pairs = max(1, model.batch_size(task, size))
        batch = random_batch(model, stored(model, pairs), model.max_length, model.config.negatives)
        hidden = corrupt_patches(model.tokens(batch), None)

        def released(task: str = task, batch: Batch = batch, hidden: Hides = hidden) -> Tensor:
            return plain.loss(task, batch, hidden)

        def alike(task: str = task, batch: Batch = batch, hidden: Hides = hidden) -> Tensor:
            """The released loss, which hides the patches that ours draws from the same generator's state."""
            drawn = corrupt_patches(model.tokens(batch), None) if task == "mvcl" else hidden
            return plain.loss(task, batch, drawn)

        forms = (stepping(model, released, move), stepping(model, ours(model, task, batch), move))
        apart = differ(model, alike, ours(model, task, batch))
        rows.append({"what": task, "pairs": pairs, **compared(forms, repeats), "losses differ by": apart})
    rows.append(mixed(rows))
    return rows + decoding(model, plain, decoded, stored, repeats)


def scorer(size: int, decoded: list[int], repeats: int) -> list[dict[str, Any]]:
    """SCORER's step on so many scenes, a changed and an unchanged pair each, and decoding."""
    model = SCORER(ScorerConfig(preset="authors"), StoredFeatures(14, 14, 1024), VOCABULARY)
    plain = PlainSCORER(model)
    batch = random_batch(model, stored(model, 2 * size), model.max_length)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    move = torch.optim.Adam(learning, lr=2e-4).step
    mine = ours(model, "caption", batch)

    def released() -> Tensor:
        return plain.loss("caption", batch)

    forms = (stepping(model, released, move), stepping(model, mine, move))
    row = {"what": "step", "pairs": 2 * size, **compared(forms, repeats)}
    row["losses differ by"] = differ(model, released, mine)
    return [row, *decoding(model, plain, decoded[-1:], stored, repeats)]


def clip4idc(size: int, decoded: list[int], repeats: int) -> list[dict[str, Any]]:
    """Both stages' steps on so many pairs, and decoding."""
    model = CLIP4IDC(CLIP4IDCConfig(preset="authors"), PatchVision(PatchesConfig()), PIECES)
    plain, rows = PlainCLIP4IDC(model), []
    for task, b2, decay in (("retrieval", 0.98, 0.2), ("caption", 0.999, 0.01)):
        batch = random_batch(model, pixels(model, size), WORDS + 2)
        if task == "retrieval":  # which reads changed pairs alone
            batch = replace(batch, changed=None)
        groups = [group for group in model.parameter_groups() if group["name"] != "frozen"]
        learning = [parameter for group in groups for parameter in group["params"]]
        moves: tuple[Step, Step] = (
            PlainBertAdam(groups, 1e-7, b2, decay).step,
            BertAdam(groups, lr=1e-7, betas=(0.9, b2), eps=1e-6, weight_decay=decay).step,
        )
        mine = ours(model, task, batch)

        def released(task: str = task, batch: Batch = batch) -> Tensor:
            return plain.loss(task, batch)

        forms = [
            stepping(model, loss, cut_before(move, learning))
            for loss, move in zip((released, mine), moves, strict=True)
        ]
        row = {"what": task, "pairs": size, **compared(forms, repeats)}
        rows.append({**row, "losses differ by": differ(model, released, mine)})
    return rows + decoding(model, plain, decoded[-1:], pixels, repeats)


METHODS: dict[str, Callable[[int, list[int], int], list[dict[str, Any]]]] = {
    "pcl": pcl,
    "scorer": scorer,
    "clip4idc": clip4idc,
}


def ours(model: Method, task: str, batch: Batch) -> Loss:
    """Our loss of a task."""
    return lambda: torch.stack([*model.loss(task, batch).values()]).sum()


def stepping(model: nn.Module, loss: Loss, move: Callable[[], Any]) -> Step:
    """A step: no gradients, a loss, its gradients, a move."""

    def step() -> None:
        model.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        move()

    return step


def cut_before(move: Callable[[], Any], learning: list[nn.Parameter]) -> Step:
    """A move behind a cut of all gradients together to length 1."""

    def cut_and_move() -> None:
        nn.utils.clip_grad_norm_(learning, 1.0)
        move()

    return cut_and_move


def differ(model: nn.Module, released: Loss, mine: Loss) -> float:
    """The relative difference of both losses without dropout, their draws from seed 1."""
    model.eval()
    losses = []
    for loss in (mine, released):
        torch.manual_seed(1)
        losses.append(float(loss().detach()))
    model.train()
    return abs(1 - losses[0] / losses[1])


@dataclass(frozen=True)
class Measured:
    """Operations of a form's products of matrices, its least processor seconds, if timed, and its result."""

    operations: int
    seconds: float | None
    returned: Any


def measured(forms: Sequence[Callable[[], Any]], repeats: int) -> list[Measured]:
    """All forms, which take turns."""
    counted, seconds = [], []
    for form in forms:
        with FlopCounterMode(display=False) as counter:
            returned = form()
        counted.append((counter.get_total_flops(), returned))
    for _ in range(repeats):
        seconds.append([busy(form) for form in forms])
    least = [min(times) for times in zip(*seconds, strict=True)] if repeats else [None] * len(forms)
    return [Measured(count, took, found) for (count, found), took in zip(counted, least, strict=True)]


def beside(released: Measured, ours: Measured) -> dict[str, Any]:
    """The figures of both forms."""
    row: dict[str, Any] = {}
    if released.seconds is not None and ours.seconds is not None:
        times = {"released s": released.seconds, "ours s": ours.seconds}
        row = {**times, "times as fast": released.seconds / ours.seconds}
    return row | {
        "released T operations": released.operations / 1e12,
        "ours T operations": ours.operations / 1e12,
        "times as few": released.operations / ours.operations,
    }


def compared(forms: Sequence[Step], repeats: int) -> dict[str, Any]:
    """The figures of the released step and of ours."""
    return beside(*measured(forms, repeats))


def busy(form: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    began = time.process_time()
    form()
    return time.process_time() - began


def mixed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean step of pre-training, which mixes its tasks."""
    known = {row["what"]: row for row in rows}
    total = sum(MIX.values())
    kinds: list[str] = [kind for kind in ("released s", "ours s") if kind in known["mlm"]]
    kinds += ["released T operations", "ours T operations"]
    mean: dict[str, float] = {
        kind: sum(times * known[task][kind] for task, times in MIX.items()) / total for kind in kinds
    }
    if "ours s" in mean:
        mean["times as fast"] = mean["released s"] / mean["ours s"]
    mean["times as few"] = mean["released T operations"] / mean["ours T operations"]
    return {"what": "pre-training", **mean}


@torch.no_grad()
def decoding(
    model: Method,
    plain: Decodes,
    decoded: list[int],
    pictures: Callable[[Any, int], tuple[Tensor, Tensor]],
    repeats: int,
) -> list[dict[str, Any]]:
    """Greedy sentences of so many pairs in both forms: of all steps, and until a caption of 11 words ends."""
    model.eval()
    rows = []
    for pairs in decoded:
        before, after = pictures(model, pairs)
        lengths = {"decoding": model.max_length - 1, f"decoding {WORDS} words": WORDS + 1}
        forms = [
            partial(plain.decode, before, after),
            *(partial(greedy, model, before, after, steps) for steps in lengths.values()),
        ]
        released, *mine = measured(forms, repeats)
        for (what, steps), found in zip(lengths.items(), mine, strict=True):
            equal = torch.equal(released.returned[:, :steps], found.returned)
            rows.append({"what": what, "pairs": pairs, **beside(released, found), "ids equal": equal})
    return rows


def greedy(model: Method, before: Tensor, after: Tensor, steps: int) -> Tensor:
    """Greedy ids (B, steps)."""
    memory = model.encode(before, after)
    cache, word, ids = model.first_cache(memory), torch.full((len(before),), BOS), []
    for position in range(1, steps + 1):
        scores, _, cache = model.step(memory, word, position, cache)
        word = scores.argmax(1)
        ids.append(word)
    return torch.stack(ids, dim=1)


def stored(model: PCL | SCORER, pairs: int) -> tuple[Tensor, Tensor]:
    """Random features of so many pairs."""
    shape = (pairs, model.vision.patches, model.vision.raw_width)
    return torch.rand(shape), torch.rand(shape)


def pixels(model: CLIP4IDC, pairs: int) -> tuple[Tensor, Tensor]:
    """Random pictures, as if normalised, of so many pairs."""
    side = round(model.vision.width / 3) ** 0.5
    shape = (pairs, 3, *(int(side) * cells for cells in (model.vision.rows, model.vision.columns)))
    return torch.rand(shape), torch.rand(shape)


def random_batch(model: Method, pictures: tuple[Tensor, Tensor], length: int, false: int = 0) -> Batch:
    """Captions of 7 to 11 words, padded to ``length``, so many false ones each; every other pair changed."""
    pairs = len(pictures[0])
    ids = torch.full((pairs * (1 + false), length), PAD)
    for row in ids:
        words = int(torch.randint(7, WORDS + 1, ()))
        row[0] = BOS
        row[1 : words + 1] = torch.randint(len(SPECIALS), len(model.vocabulary), (words,))
        row[words + 1] = EOS
    own, others = ids[:pairs], ids[pairs:].view(pairs, false, length)
    changed = torch.arange(pairs) % 2
    return Batch(*pictures, own, others if false else None, changed)


if __name__ == "__main__":
    main()
