"""A backbone from another package: features, training on them, export with it in front, a sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import save_file

torch = pytest.importorskip("torch")

PROJECT = Path(__file__).parent / "toy_backbone"
BODY = (PROJECT / "src" / "toy_backbone" / "__init__.py").read_text()
PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Six pairs of small pictures, and the weights of the network."""
    generator = np.random.default_rng(5)
    lines = ["before,after,split,captions"]
    for number in range(6):
        for side in "ab":
            pixels = generator.integers(0, 256, (48, 64, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / f"{number}{side}.png")
        said = "there is no change" if number % 2 else "the ball is gone"
        lines.append(f"{number}a.png,{number}b.png,{'val' if number > 3 else 'train'},{said}")
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    torch.manual_seed(2)
    save_file(
        {"0.weight": torch.randn(8, 3, 16, 16) / 30, "0.bias": torch.zeros(8)}, tmp_path / "net.safetensors"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_shows_the_whole_package():
    assert BODY in PAGE.read_text()
    assert len([line for line in BODY.splitlines() if line.strip()]) <= 20


def test_features_of_it_say_what_they_are(site, mine, whatchanged):
    site.install_project(PROJECT)
    given = ("--backbone", "toy-net:8", "--weights", "net.safetensors", "--workers", "1", "--quiet", "--npy")
    code, _, err = whatchanged("features", "pairs.csv", "grids", *given)
    assert code == 0, err
    (noted,) = (mine / "grids").glob("*.json")
    about = json.loads(noted.read_text())
    assert {key: about[key] for key in ("backbone", "rows", "columns", "width", "image_size", "layer")} == {
        "backbone": "toy-net:8",
        "rows": 3,
        "columns": 4,
        "width": 8,
        "image_size": [64, 48],
        "layer": "the only one, after GELU",
    }
    (stored,) = (mine / "grids").rglob("0a*.npy")
    pixels = np.asarray(Image.open(mine / "0a.png"), np.float64)[:16, :16].transpose(2, 0, 1) / 255
    from safetensors.numpy import load_file

    kernel = load_file(mine / "net.safetensors")["0.weight"].astype(np.float64)
    x = torch.tensor((((pixels - 0.5) / 0.25)[None] * kernel).sum((1, 2, 3)))
    wanted = torch.nn.functional.gelu(x).numpy()
    np.testing.assert_allclose(np.load(stored)[:, 0, 0], wanted, rtol=1e-4, atol=1e-5)


def test_what_it_refuses_and_what_fails_in_it(site, mine, whatchanged):
    site.install_project(PROJECT)
    code, _, err = whatchanged("features", "pairs.csv", "grids", "--backbone", "toy-net")
    assert code == 2 and "name its weights" in err
    given = ("--backbone", "toy-net:x", "--weights", "net.safetensors")
    code, _, err = whatchanged("features", "pairs.csv", "grids", *given)
    assert code == 2 and "The backbone 'toy-net:x' cannot be used: ValueError" in err
    code, _, err = whatchanged("features", "pairs.csv", "grids", "--backbone", "tiy-net")
    assert code == 2 and "transformers, toy-net" in err
    assert not (mine / "grids").exists()
    assert "backbone toy-net of toy-backbone 1.5, found" in whatchanged("doctor")[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_its_features_reads_pictures_with_it_in_front(site, mine, whatchanged):
    site.install_project(PROJECT)
    weights = ("--weights", "net.safetensors")
    grid = ("vision.rows=3", "vision.columns=4", "vision.feature_width=8")
    pairs = ("data.examples=pairs", "data.exchange=false")
    recipe = [word for setting in (*grid, *pairs) for word in ("--set", setting)]
    for command in (
        ("features", "pairs.csv", "grids", "--backbone", "toy-net:8", *weights, "--workers", "1"),
        ("train", "scorer-tiny", "--data", "pairs.csv", "--features", "grids", "-o", "run", *recipe),
        ("export", "run", "model", *weights),
        ("describe", "0a.png", "0b.png", "--model", "model"),
    ):
        code, out, err = whatchanged(*command)
        assert code == 0, err
    assert out.strip()
    card = json.loads((mine / "model" / "bundle.json").read_text())
    assert card["provenance"]["features"]["backbone"] == "toy-net:8"
