from whatchanged.evaluation.metrics.meteor.synonyms import read_synonyms

SENSES = "ball\n1 2\nbox\n3\nfly\n4\nman\n5\nmouse\n6\nmove\n7\nmov\n8\npass\n9\nas\n10\nfood\n\n"
TABLE = read_synonyms(SENSES, "mouse\nmice\nball\nmice ballz\n")


def test_a_words_own_senses():
    assert TABLE.of("ball") == {"1", "2"} and TABLE.of("food") == TABLE.of("unheard") == frozenset()


def test_endings_are_taken_off_in_order():
    assert TABLE.of("balls") == {"1", "2"}
    assert TABLE.of("boxes") == {"3"} and TABLE.of("flies") == {"4"} and TABLE.of("men") == {"5"}
    assert TABLE.of("moved") == {"7"}  # "move" is tried before "mov"
    assert TABLE.of("movest") == {"8"}  # and here after it


def test_short_words_and_those_in_ss_have_no_ending():
    assert TABLE.of("pass") == {"9"} and TABLE.of("as") == {"10"}


def test_irregular_forms():
    assert TABLE.of("mice") == {"6", "1", "2"} and TABLE.of("ballz") == {"1", "2"}
