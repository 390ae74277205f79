"""Stored tokens of a pool and where they come from."""

import json

import numpy as np
import pytest

from whatchanged.errors import DatasetError, OutputError
from whatchanged.training.objects.pool import open_shards
from whatchanged.training.objects.token_files import claim, open_tokens, origin, tokens_file


@pytest.fixture
def shards(tiny_pool):
    return open_shards(tiny_pool)


@pytest.fixture
def tokens(tiny_pool, shards, tmp_path):
    """Two variants of six tokens of 27 numbers for every picture, with their origin."""
    folder = tmp_path / "tokens"
    claim(folder, origin(tiny_pool, "ab", 2, 6, 27))
    for shard in shards:
        np.save(tokens_file(folder, shard.number), np.full((len(shard), 2, 3, 6, 27), 1 + shard.number, "f2"))
    return folder


def other_pool(folder):
    about = json.loads((folder / "tokens.json").read_text())
    about["pool"]["seed"] += 1
    (folder / "tokens.json").write_text(json.dumps(about))


def other_variants(folder):
    np.save(tokens_file(folder, 1), np.zeros((5, 3, 3, 6, 27), "f2"))


def fewer_triples(folder):
    np.save(tokens_file(folder, 1), np.zeros((4, 2, 3, 6, 27), "f2"))


def cut_file(folder):
    tokens_file(folder, 1).write_bytes(tokens_file(folder, 1).read_bytes()[:300])


def other_numbers(folder):
    np.save(tokens_file(folder, 1), np.zeros((5, 2, 3, 6, 27), "f4"))


def no_origin_readable(folder):
    (folder / "tokens.json").write_text("{")


def nested_origin(folder):
    (folder / "tokens.json").write_text("[" * 100_000)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (other_pool, r"tokens of another pool \(.*Make its own: whatchanged features"),
        (other_variants, r"00001\.tokens\.npy: its tokens are \(5, 3, 3, 6, 27\), wanted \(5, 2, 3, 6, 27\)"),
        (fewer_triples, r"its tokens are \(4, 2, 3, 6, 27\), wanted \(5, 2, 3, 6, 27\)"),
        (cut_file, r"00001\.tokens\.npy: these tokens cannot be read"),
        (other_numbers, "these tokens cannot be read .*float32"),
        (no_origin_readable, r"tokens\.json: cannot be read"),
        (nested_origin, r"tokens\.json: cannot be read \(too many lists"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(tokens, tiny_pool, shards, damage, message):
    assert [float(one.read(4)[1, 2, 5, 26]) for one in open_tokens(tokens, tiny_pool, shards)] == [1, 2]
    damage(tokens)
    with pytest.raises(DatasetError, match=message):
        open_tokens(tokens, tiny_pool, shards)


def test_tokens_of_unknown_origin_are_compared_with_each_other(tokens, tiny_pool, shards):
    (tokens / "tokens.json").unlink()
    assert len(open_tokens(tokens, tiny_pool, shards)) == 2
    other_variants(tokens)
    with pytest.raises(DatasetError, match="wanted"):
        open_tokens(tokens, tiny_pool, shards)


def test_a_folder_is_claimed_once(tokens, tiny_pool):
    claim(tokens, origin(tiny_pool, "ab", 2, 6, 27))
    with pytest.raises(OutputError, match="differ in sha256, tokens: "):
        claim(tokens, origin(tiny_pool, "cd", 2, 7, 27))
