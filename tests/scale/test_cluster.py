"""What goes wrong on a cluster ends in one message; what goes right, in results in order."""

import os
import sys

import pytest

from whatchanged.errors import ImageError, MissingExtra, WhatchangedError
from whatchanged.processes import in_order, worker_pool, works_elsewhere
from whatchanged.scale.cluster import joined


def square(number):
    return number * number


def fail(number):
    if number == 3:
        raise ImageError("3.png: there is no such file.")
    if number == 4:
        raise ZeroDivisionError("a fault of ours")
    return number


def end_the_worker(number):
    os._exit(1)


_STARTED = []


def start(*given):
    _STARTED.append(given)


def started(_):
    return list(_STARTED)


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    wanted = r"--ray needs ray.*Run: pip install .*\[scale\]"
    with pytest.raises(MissingExtra, match=wanted), joined("local"):
        pass
    assert not works_elsewhere()


def test_nothing_is_written_without_the_extra(whatchanged, pictures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", tmp_path / "pairs.csv", "-o", out, "--ray", "local")
    assert code == 2 and "[scale]" in err and not out.exists()


@pytest.mark.parametrize(
    "command",
    [("features", "data", "out", "--backbone", "b"), ("synth", "clevr-change", "out", "--scenes", "1")],
)
def test_a_cluster_works_on_cpus(whatchanged, command):
    pytest.importorskip("torch")
    code, _, err = whatchanged(*command, "--device", "cuda", "--ray", "local")
    assert code == 2 and "--ray works on CPUs" in err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_cluster_at_the_address(whatchanged, pictures, tmp_path, ray):
    assert not ray.is_initialized(), "the cluster of other tests would be used"
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", tmp_path / "pairs.csv", "-o", out, "--ray", "no such address")
    assert code == 2 and "--ray no such address: no Ray cluster can be used there" in err
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestOnTheCluster:
    def test_results_come_in_order_and_once(self, nodes):
        with joined(nodes.address) as workers, worker_pool(workers) as pool:
            assert workers == 3 and works_elsewhere()
            assert list(pool.map(square, range(700))) == [n * n for n in range(700)]
            assert list(in_order(pool.submit(square, n) for n in range(50))) == [n * n for n in range(50)]

    def test_a_worker_is_prepared_once_for_each_pool(self, nodes):
        with joined(nodes.address) as workers:
            for key in ("one", "two"):
                with worker_pool(workers, start, (key,)) as pool:
                    for seen in pool.map(started, range(12)):
                        assert seen[-1] == (key,) and len(set(seen)) == len(seen)

    def test_errors_are_those_of_the_work(self, nodes):
        with joined(nodes.address) as workers:
            wanted = r"^3\.png: there is no such file\.$"
            with pytest.raises(WhatchangedError, match=wanted), worker_pool(workers) as pool:
                list(pool.map(fail, range(4)))
            with pytest.raises(ZeroDivisionError, match="of ours") as raised, worker_pool(workers) as pool:
                pool.submit(fail, 4).result()
            assert "in fail" in raised.value.__notes__[0]

    def test_what_ends_every_worker_is_told(self, nodes, monkeypatch):
        monkeypatch.setattr("whatchanged.scale.cluster.TRIES", 1)
        wanted = "was lost with 2 workers of the cluster"
        with (
            pytest.raises(WhatchangedError, match=wanted),
            joined(nodes.address) as workers,
            worker_pool(workers) as pool,
        ):
            pool.submit(end_the_worker, 1).result(60)

    def test_a_worker_that_does_not_see_the_files_says_so(self, nodes, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        wanted = r"gone: a worker of the cluster, on .*, does not see it"
        with (
            pytest.raises(WhatchangedError, match=wanted),
            joined(nodes.address, [tmp_path / "gone"]) as workers,
            worker_pool(workers) as pool,
        ):
            pool.submit(square, 1).result(60)
        with joined(nodes.address, [tmp_path]) as workers, worker_pool(workers) as pool:
            assert pool.submit(os.getcwd).result(60) == str(tmp_path)
