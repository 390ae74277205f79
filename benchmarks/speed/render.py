"""Measures finished pictures per second on one core, for each size: a JSON line each.

    python -m benchmarks.speed.render [--pictures 40]

Scenes are those of the twin. Compilation and the first picture are not timed. Times are the process's own
processor time on one thread, which other work hardly affects.
"""

import argparse
import json
import time

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.synth.clevr import render
from whatchanged.synth.clevr.sampling import sample_triple

SIZES = ((240, 160), (480, 320))


def measure(width: int, height: int, pictures: int) -> float:
    """Pictures of this size a second."""
    triples = [sample_triple(0, i) for i in range((pictures + 2) // 3)]
    scenes = [scene for t in triples for scene in (t.default, t.semantic, t.nonsemantic)][:pictures]
    render(scenes[:1], width, height)
    start = time.process_time()
    render(scenes, width, height)
    return len(scenes) / (time.process_time() - start)


def main() -> None:
    """Measure every size and record it where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=40)
    add_record_option(parser, "render")
    arguments = parser.parse_args()
    rows = []
    with Watch() as watch:
        for width, height in SIZES:
            speed = measure(width, height, arguments.pictures)
            rows.append(
                {"size": f"{width}x{height}", "pictures": arguments.pictures, "per_second": round(speed, 2)}
            )
            print(json.dumps(rows[-1]), flush=True)
    if arguments.record:
        write_result(arguments.record, "rows", {"rows": rows, "times": ["per_second"]}, watch=watch)


if __name__ == "__main__":
    main()
