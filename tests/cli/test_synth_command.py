"""``whatchanged synth`` from the command line."""

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
    monkeypatch.setattr(
        "whatchanged.training.objects.render.synth.write_twin", lambda *a: asked.append(a[-1])
    )
    for world in ("clevr-dc", "clevr-change"):
        assert run(world, str(tmp_path / "twin"), "--scenes", "5").exit_code == 0
    assert asked == ["around", "jittered"]


def test_a_pool_is_drawn_grows_and_keeps_its_seed(tmp_path: Path, monkeypatch):
    """Shards of two triples, drawn in this process."""
    pytest.importorskip("numba")
    from whatchanged.training.objects import pool

    monkeypatch.setattr(pool, "SHARD", 2)
    monkeypatch.setattr(pool, "ProcessPoolExecutor", lambda workers, mp_context: ThreadPoolExecutor(workers))
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
        "whatchanged.training.objects.pool.draw_pool", lambda *a: asked.append(a[1:6] + a[7:]) or 100
    )
    assert run("clevr-pool", str(tmp_path / "pool"), "--scenes", "5", "--workers", "3").exit_code == 0
    assert asked == [(5, 0, (240, 160), 3, "cpu", "jittered", 0.0)]


@pytest.mark.parametrize("world", ["clevr-change", "clevr-pool"])
@pytest.mark.parametrize("device", ["gpu", "cuda:99", "mps"])
def test_a_device_that_is_not_there_is_named_and_nothing_drawn(world, device, tmp_path):
    pytest.importorskip("numba")
    result = run(world, str(tmp_path / "set"), "--scenes", "1", "--size", "48x32", "--device", device)
    assert result.exit_code == 2 and f"--device {device}" in result.stderr
    assert list(tmp_path.iterdir()) == []


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
        ("clevr-pool", "out", "--scenes", "1", "--size", "50x32"),
    ],
)
def test_wrong_usage_ends_with_2_and_draws_nothing(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    result = run("clevr-change", str(tmp_path / "set"), "--scenes", "1")
    assert result.exit_code == 2
    assert "whatchanged[train]" in result.stderr


def test_birds_are_drawn_without_torch_in_three_layouts(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    out = tmp_path / "birds"
    result = run("birds", str(out), "--scenes", "10", "--seed", "2", "--size", "32x32")
    assert (result.exit_code, result.stdout) == (0, f"{out}\n")
    assert "10 pairs, 30 captioned and 60 labelled pictures" in result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["birds_to_words", "cub", "nabirds"]
    oblong = run("birds", str(tmp_path / "no"), "--scenes", "10", "--size", "48x32")
    assert oblong.exit_code == 2 and "squares" in oblong.stderr
