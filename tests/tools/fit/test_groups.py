"""What speaks for one cause, fitted on couples whose cause is known."""

import json
import sys
from dataclasses import replace

import numpy as np
from fit import groups
from support.drawn_page import page

from whatchanged.compare.evidence import FEATURES
from whatchanged.measured import measure
from whatchanged.measured.fitted import CAUSE
from whatchanged.measured.signature import LENGTH

CHANGED = replace(measure(page(), page()), verdict="changed")


def test_what_tells_causes_apart_gets_the_weight():
    rng = np.random.default_rng(0)
    same = np.repeat([True, False], 200)
    features = rng.random((400, len(FEATURES)))
    telling, idle = FEATURES.index("changes"), FEATURES.index("kinds")
    features[:, telling] = np.where(same, 0.1, 0.8) + rng.normal(0, 0.1, 400)
    weights = groups.fit(features, same, np.ones(400))
    assert weights["changes"] < 5 * weights["kinds"] <= 0
    odds = features[:, [telling, idle]] @ [weights["changes"], weights["kinds"]] + weights["constant"]
    assert np.corrcoef(odds, same)[0, 1] > 0.9


def test_the_main_changes_tell_whether_two_pairs_of_a_commit_have_one_cause():
    def pair(*ways):
        return {"changes": [{"kind": kind, "aspect": aspect, "element": "x"} for kind, aspect in ways]}

    fill, line, moved = ("recolored", "fill"), ("recolored", "line"), ("moved", "position")
    assert groups.same_cause(pair(fill), pair(fill, moved)) is True
    assert groups.same_cause(pair(fill), pair(moved, fill)) is None
    assert groups.same_cause(pair(fill), pair(line)) is None
    assert groups.same_cause(pair(fill), pair(moved)) is False


def test_the_tool_writes_a_weight_for_each_feature(monkeypatch, tmp_path):
    """Batches of ten pairs of two causes with signatures of their own; unrelated pairs have others."""
    rng = np.random.default_rng(0)
    signatures = {}

    def pair(folder, number, cause, **fields):
        name = f"{folder}-{number}"
        signatures[name] = tuple(cause + rng.normal(0, 0.01, LENGTH))
        return {"before": name, "after": name, **fields}

    records = {"drawn": [], "real": []}
    for batch in range(3):
        causes = rng.random((2, LENGTH))
        for k in range(10):
            fields = {"held": batch == 2, "commit": f"c{batch}", "causes": [f"cause {k % 2}"]}
            records["drawn"].append(pair("drawn", 10 * batch + k, causes[k % 2], **fields))
    for commit in range(6):
        way = {"kind": "moved", "aspect": "position", "element": "x"}
        for k, cause in enumerate(rng.random((2, LENGTH)).repeat(2, axis=0)):
            change = {**way, "kind": ("moved", "added")[k // 2]}
            fields = {"split": "train", "visible_change": "yes", "repo": f"r{commit}", "commit": f"r{commit}"}
            records["real"].append(pair("real", 4 * commit + k, cause, changes=[change], **fields))
    for name, listed in records.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pairs.jsonl").write_text("\n".join(map(json.dumps, listed)), encoding="utf-8")
    monkeypatch.setattr(groups, "measure", lambda one, _: replace(CHANGED, signature=signatures[one.name]))
    written = []
    monkeypatch.setattr(groups, "write_constants", written.append)
    arguments = ["fit groups", str(tmp_path / "drawn"), str(tmp_path / "real"), "--write"]
    monkeypatch.setattr(sys, "argv", arguments)
    groups.main()
    (told,) = [constants["CAUSE"] for constants in written]
    assert told.keys() == CAUSE.keys() == {"constant", *FEATURES}
    apart = [told[name] for name in groups.DIFFERENCES]
    assert max(apart) <= 0 and min(apart) < -1 and told["constant"] > 0
