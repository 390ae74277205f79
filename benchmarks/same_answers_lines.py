"""The command lines that ``same_answers`` records, in the folder of same_answers_inputs.py.

A command has one step or several, which run one after another; ``line < file`` reads stdin. The record
includes the lines themselves, so that a later tree runs the same lines as the first one.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from benchmarks.same_answers_pairs import CLEVR_MODELS, SCREENS_MODEL, whatchanged
from benchmarks.shrink import shrink

COMMANDS = (
    "demo",
    "describe",
    "compare",
    "caption",
    "evaluate",
    "dataset",
    "recipes",
    "models",
    "doctor",
    "synth",
    "features",
    "train",
    "retrieve",
    "export",
)
"""The promised commands."""
CUBES = "inputs/twin/images/CLEVR_default_000000.png inputs/twin/sc_images/CLEVR_semantic_000000.png"
SCREENS = "inputs/old/page-0.png inputs/new/page-0.png"
RECIPE = "pcl-tiny"
"""What is trained, at toy size, to be exported."""
PLANNED = ("clevr-pcl", "pcl-clevr-paper", "clip4idc-clevr-paper", "scorer-clevr-paper")
"""Whose needs are estimated: each takes some seconds."""
QUIET = "--device cpu --quiet"

DESCRIBE: Mapping[str, str] = {
    "cubes": CUBES,
    "screens": SCREENS,
    "json": f"{SCREENS} --json",
    "json-cubes": f"{CUBES} --json",
    "maps": f"{CUBES} --json --maps",
    "beams": f"{CUBES} --json --beams 3",
    "read-text": "inputs/old/page-2.png inputs/new/page-2.png --json --read-text",
    "exit-code": f"{SCREENS} --exit-code",
    "exit-code-same": "inputs/old/same.png inputs/new/same.png --exit-code",
    "exit-code-noise": "inputs/run1/page-0.png inputs/run2/page-0.png --json --exit-code",
    "heatmap": f"{SCREENS} --heatmap heat.png",
    "heatmap-cubes": f"{CUBES} --heatmap heat.png --quiet",
    "heatmap-stdout": f"{CUBES} --heatmap -",
    "heatmap-there": f"{CUBES} --heatmap inputs/old/same.png",
    "heatmap-force": f"{CUBES} --heatmap inputs/old/same.png --force",
    "stdin": f"- {CUBES.split()[1]} --json < {CUBES.split()[0]}",
    "foreign-model": f"{SCREENS} --model clevr-pcl --json",
    "no-file": "inputs/none.png inputs/new/page-0.png",
    "no-picture": "inputs/pairs.csv inputs/new/page-0.png",
    "cut-picture": "inputs/old/broken.png inputs/new/broken.png",
    "no-model": f"{SCREENS} --model none",
    "wrong-option": f"{SCREENS} --jsn",
    **{f"model-{name}": f"{CUBES} --json --model {name}" for name in (*CLEVR_MODELS, SCREENS_MODEL)},
}
CAPTION: Mapping[str, str] = {
    "twin": "inputs/twin -o out.jsonl",
    "csv": "inputs/pairs.csv -o out.jsonl",
    "jsonl": "inputs/pairs.jsonl -o out.jsonl --quiet --batch-size 3",
    "screens": "inputs/pairs.csv -o out.jsonl --model screens",
    "birds": "inputs/birds/birds_to_words -o out.jsonl",
    "coco": "inputs/twin -o out.json --format coco",
    "two-files": "inputs/twin -o out --format two-files",
    "pcl": "inputs/twin -o out.txt --format pcl",
    "attention": "inputs/twin -o out.jsonl --model clevr-pcl --attention maps --html page.html",
    "attention-scorer": "inputs/twin -o out.jsonl --model clevr-scorer --attention maps",
    "attention-no-model": "inputs/twin -o out.jsonl --attention maps",
    "html": "inputs/pairs.csv -o out.jsonl --html page.html",
    "embed": "inputs/pairs.csv -o out.jsonl --html page.html --embed",
    "beams": "inputs/twin -o out.jsonl --model clevr-pcl --beams 3",
    "shard": "inputs/twin -o out.jsonl --shard 2/3",
    "split": "inputs/twin -o out.jsonl --split train",
    "damaged": "inputs/damaged.csv -o out.jsonl",
    "skip-missing": "inputs/damaged.csv -o out.jsonl --skip-missing",
    "broken": "inputs/broken.csv -o out.jsonl",
    "there": "inputs/pairs.csv -o inputs/captions.jsonl",
    "force": "inputs/pairs.csv -o inputs/captions.jsonl --force",
    "no-list": "inputs/none.csv -o out.jsonl",
    "no-dataset": "inputs/old -o out.jsonl",
}
COMPARE: Mapping[str, str] = {
    "folders": "inputs/old inputs/new",
    "output": "inputs/old inputs/new -o out --workers 1",
    "workers": "inputs/old inputs/new -o out --workers 2 --quiet",
    "same": "inputs/old inputs/old -o out",
    "never": "inputs/old inputs/new -o out --fail-on never",
    "github": "inputs/old inputs/new -o out --annotations github",
    "ignore": "inputs/old inputs/new -o out --ignore inputs/boxes.json",
    "sensitivity": "inputs/run1 inputs/run2 -o out --sensitivity 4",
    "strict": "inputs/run1 inputs/run2 -o out --strict",
    "read-text": "inputs/old inputs/new -o out --read-text",
    "model": "inputs/old inputs/new -o out --model screens",
    "clevr": "inputs/twin/images inputs/twin/images -o out",
    "embed": "inputs/old inputs/new -o out --embed",
    "accept-unseen": "inputs/old inputs/new -o out --accept 1",
    "no-folder": "inputs/none inputs/new",
    "no-new": "inputs/old",
    "wrong-noise": "inputs/old inputs/new --noise inputs/pairs.csv",
}
EVALUATE: Mapping[str, str] = {
    "table": "inputs/captions.jsonl inputs/twin",
    "files": "inputs/captions.jsonl inputs/twin --json a.json --markdown a.md --html a.html",
    "embed": "inputs/captions.jsonl inputs/twin --html a.html --embed --resamples 50",
    "attention": "inputs/captions.jsonl inputs/twin --attention inputs/maps --html a.html --json a.json",
    "compare": "inputs/captions.jsonl inputs/twin --compare inputs/other.jsonl --json a.json --html a.html",
    "seeds": "inputs/captions.jsonl inputs/twin --seeds inputs/other.jsonl --json a.json",
    "plain": "inputs/captions.jsonl inputs/twin --tokenizer plain --no-meteor --no-java --json a.json",
    "corpus": "inputs/captions.jsonl inputs/twin --document-frequencies corpus --no-meteor --resamples 0",
    "threshold": "inputs/captions.jsonl inputs/twin --threshold 0.2 --no-meteor --json a.json",
    "failed": "inputs/failed.jsonl inputs/twin",
    "failed-as-empty": "inputs/failed.jsonl inputs/twin --failed-as-empty --no-meteor --json a.json",
    "references": "inputs/captions.jsonl inputs/twin/total_change_captions_reformat.json --no-meteor",
    "others": "inputs/captions.jsonl inputs/pairs.csv",
}
OTHERS: Mapping[str, tuple[str, ...]] = {
    "version": ("--version",),
    "no-command": ("none",),
    "demo": ("demo",),
    "demo-html": ("demo --html page.html",),
    "demo-scorer": ("demo --model clevr-scorer",),
    "demo-screens": ("demo --model screens",),
    "demo-save": ("demo --save pairs",),
    "doctor": ("doctor",),
    "doctor-screens": ("doctor --model screens",),
    "models": ("models",),
    "models-json": ("models --json",),
    "models-none": ("models none",),
    "recipes": ("recipes",),
    "recipes-none": ("recipes pcl-tinny",),
    "recipes-set": (f"recipes {RECIPE} --resolved --set stage.caption.lr=1e-4",),
    "recipes-wrong": (f"recipes {RECIPE} --set stage.caption.learning=1",),
    "dataset-list": ("dataset --list",),
    "dataset-twin": ("dataset inputs/twin",),
    "dataset-csv": ("dataset inputs/pairs.csv --html page.html",),
    "dataset-embed": ("dataset inputs/twin --html page.html --embed",),
    "dataset-birds": ("dataset inputs/birds/birds_to_words --preparation pcl-birds",),
    "dataset-cub": ("dataset inputs/birds/cub",),
    "dataset-damaged": ("dataset inputs/damaged.csv",),
    "dataset-skip-missing": ("dataset inputs/damaged.csv --skip-missing",),
    "dataset-annotations": ("dataset inputs/damaged.csv --annotations-only",),
    "dataset-none": ("dataset inputs/old",),
    "caption-resume": (
        "caption inputs/pairs.csv -o out.jsonl",
        "caption inputs/pairs.csv -o out.jsonl --resume",
        "caption inputs/twin -o out.jsonl --resume",
    ),
    "compare-again": (
        "compare inputs/old inputs/new -o out",
        "compare inputs/old inputs/new -o out",
        "compare inputs/old inputs/new -o out --force",
    ),
    "compare-accept": (
        "compare inputs/old inputs/new -o out",
        "compare inputs/old inputs/new -o out --accept page-0.png --accept 2",
        "compare inputs/old inputs/new -o out",
    ),
    "compare-noise": (
        "compare --calibrate inputs/run1 inputs/run2 -o noise.json",
        "compare inputs/run1 inputs/run2 --noise noise.json -o out",
        "compare inputs/old inputs/new --noise noise.json -o out2",
    ),
    "compare-git": ("compare --git HEAD inputs/repository/shots -o out", "compare --git none -o out"),
    "synth-clevr-change": ("synth clevr-change out --scenes 2 --seed 3 --size 96x64",),
    "synth-clevr-dc": ("synth clevr-dc out --scenes 2 --seed 3 --size 96x64",),
    "synth-clevr-low": ("synth clevr-low out --scenes 2 --seed 3 --size 96x64",),
    "synth-clevr-pool": ("synth clevr-pool out --scenes 4 --seed 3 --size 96x64 --views all",),
    "synth-birds": ("synth birds out --scenes 3 --seed 3 --size 64x64",),
    "synth-plots": ("synth screens out --scenes 1 --seed 3 --family plots",),
    "synth-documents": ("synth screens out --scenes 1 --seed 3 --family documents",),
    "synth-none": ("synth none out --scenes 1",),
    "train-none": ("train none -o run",),
    "train-plan": tuple(f"train {name} -o run --plan" for name in PLANNED),
}


def command_lines(tree: Path) -> dict[str, list[str]]:
    """Name -> the lines of its steps: those above, and the help, the models and the recipes of a tree."""
    lines = {"help": ["--help"], **{f"help-{name}": [f"{name} --help"] for name in COMMANDS}}
    for command, forms in (
        ("describe", DESCRIBE),
        ("caption", CAPTION),
        ("compare", COMPARE),
        ("evaluate", EVALUATE),
    ):
        lines |= {f"{command}-{name}": [f"{command} {given}"] for name, given in forms.items()}
    lines |= {name: list(steps) for name, steps in OTHERS.items()}
    for line in whatchanged(tree, "models", "--json").splitlines():
        name = json.loads(line)["name"]
        lines |= {f"models-{name}": [f"models {name}"], f"models-{name}-json": [f"models {name} --json"]}
    for name in recipe_names(tree):
        lines[f"recipes-{name}"] = [f"recipes {name}", f"recipes {name} --resolved"]
    lines["run"] = run_steps(tree)
    return lines


def recipe_names(tree: Path) -> list[str]:
    """The shipped recipes of the tree that is recorded."""
    return sorted(file.stem for file in (tree / "src" / "whatchanged" / "recipes").glob("*.toml"))


def run_steps(tree: Path) -> list[str]:
    """A recipe at toy size: train, caption by the run, rank, export, and ask the bundle."""
    on_pictures = "vision.kind=patches"
    resolved = tomllib.loads(whatchanged(tree, "recipes", RECIPE, "--resolved", "--set", on_pictures))
    settings = " ".join(f"--set '{setting}'" for setting in (on_pictures, *shrink(resolved, 6)))
    return [
        f"train {RECIPE} --data inputs/tiny -o run {settings} {QUIET}",
        "caption inputs/tiny --run run -o by-run.jsonl --device cpu",
        "export run bundle --data inputs/tiny",
        "models bundle",
        "models bundle --json",
        "caption inputs/tiny --model bundle -o by-bundle.jsonl",
        "evaluate by-bundle.jsonl inputs/tiny --no-meteor --no-java",
        "retrieve run inputs/tiny -o ranks.npy --device cpu",
        "train -o run --resume",
    ]
