"""What is recorded of kinds of pictures that nothing was found of."""

import json
import sys
from types import SimpleNamespace

SCRIPT = "clevr.strange"


def test_a_kind_without_pictures_is_recorded(bench, tmp_path, monkeypatch, capsys):
    """Its least distance is None, which JSON can hold."""
    written = {}
    records = SimpleNamespace(records=[SimpleNamespace(before=tmp_path)])
    monkeypatch.setattr(bench, "load", lambda model, threads: None)
    monkeypatch.setattr(bench, "open_dataset", lambda folder: records)
    monkeypatch.setattr(bench, "_false_alarms", lambda captioner, folder: {})
    monkeypatch.setattr(bench, "strange_pictures", lambda *asked: [("photographs", [])])
    monkeypatch.setattr(bench, "write_result", lambda *given, **more: written.update(given[2]))
    monkeypatch.setattr(sys, "argv", ["strange.py", "model", "--scenes", "twin", "--record"])
    bench.main()
    assert json.loads(json.dumps(written, allow_nan=False))["strange"][0]["least_distance"] is None
    assert "least strangeness -;" in capsys.readouterr().out
