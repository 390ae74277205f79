"""Rows of a file that are compared with their checksums when they are first read."""

import hashlib
import shutil

import numpy as np
import pytest
from support.strange_arrays import STRANGE

from whatchanged.errors import DatasetError
from whatchanged.training.objects.checked_rows import CheckedRows, checksums
from whatchanged.training.objects.pool import open_shards
from whatchanged.training.objects.token_files import claim, open_tokens, origin, tokens_file, write_tokens

ROWS = np.arange(24, dtype=np.float16).reshape(4, 2, 3)


def flip(path, place):
    """One bit of a file, ``place`` bytes from its end."""
    content = bytearray(path.read_bytes())
    content[-place] ^= 1
    path.write_bytes(content)


def test_a_checksum_is_the_sha256_of_a_rows_bytes():
    found = checksums(ROWS)
    assert found.shape == (4, 32) and found.dtype == np.uint8
    assert found[2].tobytes() == hashlib.sha256(ROWS[2].tobytes()).digest()
    assert np.array_equal(checksums(np.asfortranarray(ROWS)), found)
    assert checksums(ROWS[:0]).shape == (0, 32)


def test_a_row_is_hashed_once(tmp_path, monkeypatch):
    rows = CheckedRows(tmp_path / "x", ROWS, checksums(ROWS), "Mend it.")
    hashed = []
    monkeypatch.setattr(
        "whatchanged.training.objects.checked_rows.hashlib",
        type("H", (), {"sha256": staticmethod(lambda data: hashed.append(1) or hashlib.sha256(data))}),
    )
    for i in (3, 1, 3, 1):
        assert np.array_equal(rows.read(i), ROWS[i])
    assert len(hashed) == 2 and len(rows) == 4 and rows.shape == ROWS.shape


def test_a_changed_row_is_named_and_the_others_are_read(tmp_path):
    changed = ROWS.copy()
    changed[2, 1, 2] += 1
    rows = CheckedRows(tmp_path / "x", changed, checksums(ROWS), "Mend it.")
    assert np.array_equal(rows.read(1), ROWS[1])
    for _ in range(2):
        with pytest.raises(DatasetError, match=r"x: row 2 was changed since it was written.*Mend it\."):
            rows.read(2)
    assert np.array_equal(CheckedRows(tmp_path / "x", changed, None, "").read(2), changed[2])


@pytest.mark.parametrize("expected", [checksums(ROWS)[:3], checksums(ROWS).astype(np.int16), np.array(3)])
def test_checksums_of_another_form(tmp_path, expected):
    with pytest.raises(ValueError, match=r"checksums .* for 4 rows"):
        CheckedRows(tmp_path / "x", ROWS, expected, "")


def test_a_flipped_bit_in_a_pools_pictures_is_noticed(tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    flip(pool / "00001.pictures.npy", 1)  # in the last triple
    whole, damaged = open_shards(pool)
    assert np.array_equal(whole.triples.read(4), whole.pictures[4])
    assert np.array_equal(damaged.triples.read(3), damaged.pictures[3])
    with pytest.raises(DatasetError, match=r"00001\.pictures\.npy: row 4 was changed.*Delete this shard"):
        damaged.triples.read(4)


def test_a_flipped_bit_in_a_pools_truth_is_noticed(tiny_pool, tmp_path):
    """A Zip file has a checksum of every entry."""
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    path = pool / "00000.truth.npz"
    flip(path, path.stat().st_size - 200)
    with pytest.raises(DatasetError, match="this shard or its truth cannot be read"):
        open_shards(pool)


def test_a_pool_without_checksums_is_read(tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    with np.load(pool / "00000.truth.npz") as truth:
        np.savez(pool / "00000.truth.npz", **{name: truth[name] for name in truth if name != "sha256"})
    flip(pool / "00000.pictures.npy", 1)
    shard = open_shards(pool)[0]
    assert np.array_equal(shard.triples.read(4), shard.pictures[4])


@pytest.fixture
def tokens(tiny_pool, tmp_path):
    """Stored tokens of a pool, as the command ``features`` writes them."""
    folder = tmp_path / "tokens"
    claim(folder, origin(tiny_pool, "ab", 2, 6, 27))
    for shard in open_shards(tiny_pool):
        write_tokens(folder, shard.number, np.full((5, 2, 3, 6, 27), 1 + shard.number, np.float16))
    return folder


def test_a_flipped_bit_in_stored_tokens_is_noticed(tokens, tiny_pool):
    flip(tokens_file(tokens, 1), 1)
    whole, damaged = open_tokens(tokens, tiny_pool, open_shards(tiny_pool))
    assert (whole.read(4) == 1).all() and (damaged.read(3) == 2).all()
    with pytest.raises(DatasetError, match=r"00001\.tokens\.npy: row 4 was changed .*store its tokens anew"):
        damaged.read(4)


@pytest.mark.parametrize("kind", STRANGE)
def test_checksums_that_cannot_be_read(tokens, tiny_pool, kind):
    (tokens / "00001.sha256.npy").write_bytes(STRANGE[kind])
    with pytest.raises(DatasetError, match=r"00001\.sha256\.npy: these checksums cannot be read"):
        open_tokens(tokens, tiny_pool, open_shards(tiny_pool))


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["00001.pictures.npy", "00001.truth.npz"])
def test_shards_that_are_no_arrays(tiny_pool, tmp_path, name, kind):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    (pool / name).write_bytes(STRANGE[kind])
    with pytest.raises(DatasetError, match="this shard or its truth cannot be read"):
        open_shards(pool)


@pytest.mark.parametrize("kind", STRANGE)
def test_tokens_that_are_no_arrays(tokens, tiny_pool, kind):
    tokens_file(tokens, 1).write_bytes(STRANGE[kind])
    with pytest.raises(DatasetError, match=r"00001\.tokens\.npy: these tokens cannot be read"):
        open_tokens(tokens, tiny_pool, open_shards(tiny_pool))
