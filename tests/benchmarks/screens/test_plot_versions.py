"""What is recorded of plots of two versions."""

import sys

SCRIPT = "screens.plot_versions"


def test_the_seeds_of_the_draws_are_recorded(bench, monkeypatch):
    written = []
    monkeypatch.setattr(bench, "rows_of", lambda pythons, seeds, plots: [{"seed": s} for s in seeds])
    monkeypatch.setattr(bench, "write_result", lambda *given, **more: written.append((given, more)))
    monkeypatch.setattr(sys, "argv", ["plot_versions.py", "a,b", "--seeds", "401,402", "--record"])
    bench.main()
    [((name, *_), more)] = written
    assert name == "plot_versions" and more["seeds"] == {"draw 1": 401, "draw 2": 402}
