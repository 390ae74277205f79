"""Measures the time and peak memory of opening each data set at full size, each in its own process.

    python -m benchmarks.speed.datasets ANNOTATIONS [--pictures]

ANNOTATIONS is the folder of the real annotation files, with one folder per data set. If files are missing,
the program makes them in the documented layout and at the published size: captions of CLEVR-Change (7 or 8
for a changed pair, 5 for a distractor, 495,000 in all), the tables of CUB and NABirds, and a plain list of
80,000 pairs. ``--pictures`` also puts a link to one small picture in the place of each of the 119,409
pictures of CLEVR-Change, so that the search for pictures is timed as well.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.record import ROOT, Watch, add_record_option, write_result

CAPTION = "the large brown matte block that is on the right side of the large brown cylinder is gone {}"
LIST_PAIRS = 80_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Time opening each data set.")
    parser.add_argument("annotations", type=Path)
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--one", nargs=3, metavar=("FOLDER", "NAME", "PICTURES"), help=argparse.SUPPRESS)
    add_record_option(parser, "datasets")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(Path(arguments.one[0]), arguments.one[1], arguments.one[2] == "yes")))
        return
    rows = []
    annotations = arguments.annotations.absolute()
    with Watch() as watch, tempfile.TemporaryDirectory() as made:
        print(f"{'data set':<24}{'records':>9}{'captions':>10}", end="")
        print(f"{'pictures':>12}{'cpu s':>8}{'wall s':>8}{'MiB':>6}")
        for folder, name, pictures in make(annotations, Path(made), arguments.pictures):
            one = ["--one", str(folder), name, pictures]
            command = [sys.executable, "-m", "benchmarks.speed.datasets", str(annotations), *one]
            result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            rows.append(json.loads(result.stdout))
            print("{:<24}{:>9,}{:>10,}{:>12}{:>8.2f}{:>8.2f}{:>6.0f}".format(*rows[-1].values()), flush=True)
    if arguments.record:
        figures = {"rows": rows, "times": ["cpu s", "wall s"]}
        write_result(arguments.record, "rows", figures, watch=watch)


def measure(path: Path, name: str, pictures: bool) -> dict[str, Any]:
    """One row: processor and wall time to open, and the most memory less what the process had before."""
    from whatchanged.datasets import open_dataset

    before = most_memory()
    start, busy = time.perf_counter(), time.process_time()
    opened = open_dataset(path, name, pictures=pictures)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    memory = most_memory() - before
    captions = sum(len(record.captions) for record in opened.records)
    return {
        "data set": name,
        "records": len(opened.records),
        "captions": captions,
        "pictures": "looked for" if pictures else "-",
        "cpu s": busy,
        "wall s": seconds,
        "MiB": memory,
    }


def most_memory() -> float:
    """The most memory that this process has held, in MiB (Linux; getrusage counts the parent's too)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def make(annotations: Path, made: Path, pictures: bool) -> list[tuple[Path, str, str]]:
    """(folder, reader, pictures looked for?) of every row."""
    clevr = make_clevr(annotations / "clevr_change", made / "clevr_change")
    rows = [(clevr, "clevr_change", "no")]
    if pictures:
        link_pictures(clevr)
        rows.append((clevr, "clevr_change", "yes"))
    rows.append((annotations / "clevr_dc", "clevr_dc", "no"))
    spot = annotations / "spot_the_diff"
    rows += [(spot, name, "no") for name in ("spot_the_diff", "spot_the_diff_multi", "spot_the_diff_records")]
    rows += [(annotations / name, name, "no") for name in ("image_editing_request", "birds_to_words")]
    rows.append((make_levir(annotations / "levir_cc", made / "levir_cc"), "levir_cc", "no"))
    rows.append((make_birds(made / "cub", 11_788, 200, sentences=10), "cub", "no"))
    rows.append((make_birds(made / "nabirds", 48_562, 555, sentences=0), "nabirds", "no"))
    rows.append((make_list(made / "pairs.jsonl"), "plain", "no"))
    return rows


def make_clevr(source: Path, root: Path) -> Path:
    """The real splits, types and overlaps; captions and boxes made up."""
    root.mkdir()
    for name in ("splits.json", "type_mapping.json", "change_captions_by_IOU.json"):
        (root / name).write_bytes((source / name).read_bytes())
    splits = json.loads((root / "splits.json").read_text())
    scenes = sorted(index for indices in splits.values() for index in indices)
    changed = {f"CLEVR_default_{i:06d}.png": [CAPTION.format(j) for j in range(7 + i % 2)] for i in scenes}
    same = {f"CLEVR_default_{i:06d}.png": [f"there is no change {j}" for j in range(5)] for i in scenes}
    boxes = {str(i): {"bbox_before": [133, 183, 52, 55], "bbox_after": [116, 166, 47, 50]} for i in scenes}
    for name, value in (
        ("change_captions.json", changed),
        ("no_change_captions.json", same),
        ("change_captions_with_bbox.json", boxes),
    ):
        (root / name).write_text(json.dumps(value))
    return root


def link_pictures(root: Path) -> None:
    """One small picture under every name of a folder (file systems limit how many names a file has)."""
    splits = json.loads((root / "splits.json").read_text())
    for folder, view in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
        (root / folder).mkdir()
        seed = root / f"{folder}.png"
        Image.new("RGB", (8, 8)).save(seed)
        for indices in splits.values():
            for index in indices:
                os.link(seed, root / folder / f"CLEVR_{view}_{index:06d}.png")


def make_levir(source: Path, root: Path) -> Path:
    """The real captions in the official layout."""
    root.mkdir()
    images = []
    for line in (source / "levir_cc_captions.jsonl").read_text().splitlines():
        entry = json.loads(line)
        sentences = [{"raw": c, "tokens": c.split(), "sentid": 0} for c in entry["captions"]]
        images.append({"filename": entry["filename"], "split": entry["split"], "sentences": sentences})
    (root / "LevirCCcaptions.json").write_text(json.dumps({"images": images}))
    return root


def make_birds(root: Path, pictures: int, classes: int, sentences: int) -> Path:
    """Tables as CUB's (with texts) or NABirds' (with a tree), at the published size."""
    root.mkdir()
    names = [f"{i % classes:03d}.Some_Bird/Some_Bird_{i:06d}" for i in range(pictures)]
    tables = {
        "images.txt": (f"{i} {name}.jpg" for i, name in enumerate(names)),
        "image_class_labels.txt": (f"{i} {i % classes}" for i in range(pictures)),
        "train_test_split.txt": (f"{i} {i % 2}" for i in range(pictures)),
        "bounding_boxes.txt": (f"{i} 83 59 128 228" for i in range(pictures)),
        "classes.txt": (f"{i} {i:03d}.Some_Bird" for i in range(classes)),
    }
    if not sentences:
        tables["hierarchy.txt"] = (f"{i} {classes}" for i in range(classes))
    for name, lines in tables.items():
        (root / name).write_text("\n".join(lines) + "\n")
    for name in names if sentences else ():
        path = root / "text" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(f"this bird is small and has a brown crown {j}" for j in range(sentences)))
    return root


def make_list(path: Path) -> Path:
    """A list of one's own with five captions a pair."""
    rows = (
        {"before": f"p/{i}.png", "after": f"p/{i}_2.png", "captions": [CAPTION.format(j) for j in range(5)]}
        for i in range(LIST_PAIRS)
    )
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


if __name__ == "__main__":
    main()
