from whatchanged.measured.result import KINDS
from whatchanged.measured.signature import CELLS, LENGTH, PARTS, REGIONS


def test_the_parts_follow_one_another_without_a_gap():
    ends = [(part.start, part.stop) for part in PARTS.values()]
    assert [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])]
    assert ends[0] == (0, len(KINDS))
    assert ends[-1][1] + REGIONS * (2 + CELLS * CELLS) == LENGTH
