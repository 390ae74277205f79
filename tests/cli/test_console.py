from whatchanged.cli.console import counted


def test_one_is_singular():
    assert [counted(n, "pair") for n in (0, 1, 2, 2000)] == ["0 pairs", "1 pair", "2 pairs", "2,000 pairs"]
