"""Cases of people who compare pictures, with the right verdicts; skipped where they are not there."""

import json
import os
from pathlib import Path

import pytest

from whatchanged.answers import Answerer

FOLDER = Path(os.environ.get("GATE_CASES", Path(__file__).parents[3] / "shared" / "data" / "cases"))
CASES = (
    [json.loads(line) for line in (FOLDER / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    if (FOLDER / "cases.jsonl").is_file()
    else []
)
"""id, before, after, verdict (changed, same, either)."""


@pytest.mark.slow
@pytest.mark.skipif(not CASES, reason="the cases are not there; GATE_CASES names their folder")
def test_every_decided_case_is_right():
    answerer = Answerer(threads=1)
    said = {
        case["id"]: answerer.answer(FOLDER / case["before"], FOLDER / case["after"]).changed for case in CASES
    }
    wanted = {case["id"]: case["verdict"] == "changed" for case in CASES if case["verdict"] != "either"}
    assert {name: said[name] for name in wanted} == wanted
