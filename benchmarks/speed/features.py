"""Measures time and bytes of grid features per 1,000 pictures: a JSON line for each named backbone.

    python -m benchmarks.speed.features [--pictures 48] [--workers 1] [--backbones NAME ...]

The pictures are the shipped ones at CLEVR's size, 480 x 320, as PNG files. ResNet-101 has random weights,
which are as fast as real ones. With one worker, time is the process's own processor time (one thread
computes, one reads), so other programs have little effect. With more workers it is wall time, including the
start of the processes.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.datasets import open_dataset
from whatchanged.errors import MissingExtra
from whatchanged.launch import Launch
from whatchanged.training.features.backbones import BACKBONES
from whatchanged.training.features.resnet import ResNet101
from whatchanged.training.features.store import store_features

DEMO = Path(__file__).parents[2] / "src" / "whatchanged" / "models" / "demo"


def make_list(folder: Path, pictures: int) -> Path:
    """A list of pairs of that many pictures, each another one on disk."""
    sources = sorted(DEMO.glob("*.png"))
    names = [f"{number}.png" for number in range(2 * (pictures // 2))]
    for number, name in enumerate(names):
        with Image.open(sources[number % len(sources)]) as image:
            image.resize((480, 320), Image.Resampling.BICUBIC).save(folder / name)
    rows = [f"{before},{after}" for before, after in zip(names[::2], names[1::2], strict=True)]
    (folder / "pairs.csv").write_text("\n".join(["before,after", *rows]) + "\n")
    return folder / "pairs.csv"


def measure(name: str, pairs: Path, workers: int) -> dict[str, object]:
    """One backbone over the list, its weights read and hashed within the time."""
    weights = pairs.parent / "resnet101.pth" if name.startswith("resnet") else None
    dataset, clock = open_dataset(pairs), time.process_time if workers == 1 else time.perf_counter
    count = 2 * len(dataset.records)
    out, shard = pairs.parent / name, max(1, count // (2 * workers))
    began = clock()
    done = store_features(dataset, name, out, weights, shard, launch=Launch("cpu", workers, quiet=True))
    seconds, thousands = clock() - began, done.pictures / 1000
    row: dict[str, object] = {"backbone": name, "pictures": done.pictures, "workers": workers}
    row["clock"] = "process" if workers == 1 else "wall"
    row["seconds_per_1000"] = round(seconds / thousands, 1)
    return {**row, "mb_per_1000": round(done.size / thousands / 1e6, 1)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=48)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--backbones", nargs="+", default=list(BACKBONES))
    add_record_option(parser, "features")
    arguments = parser.parse_args()
    rows = []
    with Watch() as watch, tempfile.TemporaryDirectory() as folder:
        pairs = make_list(Path(folder), arguments.pictures)
        torch.save(ResNet101(4).state_dict(), pairs.parent / "resnet101.pth")
        for name in arguments.backbones:
            try:
                rows.append(measure(name, pairs, arguments.workers))
            except MissingExtra as error:
                rows.append({"backbone": name, "left_out": str(error)})
            print(json.dumps(rows[-1]), flush=True)
    if arguments.record:
        write_result(arguments.record, "rows", {"rows": rows, "times": ["seconds_per_1000"]}, watch=watch)


if __name__ == "__main__":
    main()
