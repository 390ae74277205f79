"""Finished pictures per second of one core (or device), for each path and size: a JSON line each.

    python -m benchmarks.render [--device cuda] [--pictures 40]

Scenes are those of the twin; compiling and a first picture are left out. On the CPU the clock is the
process's own time on one thread, so other work counts little; on another device it is wall time.
"""

import argparse
import json
import time

import torch

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.synth.clevr import render
from whatchanged.synth.clevr.draw import Renderer
from whatchanged.worlds.clevr.sampling import sample_triple

SIZES = ((240, 160), (480, 320))


def measure(path: Renderer, device: str, width: int, height: int, pictures: int) -> float:
    triples = [sample_triple(0, i) for i in range((pictures + 2) // 3)]
    scenes = [scene for t in triples for scene in (t.default, t.semantic, t.nonsemantic)][:pictures]
    render(scenes[:1], width, height, device=device, path=path)
    clock = time.process_time if device == "cpu" else time.perf_counter
    start = clock()
    render(scenes, width, height, device=device, path=path)
    return len(scenes) / (clock() - start)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pictures", type=int, default=40)
    add_record_option(parser, "render")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    paths: tuple[Renderer, ...] = ("compiled", "tensor") if arguments.device == "cpu" else ("tensor",)
    rows = []
    with Watch() as watch:
        for path in paths:
            for width, height in SIZES:
                count = max(2, arguments.pictures if path == "compiled" or arguments.device != "cpu" else 6)
                speed = measure(path, arguments.device, width, height, count)
                row = {
                    "path": path,
                    "device": arguments.device,
                    "size": f"{width}x{height}",
                    "pictures": count,
                }
                rows.append({**row, "per_second": round(speed, 2)})
                print(json.dumps(rows[-1]), flush=True)
    if arguments.record:
        write_result(arguments.record, "rows", {"rows": rows, "times": ["per_second"]}, watch=watch)


if __name__ == "__main__":
    main()
