from whatchanged.plurals import counted


def test_numbers_and_nouns():
    assert [counted(n, "pair") for n in (0, 1, 2, 2000)] == ["0 pairs", "1 pair", "2 pairs", "2,000 pairs"]
