import gzip
import sys
import types

import pytest
from support.meteor_package import make_package

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.meteor import tables


@pytest.fixture
def package(tmp_path, monkeypatch):
    pytest.importorskip("snowballstemmer", reason="the extra eval is not installed")
    make_package(tmp_path, senses={"cube": "1"}, paraphrases=[("a", "b")])
    monkeypatch.setattr(tables, "reference_package", lambda metric: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "meteor"


def test_all_tables_are_read(package):
    found = tables.read_tables()
    assert found.function_words == {"the", "of"} and found.abbreviations == {"Mr": 1, "No": 2}
    assert found.synonyms.of("cube") == {"1"} and found.stem("cubes") == "cube"
    assert found.paraphrases([("a",), ("b",)]) == {("a",): [("b",)]}


def test_a_damaged_jar(package):
    (package / tables.JAR).write_bytes(b"no jar")
    with pytest.raises(MetricUnavailable, match=r"meteor-1\.5\.jar: its tables cannot be read"):
        tables.read_tables()


def test_a_table_that_is_too_large(package, monkeypatch):
    monkeypatch.setattr(tables, "MOST_MEMBER_BYTES", 3)
    with pytest.raises(MetricUnavailable, match="larger than 3 bytes"):
        tables.read_tables()


def test_another_stemmer_than_meteors(package, monkeypatch):
    """Version 3 of the package leaves both letters of "add"."""
    module = types.ModuleType("snowballstemmer.english_stemmer")
    module.EnglishStemmer = lambda: types.SimpleNamespace(stemWord=lambda word: word.removesuffix("ed"))
    monkeypatch.setitem(sys.modules, "snowballstemmer.english_stemmer", module)
    with pytest.raises(MetricUnavailable, match="snowballstemmer<3"):
        tables.read_tables()


def test_no_stemmer(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer.english_stemmer", None)
    with pytest.raises(MetricUnavailable, match=r"snowballstemmer.*\[eval\]"):
        tables.read_tables()


def test_a_damaged_table_of_paraphrases(package):
    (package / tables.PARAPHRASES).write_bytes(gzip.compress(b"0.5\na\nb\n")[:-9])
    with pytest.raises(MetricUnavailable, match=r"paraphrase-en\.gz"):
        tables.read_tables().paraphrases([("a",)])
