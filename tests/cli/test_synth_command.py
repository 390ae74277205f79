"""``whatchanged synth`` from the command line."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whatchanged.cli import app

runner = CliRunner()


def run(*arguments: str):
    return runner.invoke(app, ["synth", *arguments])


def test_a_set_is_drawn_and_its_folder_named_on_stdout(tmp_path: Path):
    pytest.importorskip("numba")
    out = tmp_path / "set"
    result = run("clevr-change", str(out), "--scenes", "1", "--seed", "2", "--size", "48x32")
    assert result.exit_code == 0
    assert result.stdout == f"{out}\n"
    assert "2 pairs" in result.stderr
    assert (out / "images/CLEVR_default_000000.png").is_file()
    again = run("clevr-change", str(out), "--scenes", "1")
    assert again.exit_code == 2 and "exists already" in again.stderr


def test_clevr_dc_has_its_cameras_anywhere_around(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    asked = []
    monkeypatch.setattr("whatchanged.synth.clevr.drawers.write_twin", lambda *a: asked.append(a[-1]))
    for world in ("clevr-dc", "clevr-change"):
        assert run(world, str(tmp_path / "twin"), "--scenes", "5").exit_code == 0
    assert asked == ["around", "jittered"]


def test_a_pool_is_drawn_grows_and_keeps_its_seed(tmp_path: Path, monkeypatch):
    """Shards of two triples, drawn in this process."""
    pytest.importorskip("numba")
    from whatchanged.training.objects import pool

    monkeypatch.setattr(pool, "SHARD", 2)
    monkeypatch.setattr(pool, "worker_pool", ThreadPoolExecutor)
    out = tmp_path / "pool"
    for scenes, shards in (("1", 1), ("3", 2)):
        result = run("clevr-pool", str(out), "--scenes", scenes, "--seed", "2", "--size", "48x32")
        assert (result.exit_code, result.stdout) == (0, f"{out}\n")
        assert (
            f"{2 * shards} scenes, {4 * shards} pairs" in result.stderr
        )  # what is there, not what was asked
        assert len(pool.open_shards(out)) == shards
    assert pool.open_shards(out)[1].pictures.shape == (2, 3, 32, 48, 3)
    refused = run("clevr-pool", str(out), "--scenes", "9", "--seed", "3", "--size", "48x32")
    assert refused.exit_code == 2 and "holds another pool" in refused.stderr
    assert len(pool.open_shards(out)) == 2


def test_a_pool_is_240x160_unless_told_otherwise(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    asked = []
    monkeypatch.setattr(
        "whatchanged.training.objects.drawers.draw_pool", lambda *a: asked.append(a[1:5] + a[6:]) or 100
    )
    assert run("clevr-pool", str(tmp_path / "pool"), "--scenes", "5", "--workers", "3").exit_code == 0
    pool = str(tmp_path / "pool")
    given = ("--with", "views=mixed", "clevr-pool", pool, "--with=doubles=1", "--scenes", "5")
    short = ("--views", "mixed", "clevr-pool", pool, "--doubles=1", "--scenes", "5")
    assert [run(*words).exit_code for words in (given, short)] == [0, 0]
    assert asked == [
        (5, 0, (240, 160), 3, "jittered", 0.0),
        (5, 0, (240, 160), 1, "mixed", 1.0),
        (5, 0, (240, 160), 1, "mixed", 1.0),
    ]


@pytest.mark.parametrize("world", ["clevr-change", "clevr-pool"])
@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "mps"])
def test_a_device_that_nobody_knows_is_named_and_nothing_drawn(world, device, tmp_path):
    pytest.importorskip("numba")
    result = run(world, str(tmp_path / "set"), "--scenes", "1", "--size", "48x32", "--device", device)
    assert result.exit_code == 2 and f"--device {device}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_who_asks_for_a_gpu_is_told_that_cores_draw(tmp_path):
    pytest.importorskip("numba")
    drawn = {}
    for device in ("cpu", "cuda:1"):
        out = tmp_path / device.replace(":", "-")
        result = run("clevr-change", str(out), "--scenes", "1", "--size", "48x32", "--device", device)
        assert result.exit_code == 0
        assert ("on CPU cores" in " ".join(result.stderr.split())) == (device != "cpu")
        drawn[device] = (out / "images/CLEVR_default_000000.png").read_bytes()
    assert drawn["cpu"] == drawn["cuda:1"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("mars", "out", "--scenes", "1"),
        ("clevr-change", "out", "--scenes", "0"),
        ("clevr-change", "out", "--scenes", "1", "--size", "480"),
        ("clevr-change", "out", "--scenes", "1", "--size", "0x32"),
        ("clevr-change", "out"),
        ("clevr-change", "out", "--scenes", "1", "--doubles", "0.5"),
        ("clevr-change", "out", "--scenes", "1", "--views", "around"),
        ("birds", "out", "--scenes", "10", "--views", "around"),
        ("birds", "out", "--scenes", "10", "--doubles", "0.5"),
        ("clevr-pool", "out", "--scenes", "1", "--doubles", "1.5"),
        ("clevr-pool", "out", "--scenes", "1", "--doubles", "nan"),
        ("clevr-pool", "out", "--scenes", "1", "--doubles", "half"),
        ("clevr-pool", "out", "--scenes", "1", "--views", "above"),
        ("clevr-pool", "out", "--scenes", "1", "--views"),
        ("clevr-pool", "out", "--scenes", "1", "--with"),
        ("clevr-pool", "out", "--scenes", "1", "--with", "views"),
        ("clevr-pool", "out", "--scenes", "1", "--with", "seed=1"),
        ("clevr-pool", "out", "--scenes", "1", "--no-such-option", "above"),
        ("clevr-pool", "out", "--scenes", "1", "--size", "50x32"),
    ],
)
def test_wrong_usage_ends_with_2_and_draws_nothing(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_missing_extra_is_named(tmp_path):
    program = "import sys; sys.modules['numba'] = None; from whatchanged.cli import main; main()"
    command = [sys.executable, "-c", program, "synth", "clevr-change", tmp_path / "set", "--scenes", "1"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 2
    assert "[train]" in result.stderr


def test_birds_are_drawn_without_torch_in_three_layouts(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    out = tmp_path / "birds"
    result = run("birds", str(out), "--scenes", "10", "--seed", "2", "--size", "32x32")
    assert (result.exit_code, result.stdout) == (0, f"{out}\n")
    assert "10 pairs, 30 captioned and 60 labelled pictures" in result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["birds_to_words", "cub", "nabirds"]
    oblong = run("birds", str(tmp_path / "no"), "--scenes", "10", "--size", "48x32")
    assert oblong.exit_code == 2 and "squares" in oblong.stderr


def test_what_is_unknown_and_whose_an_option_is_is_said(tmp_path):
    out = str(tmp_path / "out")
    unknown = run("mars", out, "--scenes", "1")
    assert "nothing called 'mars'" in unknown.stderr and "clevr-pool, birds" in unknown.stderr
    refused = run("birds", out, "--scenes", "10", "--views", "around")
    assert "--with views" in refused.stderr and "birds has no such option" in refused.stderr
    refused = run("clevr-pool", out, "--scenes", "10", "--views", "above")
    assert "'above' is not one of jittered, around, low" in " ".join(refused.stderr.split())


def test_help_names_what_each_drawer_draws_and_its_options(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = runner.invoke(app, ["synth", "--help"], env={"COLUMNS": "200"}, terminal_width=200)
    assert result.exit_code == 0
    for text in ("--with", "views=jittered|around|low|mixed", "clevr-change", "clevr-dc", "128x128"):
        assert text in result.output, text


DRAWING = """
from pathlib import Path
from whatchanged.worlds import (
    Breakdown, Drawer, DrawerOption, TruthFiles, Verdict, World, WorldLanguage, WorldPictures,
)

