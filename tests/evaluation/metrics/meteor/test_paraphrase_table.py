import gzip

import pytest
from support.meteor_package import write_paraphrases

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.meteor import paraphrase_table
from whatchanged.evaluation.metrics.meteor.paraphrase_table import read_table

ENTRIES = [("a", "b"), ("a", "b c"), ("a b", "c"), ("a!", "\u2028 d"), ("b c", "a")]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "whatchanged" / "meteor"


@pytest.fixture
def path(tmp_path):
    return write_paraphrases(tmp_path / "table.gz", ENTRIES)


def check(table):
    assert table.group("a") == (["b", "b c"], True)
    assert table.group("a b") == (["c"], False)
    assert table.group("a!") == (["\u2028 d"], False)
    assert table.group("b") == ([], True)
    assert table.group("0") == table.group("z") == table.group("a b c") == ([], False)


def test_the_table_is_unpacked_once(path, cache, monkeypatch):
    check(read_table(path))
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(paraphrase_table, "_unpacked", lambda *_: pytest.fail("unpacked again"))
    check(read_table(path))


def test_another_table_is_not_taken_from_the_cache(path, cache):
    read_table(path)
    other = write_paraphrases(path, [("a", "other")])
    assert read_table(other).group("a") == (["other"], False)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-30], lambda data: data.replace(b"b\nb c\n", b"b\nX c\n")]
)
def test_a_damaged_cache_is_made_again(path, cache, damage, monkeypatch):
    read_table(path)
    [kept] = cache.iterdir()
    data = kept.read_bytes()
    kept.write_bytes(damage(data))
    assert kept.read_bytes() != data
    check(read_table(path))
    monkeypatch.setattr(paraphrase_table, "_unpacked", lambda *_: pytest.fail("unpacked again"))
    check(read_table(path))


def test_without_a_cache(path, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    check(read_table(path))


def test_blocks_make_no_difference(tmp_path, monkeypatch):
    path = write_paraphrases(tmp_path / "table.gz", [(f"w{i:03d}", f"v{i}") for i in range(100)])
    monkeypatch.setattr(paraphrase_table, "_BLOCK", 7)
    assert read_table(path).group("w042") == (["v42"], False)


@pytest.mark.parametrize("content", [b"", b"0.5\na\nb", b"0.5\na\n", b"0.5\na\nb\n0.5\n"])
def test_a_file_that_is_no_table(tmp_path, content):
    path = tmp_path / "table.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(MetricUnavailable, match="not METEOR's table"):
        read_table(path)


def test_a_table_without_end(tmp_path, monkeypatch):
    path = write_paraphrases(tmp_path / "table.gz", [("a", "b")] * 100)
    monkeypatch.setattr(paraphrase_table, "MOST_BYTES", 100)
    with pytest.raises(MetricUnavailable, match="above 100 bytes"):
        read_table(path)


def test_no_file(tmp_path):
    with pytest.raises(MetricUnavailable, match="cannot be read"):
        read_table(tmp_path / "table.gz")
