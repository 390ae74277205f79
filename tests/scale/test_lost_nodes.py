"""A node of the cluster is killed amid the work; the result is that of one process, byte for byte."""

import threading
import time

import numpy as np
import pytest
from PIL import Image

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


class Killer(threading.Thread):
    """Kills a node as soon as so much is done; notes how much of it was done then."""

    def __init__(self, nodes, done, enough):
        super().__init__(daemon=True)
        self.nodes, self.done, self.enough = nodes, done, enough
        self.found = None
        self.start()

    def run(self):
        until = time.monotonic() + 120
        while self.done() < self.enough and time.monotonic() < until:
            time.sleep(0.01)
        self.found = self.done()
        self.nodes.kill_one()

    def check(self, whole):
        """That the node was killed, and in the middle."""
        self.join()
        assert self.nodes.lost == 1 and self.enough <= self.found < 0.9 * whole


def test_5000_pairs_are_captioned_as_by_one_process(whatchanged, bundle_folder, nodes, pictures, tmp_path):
    """Two distinct pictures only, a small model: it is the lines, their order and their number that count."""
    rows = [f"before.png,{('before', 'after')[i % 3 == 0]}.png,p{i}" for i in range(5000)]
    (tmp_path / "pairs.csv").write_text("before,after,id\n" + "\n".join(rows) + "\n")
    whole, spread = tmp_path / "one.jsonl", tmp_path / "spread.jsonl"
    command = ("caption", tmp_path / "pairs.csv", "--model", bundle_folder, "--quiet")
    assert whatchanged(*command, "-o", whole)[0] == 0
    killer = Killer(nodes, lambda: spread.read_bytes().count(b"\n") if spread.exists() else 0, 500)
    code, _, err = whatchanged(*command, "-o", spread, "--ray", nodes.address)
    assert code == 0, err
    killer.check(5000)
    assert spread.read_bytes() == whole.read_bytes()
    assert spread.read_bytes().count(b"\n") == 5000


def test_ray_prints_nothing_between_the_lines(nodes, ray, capsys):
    """Where a node is lost, Ray says so on the standard output, unless told otherwise."""
    alive = sum(node["Alive"] for node in ray.nodes())
    nodes.kill_one()
    until = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) == alive and time.monotonic() < until:
        time.sleep(0.1)
    assert sum(node["Alive"] for node in ray.nodes()) == alive - 1
    time.sleep(3)  # the message travels
    assert capsys.readouterr() == ("", "")


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}


def test_features_are_those_of_one_process(whatchanged, nodes, tmp_path):
    pytest.importorskip("torch")
    from support.tiny_run import TINY, make_run

    run = make_run(tmp_path / "run", "clevr-see", TINY)
    rng = np.random.default_rng(0)
    rows = []
    for i in range(40):
        for side in "ab":
            Image.fromarray(rng.integers(0, 256, (24, 36, 3), dtype=np.uint8)).save(
                tmp_path / f"{i}{side}.png"
            )
        rows.append(f"{i}a.png,{i}b.png")
    (tmp_path / "pairs.csv").write_text("before,after\n" + "\n".join(rows) + "\n")
    command = ("features", tmp_path / "pairs.csv")
    options = ("--backbone", run, "--shard-size", 2, "--quiet")
    assert whatchanged(*command, tmp_path / "one", *options, "--workers", 1, "--device", "cpu")[0] == 0
    killer = Killer(nodes, lambda: len(list((tmp_path / "spread").glob("0*.safetensors"))), 5)
    code, _, err = whatchanged(*command, tmp_path / "spread", *options, "--ray", nodes.address)
    assert code == 0, err
    killer.check(40)
    assert len(contents(tmp_path / "one")) == 40
    assert contents(tmp_path / "spread") == contents(tmp_path / "one")


def test_a_drawn_set_is_that_of_one_process(whatchanged, nodes, tmp_path):
    pytest.importorskip("numba")
    options = ("--scenes", 120, "--seed", 3, "--size", "48x32", "--quiet")
    assert whatchanged("synth", "clevr-change", tmp_path / "one", *options)[0] == 0
    killer = Killer(nodes, lambda: len(list(tmp_path.glob(".spread.*/images/*.png"))), 15)
    code, _, err = whatchanged("synth", "clevr-change", tmp_path / "spread", *options, "--ray", nodes.address)
    assert code == 0, err
    killer.check(120)
    assert len(list((tmp_path / "one" / "images").iterdir())) == 120
    assert contents(tmp_path / "spread") == contents(tmp_path / "one")