def draw(drawing, steps, shade, views):
    drawing.out.mkdir()
    drawing.advance(drawing.scenes)
    asked = (drawing.scenes, drawing.seed, drawing.size, steps, shade, views)
    (drawing.out / "asked.txt").write_text(repr(asked))
    return f"{drawing.scenes} toys"

WORLD = World(
    name="toy", description="", pictures=WorldPictures((), False, ""), breakdown=Breakdown(("more",), ()),
    truth=TruthFiles(lambda root: False, lambda root, records: {}, lambda truth: "none"),
    language=WorldLanguage(
        captions=lambda truth, rng: (), reads=lambda sentence: False,
        judge=lambda sentence, truth: Verdict(False, False, False, {}), no_change_sentences=(),
    ),
    drawers=(
        Drawer("toys", "coloured toys", "toys:draw", (40, 30), options=(
            DrawerOption("steps", "how many", 3, least=1), DrawerOption("shade", "how dark", 0.5),
            DrawerOption("views", "from where", "front", choices=("front", "back")),
        )),
        Drawer("gone", "has no module", "no_such_module:draw", (40, 30)),
        Drawer("birds", "has a name that is taken", "toys:draw", (40, 30)),
    ),
)
"""


def test_a_plug_ins_drawer_has_its_own_options(site, tmp_path):
    site.install("toy-world", {"whatchanged.worlds": {"toy": "toys:WORLD"}}, toys=DRAWING)
    out = tmp_path / "out"
    result = run("toys", str(out), "--scenes", "4", "--steps", "7", "--views", "back", "--seed", "6")
    assert (result.exit_code, result.stdout) == (0, f"{out}\n"), result.stderr
    assert f"4 toys in {out}" in result.stderr
    assert (out / "asked.txt").read_text() == "(4, 6, (40, 30), 7, 0.5, 'back')"
    for wrong in (("--steps", "0"), ("--steps", "x"), ("--views", "mixed"), ("--doubles", "0.5")):
        assert run("toys", str(tmp_path / "no"), "--scenes", "4", *wrong).exit_code == 2
    missing = run("gone", str(tmp_path / "no"), "--scenes", "4")
    assert missing.exit_code == 2 and "no_such_module" in missing.stderr
    assert not (tmp_path / "no").exists()
    assert "'birds' of the world toy is not drawn" in result.stderr
