import gzip
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.meteor import paraphrases
from whatchanged.evaluation.metrics.meteor.paraphrases import read_paraphrases

WORDS = ["a", "ab", "b", "é", "!", "a!"]
PHRASES = [" ".join(words) for n in (1, 2, 3) for words in product(WORDS[:4], repeat=n)] + ["a! b", "! a"]


def write(path, entries):
    lines = "".join(f"0.5\n{one}\n{other}\n" for one, other in entries)
    path.write_bytes(gzip.compress(lines.encode()))
    return path


def by_bytes(entry):
    return entry[0].encode()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(PHRASES), st.sampled_from(PHRASES)), unique=True, min_size=1, max_size=40
    ),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=4),
)
def test_what_a_search_through_the_whole_table_finds(tmp_path_factory, entries, sentences):
    table = sorted(entries, key=by_bytes)
    path = write(tmp_path_factory.mktemp("table") / "table.gz", table)
    standing = {" ".join(s[i:j]) for s in sentences for i in range(len(s)) for j in range(i + 1, len(s) + 1)}
    words = {word for sentence in sentences for word in sentence}
    wanted = {}
    for one, other in table:
        if one in standing and set(other.split()) <= words:
            wanted.setdefault(tuple(one.split()), []).append(tuple(other.split()))
    assert read_paraphrases(path, sentences) == wanted


def test_blocks_make_no_difference(tmp_path, monkeypatch):
    path = write(tmp_path / "table.gz", [(f"w{i:03d}", f"v{i}") for i in range(100)])
    monkeypatch.setattr(paraphrases, "_BLOCK", 7)
    assert read_paraphrases(path, [["w042", "v42", "w099"]]) == {("w042",): [("v42",)]}


@pytest.mark.parametrize("content", [b"0.5\na\nb", b"0.5\na\n", b"0.5\na\nb\n0.5\n"])
def test_a_file_that_is_no_table(tmp_path, content):
    path = tmp_path / "table.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(MetricUnavailable, match="not METEOR's table"):
        read_paraphrases(path, [["a"]])


def test_a_table_without_end(tmp_path, monkeypatch):
    path = write(tmp_path / "table.gz", [("a", "b")] * 100)
    monkeypatch.setattr(paraphrases, "MOST_BYTES", 100)
    with pytest.raises(MetricUnavailable, match="above 100 bytes"):
        read_paraphrases(path, [["a"]])


def test_no_file(tmp_path):
    with pytest.raises(MetricUnavailable, match="cannot be read"):
        read_paraphrases(tmp_path / "table.gz", [["a"]])
