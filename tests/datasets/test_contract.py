"""Every reader of ours keeps the contract that plug-ins are held to."""

import pytest
from support.tiny_sets import SETS

from whatchanged.testing import check_dataset


@pytest.mark.parametrize("name", SETS)
def test_our_readers_keep_the_contract(name, tmp_path):
    root = tmp_path / name
    root.mkdir()
    SETS[name](root)
    check_dataset(root / "pairs.jsonl" if name == "plain" else root, name)
