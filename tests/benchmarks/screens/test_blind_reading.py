"""Blind readings: the reader does not learn which state spoke, and every verdict is counted."""

import json

import pytest
from PIL import Image

SCRIPT = "screens.blind_reading"


@pytest.fixture
def pairs(tmp_path):
    """Six changed pairs and four unchanged ones, each as large as its number."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    lines = []
    for number in range(10):
        names = [f"{number}_{when}.png" for when in ("before", "after")]
        for name in names:
            Image.new("RGB", (20 + number, 30), "white").save(folder / name)
        label = "yes" if number < 6 else "no"
        lines.append({"id": f"p{number}", "before": names[0], "after": names[1], "visible_change": label})
    (folder / "pairs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return folder


def answers(path, said):
    path.write_text("".join(json.dumps({"id": name, "caption": text}) + "\n" for name, text in said.items()))
    return path


def test_pairs_are_drawn_by_their_label(bench, pairs):
    chosen = bench.choose(pairs, 3, 4, 2)
    assert chosen == bench.choose(pairs, 3, 4, 2)
    assert set(chosen["changed"]) < {f"p{n}" for n in range(6)} and len(chosen["changed"]) == 4
    assert set(chosen["unchanged"]) < {f"p{n}" for n in range(6, 10)} and len(chosen["unchanged"]) == 2


def test_a_sheet_tells_no_state_and_its_key_every_one(bench, pairs, tmp_path):
    chosen = bench.choose(pairs, 3, 4, 2)
    both = (*chosen["changed"], *chosen["unchanged"])
    one = answers(tmp_path / "a.jsonl", {name: f"{name} by one" for name in both})
    other = answers(tmp_path / "b.jsonl", {name: "both" if name == both[0] else "new" for name in both})
    third = answers(tmp_path / "c.jsonl", dict.fromkeys(both, "both"))
    out = tmp_path / "sheet"
    bench.write_sheet(pairs, chosen, {"one": one, "other": other, "third": third}, out)
    items = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    key = json.loads((out / "key.json").read_text())
    assert len(items) == len(key) == 3 * 6 - 1
    assert all(set(item) == {"item", "picture", "sentence"} for item in items)
    for item in items:
        about = key[str(item["item"])]
        with Image.open(out / item["picture"]) as picture:
            assert picture.size == (2 * (20 + int(about["id"][1:])) + 12, 30)
        if item["sentence"] == "both" and about["id"] == both[0]:
            assert about["states"] == ["other", "third"]
    assert {state for about in key.values() for state in about["states"]} == {"one", "other", "third"}


def test_verdicts_are_counted_for_every_state_that_spoke(bench, tmp_path, capsys):
    key = {"0": {"id": "a", "states": ["old", "new"]}, "1": {"id": "b", "states": ["new"]}}
    verdicts = [{"item": 1, "verdict": "useful"}, {"item": 0, "verdict": "false"}]
    assert bench.count(key, verdicts) == {"old": {"false": 1}, "new": {"false": 1, "useful": 1}}
    with pytest.raises(ValueError, match="not one verdict"):
        bench.count(key, verdicts[:1])
    with pytest.raises(ValueError, match="'good'"):
        bench.count(key, [verdicts[0], {"item": 0, "verdict": "good"}])
    (tmp_path / "key.json").write_text(json.dumps(key))
    (tmp_path / "verdicts").write_text("".join(json.dumps(one) + "\n" for one in verdicts))
    bench.main(["count", str(tmp_path / "key.json"), str(tmp_path / "verdicts")])
    assert "| new | 1 | 0 | 0 | 1 |" in capsys.readouterr().out


def test_two_states_are_put_beside_each_other_where_they_differ(bench, pairs, tmp_path):
    names = [f"p{number}" for number in range(10)]
    rules = answers(tmp_path / "a.jsonl", {name: "both" if name == "p1" else "by rules" for name in names})
    network = answers(
        tmp_path / "b.jsonl", {name: "both" if name == "p1" else "by network" for name in names}
    )
    states = {"rules": rules, "network": network}
    chosen = bench.write_choices(pairs, 7, 5, states, tmp_path / "sheet")
    assert sorted(chosen) == ["p0", "p2", "p3", "p4", "p5"]  # changed, and differently told
    items = [json.loads(line) for line in (tmp_path / "sheet/items.jsonl").read_text().splitlines()]
    key = json.loads((tmp_path / "sheet/key.json").read_text())
    for item in items:
        about = key[str(item["item"])]
        assert (item["one"], item["two"]) == (f"by {about['one']}", f"by {about['two']}")
    with pytest.raises(ValueError, match="differ in 5 pairs"):
        bench.write_choices(pairs, 7, 6, states, tmp_path / "more")


def test_preferences_are_counted_by_state(bench):
    key = {
        "0": {"id": "a", "one": "rules", "two": "network"},
        "1": {"id": "b", "one": "network", "two": "rules"},
    }
    read = [
        {"item": 0, "better": "two", "one": "false", "two": "useful"},
        {"item": 1, "better": "same", "one": "partly", "two": "partly"},
    ]
    counts = bench.count_preferences(key, read)
    assert counts["network"] == {"better": 1, "useful": 1, "partly": 1}
    assert counts["rules"] == {"false": 1, "partly": 1}
    assert counts["same"] == {"better": 1}
    with pytest.raises(ValueError, match="not one answer"):
        bench.count_preferences(key, read[:1])
    with pytest.raises(ValueError, match="no such answer"):
        bench.count_preferences(key, [read[0], {**read[1], "better": "network"}])
