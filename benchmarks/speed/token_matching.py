"""Compares token-wise matching in tiles with the plain form: time and peak memory of both passes.

    python -m benchmarks.speed.token_matching [--batch 128] [--tokens 196] [--width 512] [--heads 1]
        [--device cuda] [--tile-mib 64] [--repeats 3] [--forms tiled,plain] [--threads 1]

Each form runs in its own process: forward and backward pass of a contrastive loss, once to warm up, then the
best of the repeats. On a shared machine, compare ``core_s``, the processor time of both passes. Memory is
what both passes need beyond the inputs and gradients: on a GPU PyTorch's peak, on a CPU the growth of the
process's largest resident set. The plain form holds B^2 x tokens^2 products, and as many for the gradient.
The program prints one JSON line per form. The last line has the largest difference of values and of gradients
between the forms, in float64 and at a sixteenth of the batch.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.training.nn.token_matching import match_tokens


def plain(queries: Tensor, keys: Tensor) -> Tensor:
    """The same scores from all products at once."""
    total = queries.new_zeros(len(queries), len(keys))
    for q, k in zip(queries.unbind(1), keys.unbind(1), strict=True):
        products = torch.einsum("alk,bmk->ablm", q, k)
        total = total + (products.max(3).values.mean(2) + products.max(2).values.mean(2)) / 2
    return total


def inputs(options: argparse.Namespace, batch: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Random queries and keys (B, h, tokens, k) that ask for gradients."""
    torch.manual_seed(0)
    shape = (2, batch, options.heads, options.tokens, options.width // options.heads)
    q, k = (torch.randn(shape, dtype=dtype) / options.width**0.25).to(options.device).unbind()
    return q.requires_grad_(), k.requires_grad_()


def passes(form: str, options: argparse.Namespace, q: Tensor, k: Tensor) -> tuple[float, float, float]:
    """Seconds of one forward and of one backward pass, and what both took of all cores together."""
    q.grad = k.grad = None
    began, busy = _now(options.device), time.process_time()
    scores = match_tokens(q, k, options.tile_mib * 2**20) if form == "tiled" else plain(q, k)
    loss = F.cross_entropy(scores, torch.arange(len(q), device=options.device))
    forward = _now(options.device)
    loss.backward()  # type: ignore[no-untyped-call]
    return forward - began, _now(options.device) - forward, time.process_time() - busy


def _now(device: str) -> float:
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


def measure(form: str, options: argparse.Namespace, answers: Any) -> None:
    """Time and peak memory of a form, put into the queue ``answers``."""
    torch.set_num_threads(options.threads)
    tiny = argparse.Namespace(**{**vars(options), "tile_mib": 1})
    passes(form, tiny, *inputs(tiny, 2, torch.float32))  # libraries load before memory is looked at
    q, k = inputs(options, options.batch, torch.float32)
    q.grad, k.grad = torch.zeros_like(q), torch.zeros_like(k)
    start = _memory(options.device)
    passes(form, options, q, k)
    added = _memory(options.device) - start
    timed = [passes(form, options, q, k) for _ in range(options.repeats)]
    forward, backward, busy = (min(times) for times in zip(*timed, strict=True))
    seconds = {"forward_s": round(forward, 4), "backward_s": round(backward, 4), "core_s": round(busy, 4)}
    answers.put({"form": form, **seconds, "peak_mib": round(added / 2**20)})


def _memory(device: str) -> int:
    """The most bytes in use so far."""
    if device != "cpu":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def agreement(options: argparse.Namespace) -> dict[str, float]:
    """The largest difference of the two forms in float64, at a sixteenth of the batch."""
    q, k = inputs(options, max(2, options.batch // 16), torch.float64)
    upstream = torch.randn(len(q), len(k), dtype=torch.float64, device=options.device)
    results = []
    for scores in (match_tokens(q, k, 2**20), plain(q, k)):
        results.append((scores, *torch.autograd.grad(scores, (q, k), upstream)))
    value, *gradients = ((a - b).abs().max().item() for a, b in zip(*results, strict=True))
    return {"largest_difference": value, "largest_gradient_difference": max(gradients)}


def compare_times(rows: Sequence[dict[str, Any]]) -> None:
    """Add to each row how many times as long as the fastest it took; None where it failed."""
    fastest = min((row["core_s"] for row in rows if "core_s" in row), default=None)
    for row in rows:
        row["times as long"] = row["core_s"] / fastest if "core_s" in row else None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=196)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("--tile-mib", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--forms", default="tiled,plain")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    add_record_option(parser, "token_matching")
    options = parser.parse_args()
    print(json.dumps({**vars(options), "torch": torch.__version__}))
    context, rows = multiprocessing.get_context("spawn"), []
    with Watch() as watch:
        for form in options.forms.split(","):
            answers = context.Queue()
            process = context.Process(target=measure, args=(form, options, answers))
            process.start()
            process.join()
            results = answers.get() if process.exitcode == 0 else {"form": form, "failed": process.exitcode}
            rows.append({"batch": options.batch, "tokens": options.tokens, **results})
            print(json.dumps(results), flush=True)
    compare_times(rows)
    agreed = agreement(options)
    print(json.dumps(agreed))
    if options.record:
        figures = {"rows": rows, "times": ["forward_s", "backward_s", "core_s"], "agreement": agreed}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


if __name__ == "__main__":
    main()
