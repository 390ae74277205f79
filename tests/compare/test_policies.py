import json

import pytest
from compare.screens import save, screen

from whatchanged.compare.comparison import compare
from whatchanged.compare.lines import result_lines
from whatchanged.compare.pairs import match_folders
from whatchanged.compare.policies import policy_of, read_policies
from whatchanged.compare.settings import CompareSettings
from whatchanged.compare.words import looked_by
from whatchanged.errors import WhatchangedError
from whatchanged.measured.policy import DEFAULT, POLICIES


def written(tmp_path, rules):
    path = tmp_path / "policies.json"
    path.write_text(json.dumps(rules))
    return path


def test_the_last_pattern_that_fits_holds(tmp_path):
    rules = {"*": "lenient", "icons/*": {"policy": "design-system", "fill": 1}, "icons/old/*": {"fill": 9}}
    found = read_policies(written(tmp_path, rules), DEFAULT)
    assert policy_of(found, DEFAULT, "home.png") is POLICIES["lenient"]
    icon = policy_of(found, DEFAULT, "icons/a.png")
    assert icon.name == "design-system, fill 1" and icon.fill == 1 and icon.color == 2
    assert policy_of(found, DEFAULT, "icons/old/a.png").name == "default, fill 9"
    assert policy_of((), DEFAULT, "home.png") is DEFAULT


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"*": "strict"}, "no policy 'strict'"),
        ({"*": {"fil": 2}}, "no limit 'fil'"),
        ({"*": {"fill": "2"}}, "policy's fill is '2'"),
        ({"*": 3}, "a policy's name or its limits, not 3"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, rules, said):
    with pytest.raises(WhatchangedError, match=r"policies\.json, '\*'") as caught:
        read_policies(written(tmp_path, rules), DEFAULT)
    assert said in str(caught.value)


def test_every_pair_has_its_policy_and_outputs_name_it(tmp_path):
    paler = screen(1).copy()
    paler[paler == paler.max()] -= 4  # a pale fill
    for name in ("a.png", "b/a.png"):
        save(screen(1), tmp_path / "old" / name)
        save(paler, tmp_path / "new" / name)
    policies = read_policies(written(tmp_path, {"b/*": "lenient"}), DEFAULT)
    comparison = compare(
        match_folders(tmp_path / "old", tmp_path / "new"), CompareSettings(policies=policies), workers=1
    )
    told = {line["id"]: (line["policy"], line["changed"]) for line in result_lines(comparison)}
    assert told == {"a.png": ("default", True), "b/a.png": ("lenient", False)}
    assert looked_by(comparison) == "Policy: default; lenient."


def test_policies_are_part_of_what_stored_answers_share(tmp_path):
    usual = CompareSettings()
    policies = read_policies(written(tmp_path, {"b/*": "lenient"}), DEFAULT)
    others = (CompareSettings(policy=POLICIES["lenient"]), CompareSettings(policies=policies))
    assert len({str(one.identity()) for one in (usual, *others)}) == 3
