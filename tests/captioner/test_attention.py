import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save

from whatchanged.captioner.attention import KEY, AttentionFiles, file_name, over_content, pack
from whatchanged.errors import PredictionsError

ABOUT = {"model": {"name": "m"}, "list": "l", "grid": [2, 3], "layer": "last"}


def sentence(*words, hot=0):
    maps = np.zeros((len(words), 2, 2, 3), np.float32)
    maps[:, 1, 1, hot] = 1
    return list(zip(words, maps, strict=True))


def test_what_is_written_is_read(tmp_path):
    (tmp_path / file_name(0)).write_bytes(pack({"a": sentence("the", "cube"), "é/\n": sentence("x")}, ABOUT))
    (tmp_path / file_name(2)).write_bytes(pack({"b": sentence("gone", hot=2)}, ABOUT))
    files = AttentionFiles(tmp_path)
    assert len(files) == 3 and "é/\n" in files and "c" not in files
    assert files.grid == (2, 3) and files.about["layer"] == "last"
    words = files.read("a")
    assert [word for word, _ in words] == ["the", "cube"] and words[0][1].dtype == np.float32
    assert files.heat("b")[1].tolist() == [[0, 0, 0], [0, 0, 1]]


def test_the_heat_is_the_mean_over_content_words():
    maps = np.arange(24, dtype=np.float32).reshape(4, 2, 1, 3)
    words = list(zip(("the", "cube", "has", "gone"), maps, strict=True))
    assert np.array_equal(over_content(words, (1, 3)), (maps[1] + maps[3]) / 2)
    assert np.array_equal(over_content(words[:1], (1, 3)), maps[0])
    assert np.array_equal(over_content([], (1, 3)), np.zeros((2, 1, 3)))


def test_an_empty_folder(tmp_path):
    with pytest.raises(PredictionsError, match="no attention maps"):
        AttentionFiles(tmp_path)


def test_runs_that_do_not_belong_together(tmp_path):
    (tmp_path / file_name(0)).write_bytes(pack({"a": sentence("cube")}, ABOUT))
    second = tmp_path / file_name(1)
    second.write_bytes(pack({"b": sentence("cube")}, {**ABOUT, "model": {"name": "n"}}))
    with pytest.raises(PredictionsError, match="made with another model"):
        AttentionFiles(tmp_path)
    second.write_bytes(pack({"a": sentence("cube")}, ABOUT))
    with pytest.raises(PredictionsError, match=r"1 pairs have maps in another file too \(first: a\)"):
        AttentionFiles(tmp_path)


def head(words, **other):
    return {KEY: json.dumps({**ABOUT, "words": words, **other})}


ONE = np.zeros((1, 2, 2, 3), np.float16)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 64,
        save({"a": ONE}),
        save({"a": ONE}, {KEY: "{"}),
        save({"a": ONE}, {KEY: "[" * 100_000}),
        save({"a": ONE}, head({})),
        save({"a": ONE}, head({"a": ["x"], "b": ["y"]})),
        save({"a": ONE}, head({"a": "x"})),
        save({"a": ONE}, head({"a": ["x"]}, grid=[0, 3])),
        save({"a": ONE}, head({"a": ["x"]}, grid=[2, 10_001])),
        save({"a": ONE[:0]}, head({"a": []})),
        save({"a": ONE}, head({"a": ["x"]}))[:-5],
    ],
)
def test_files_of_strangers(tmp_path, content):
    (tmp_path / file_name(0)).write_bytes(content)
    with pytest.raises(PredictionsError, match=r"attention-0000000\.safetensors.*Caption again"):
        AttentionFiles(tmp_path)


@pytest.mark.parametrize(
    "maps",
    [ONE[:, :1], ONE - 1, ONE + np.inf, np.repeat(ONE, 2, axis=0), ONE.astype(np.float32), ONE.astype(bool)],
)
def test_maps_that_are_none(tmp_path, maps):
    (tmp_path / file_name(0)).write_bytes(save({"a": maps}, head({"a": ["x"]})))
    with pytest.raises(PredictionsError, match="the maps of a should be"):
        AttentionFiles(tmp_path).heat("a")


def test_numbers_that_numpy_does_not_know_are_refused(tmp_path):
    content = save({"a": ONE}, head({"a": ["x"]}))
    assert content.count(b'"F16"') == 1
    same_size = content.replace(b'"F16"', b'"BF16"')  # one byte more of JSON
    length = int.from_bytes(content[:8], "little") + 1
    (tmp_path / file_name(0)).write_bytes(length.to_bytes(8, "little") + same_size[8:])
    with pytest.raises(PredictionsError, match=r"should be .* F16, .*; they are .*, BF16\. Caption again"):
        AttentionFiles(tmp_path).heat("a")


def test_no_torch_to_read_maps(tmp_path):
    (tmp_path / file_name(0)).write_bytes(pack({"a": sentence("cube")}, ABOUT))
    code = (
        "import sys; from whatchanged.captioner.attention import AttentionFiles;"
        f"AttentionFiles({str(tmp_path)!r}).heat('a'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
