from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.meteor_package import write_paraphrases

from whatchanged.evaluation.metrics.meteor.paraphrase_table import read_paraphrases

WORDS = ["a", "ab", "b", "é", "!", "a!"]
PHRASES = [" ".join(words) for n in (1, 2, 3) for words in product(WORDS[:4], repeat=n)] + ["a! b", "! a"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def by_bytes(entry):
    return entry[0].encode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(PHRASES), st.sampled_from(PHRASES)), unique=True, min_size=1, max_size=40
    ),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=4),
)
def test_what_a_search_through_the_whole_table_finds(tmp_path_factory, entries, sentences):
    table = sorted(entries, key=by_bytes)
    path = write_paraphrases(tmp_path_factory.mktemp("table") / "table.gz", table)
    standing = {" ".join(s[i:j]) for s in sentences for i in range(len(s)) for j in range(i + 1, len(s) + 1)}
    words = {word for sentence in sentences for word in sentence}
    wanted = {}
    for one, other in table:
        if one in standing and set(other.split()) <= words:
            wanted.setdefault(tuple(one.split()), []).append(tuple(other.split()))
    assert read_paraphrases(path, sentences) == wanted
