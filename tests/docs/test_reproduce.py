"""Every command of docs/reproduce/*.md, one after the other, on twelve pairs in the official layout.

What is smaller than on the pages: the pairs, the widths and steps (``--set``), two processes in place of
eight, and the backbone, a small network whose maps have ResNet-101's sizes (``test_resnet`` tests the large
one).
"""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support import official_layouts

from whatchanged.recipes.reader import load_recipe

PAGES = sorted((Path(__file__).parents[2] / "docs" / "reproduce").glob("*.md"))
BLOCK = re.compile(r"<!-- commands -->\n```sh\n(.*?)```", re.DOTALL)
PROCESSES = 2

SIZES = {
    "pcl": ["width=16", "heads=2", "ffn=32", "cross_layers=1"],
    "scorer": ["width=16", "word_width=8", "heads=2", "layers=1", "decoder_layers=1"],
    "dirl": [
        *("width=16", "word_width=8", "heads=2", "layers=1", "decoder_layers=1"),
        *("ffn=32", "projector_width=32"),
    ],
    "clip4idc": [
        *("width=24", "heads=3", "ffn=96", "intra_layers=2", "inter_layers=1", "context=40"),
        *("text_width=16", "text_heads=4", "text_ffn=64", "text_layers=2", "joint_width=12"),
        *("decoder_width=16", "decoder_heads=4", "decoder_ffn=20", "decoder_layers=1", "max_length=20"),
    ],
}
VISION = {"patches": ["image_width=24", "image_height=24", "patch=8"]}


def commands(page):
    text = page.read_text(encoding="utf-8")
    return [shlex.split(line) for block in BLOCK.findall(text) for line in block.splitlines() if line]


def smaller(name):
    """Options that make a recipe small: widths, steps and batches; nothing else of it changes."""
    recipe = load_recipe(name)
    settings = [f"method.{size}" for size in SIZES[recipe.method.name]]
    settings += [f"vision.{size}" for size in VISION.get(recipe.vision.kind, [])]
    for stage in recipe.stages:
        settings += [f"stage.{stage.name}.{key}" for key in ("steps=2", "batch=8", "log_every=1")]
        settings += [f"stage.{stage.name}.warmup=1"] if stage.warmup else []
        if stage.evaluate_every:
            settings += [f"stage.{stage.name}.evaluate_every=1"]
        if stage.evaluate_from:
            settings += [f"stage.{stage.name}.evaluate_from=1"]
    return [part for setting in settings for part in ("--set", setting)]


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """The files that the pages name: a backbone's weights, CLIP's, and its merges."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="says what CLIP's tensors are called")
    from whatchanged.training.features import backbones

    def small(cells, width):
        torch.manual_seed(cells)
        return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(cells), torch.nn.Conv2d(3, width, 1))

    table = {
        name: replace(kind, build=lambda kind=kind: small(kind.cells, kind.width))
        for name, kind in backbones.BACKBONES.items()
    }
    monkeypatch.setattr(backbones, "BACKBONES", table)
    monkeypatch.setattr("whatchanged.training.export.backbone_in_front.BACKBONES", table)
    monkeypatch.setattr(backbones, "_load", lambda network, name, file: Path(file).stat())
    torch.save({}, tmp_path / "resnet101.pth")

    merges = ["t h", "th e</w>", "i s</w>", "c u"]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    words = 2 * 256 + len(merges) + 2
    text = {"vocab_size": words, "hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 2}
    text |= {"num_attention_heads": 4, "max_position_embeddings": 40, "bos_token_id": words - 2}
    sight = {"hidden_size": 24, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 3}
    config = transformers.CLIPConfig(
        text_config={**text, "eos_token_id": words - 1},
        vision_config={**sight, "image_size": 24, "patch_size": 8},
        projection_dim=12,
    )
    torch.save(dict(transformers.CLIPModel(config).state_dict()), tmp_path / "ViT-B-32.pt")


def run_on_two(arguments, folder):
    """``torchrun`` with two processes on this machine's CPU."""
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        str(PROCESSES),
        "--standalone",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def test_there_is_a_page_for_each_data_set():
    assert [page.stem for page in PAGES] == [
        "birds-to-words",
        "clevr-change",
        "clevr-dc",
        "image-editing-request",
        "levir-cc",
        "spot-the-diff",
    ]
    for page in PAGES:
        kinds = [command[1] if command[0] == "whatchanged" else command[0] for command in commands(page)]
        assert {"dataset", "features", "train", "torchrun", "export", "caption", "evaluate"} <= set(kinds)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_a_page_shows_stands_in_a_block(page):
    """So that none is shown which the test below does not run."""
    text = page.read_text(encoding="utf-8")
    outside = BLOCK.sub("", text)
    assert not re.search(r"^\s*(whatchanged|torchrun) ", outside, re.MULTILINE)
    assert len(commands(page)) >= 7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_the_page(page, weights, whatchanged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHATCHANGED_JAVA", "/no/such/java")
    getattr(official_layouts, page.stem.replace("-", "_"))(tmp_path / "data" / page.stem)
    more = {
        "features": ("--workers", "1", "--device", "cpu", "--quiet"),
        "caption": ("--quiet",),
        "evaluate": ("--no-java", "--no-meteor", "--resamples", "0"),
    }
    for program, *command in commands(page):
        if program == "torchrun":
            name = command[command.index("train") + 1]
            arguments = [*command[2:], *smaller(name), "--device", "cpu", "--quiet"]
            code, _, err = run_on_two(arguments, tmp_path)
        else:
            options = more.get(command[0], ())
            if command[0] == "train":
                options = (*smaller(command[1]), "--device", "cpu", "--quiet")
            code, _, err = whatchanged(*command, *options)
        assert code == 0, f"{shlex.join([program, *command])}\n{err}"
    assert list(tmp_path.glob("*.jsonl")) and list(
        (tmp_path / "runs").glob("*-8/checkpoints/last.safetensors")
    )
