import json
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def describe(whatchanged, bundle_folder):
    return lambda *arguments: whatchanged("describe", "--model", bundle_folder, *arguments)


def test_a_sentence_on_stdout(describe, pictures):
    code, out, err = describe(*pictures)
    assert (code, err) == (0, "")
    assert out == "the square changed\nprobability that nothing changed: 0.00\n"


def test_nothing_changed(describe, pictures):
    code, out, _ = describe(pictures[0], pictures[0])
    assert code == 0
    assert out.splitlines()[0] == "there is no change"


def test_exit_code_goes_by_the_sentence(describe, pictures):
    assert describe(*pictures, "--exit-code")[0] == 1
    assert describe(pictures[0], pictures[0], "--exit-code")[0] == 0
    assert describe(*pictures)[0] == 0


def test_json(describe, pictures):
    code, out, _ = describe(*pictures, "--json")
    fields = json.loads(out)
    assert code == 0 and out.count("\n") == 1
    assert fields["caption"] == "the square changed"
    assert fields["changed"] is True and fields["doubtful"] is False
    assert 0 <= fields["no_change"] < 0.01
    assert np.array(fields["heatmaps"]).argmax() == 11  # the last cell of the second map
    assert [word for word, _ in fields["words"]] == ["the", "square", "changed"]


def test_a_doubtful_pair_says_so_on_stderr(describe, pictures, bundle_folder):
    path = bundle_folder / "bundle.json"
    path.write_text(path.read_text().replace('"shift": 0.0', '"shift": 60.0'))
    _, out, err = describe(*pictures)
    assert out.startswith("the square changed") and "disagree" in err
    assert describe(*pictures, "--quiet")[2] == ""


def test_an_unfamiliar_picture_is_warned_of(whatchanged, wary_folder, pictures, red):
    def run(*arguments):
        return whatchanged("describe", "--model", wary_folder, *arguments)

    for pair, which in (
        ((red, pictures[0]), "The picture before looks"),
        ((pictures[0], red), "The picture after looks"),
        ((red, red), "Both pictures look"),
    ):
        code, out, err = run(*pair)
        assert code == 0 and err.startswith(which) and err.count("\n") == 1
        assert "unlike anything that tiny has seen" in err and "unlike" not in out
    assert run(*pictures)[2] == "" and run(red, red, "--quiet")[2] == ""


def test_json_tells_how_strange_the_pictures_are(whatchanged, wary_folder, describe, pictures, red):
    _, out, _ = whatchanged("describe", "--model", wary_folder, pictures[0], red, "--json")
    fields = json.loads(out)
    assert fields["unfamiliar"] is True and fields["strangeness"] == [0.0, 4.0]
    _, out, _ = whatchanged("describe", "--model", wary_folder, *pictures, "--json")
    assert json.loads(out)["unfamiliar"] is False
    assert "unfamiliar" not in json.loads(describe(*pictures, "--json")[1])


def test_heat_map(describe, pictures, tmp_path):
    out = tmp_path / "heat.png"
    assert describe(*pictures, "--heatmap", out)[0] == 0
    with Image.open(out) as image:
        assert image.format == "PNG" and image.size == (480 + 8 + 480, 320 + 22)
    first = out.read_bytes()
    code, _, err = describe(pictures[0], pictures[0], "--heatmap", out)
    assert code == 2 and "exists already" in err and "--force" in err
    assert out.read_bytes() == first
    assert describe(pictures[0], pictures[0], "--heatmap", out, "--force")[0] == 0
    assert out.read_bytes() != first


@pytest.mark.parametrize(
    ("change", "mode"),
    [
        (lambda image: image.resize((96, 80)), None),
        (lambda image: Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257), None),
        (lambda image: image, "L"),
        (lambda image: image, "P"),
        (lambda image: image, "RGBA"),
    ],
    ids=["other size", "16-bit", "grayscale", "palette", "RGBA"],
)
def test_kinds_of_pictures(describe, pictures, tmp_path, change, mode):
    image = change(Image.open(pictures[1]))
    path = tmp_path / "other.png"
    (image.convert(mode) if mode else image).save(path)
    assert describe(pictures[0], path)[1].splitlines()[0] == "the square changed"


def test_turned_jpeg_and_webp(describe, pictures, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    turned = tmp_path / "turned.jpg"
    Image.open(pictures[1]).rotate(180).save(turned, exif=exif, quality=98, subsampling=0)
    webp = tmp_path / "a.webp"
    Image.open(pictures[1]).save(webp)
    for path in (turned, webp):
        code, out, _ = describe(pictures[0], path, "--json")
        assert code == 0 and np.array(json.loads(out)["heatmaps"]).argmax() == 11


def spoiled(tmp_path, pictures):
    """Pictures that cannot be used, and what is said of each."""
    text = tmp_path / "text.png"
    text.write_text("this is no picture at all")
    truncated = tmp_path / "truncated.png"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(truncated)
    truncated.write_bytes(truncated.read_bytes()[:6000])
    pixel = tmp_path / "pixel.png"
    Image.new("RGB", (1, 1)).save(pixel)
    huge = tmp_path / "huge.png"
    header = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    huge.write_bytes(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    )
    return [
        (tmp_path / "missing.png", "no such file"),
        (text, "not a picture"),
        (truncated, "cannot decode the picture"),
        (pixel, "1 x 1 pixels"),
        (huge, "30,000 x 30,000 pixels"),
        (tmp_path, "folder"),
    ]


def test_bad_pictures_leave_nothing_behind(describe, pictures, tmp_path):
    out = tmp_path / "heat.png"
    for path, said in spoiled(tmp_path, pictures):
        for pair in ((path, pictures[0]), (pictures[0], path)):
            code, stdout, err = describe(*pair, "--heatmap", out)
            assert (code, stdout) == (2, ""), path
            assert err.startswith("whatchanged: ") and str(path) in err and said in err
            assert err.count("\n") == 1
            assert not out.exists()


def test_bad_models(whatchanged, bundle_folder, pictures, tmp_path):
    code, _, err = whatchanged("describe", *pictures, "--model", tmp_path / "none")
    assert code == 2 and "there is no such model" in err
    path = bundle_folder / "decoder.onnx"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    out = tmp_path / "heat.png"
    code, stdout, err = whatchanged("describe", *pictures, "--model", bundle_folder, "--heatmap", out)
    assert (code, stdout) == (2, "") and "decoder.onnx" in err and "changed" in err
    assert not out.exists()


def test_outputs_that_cannot_be(describe, pictures, tmp_path):
    assert "not there" in describe(*pictures, "--heatmap", tmp_path / "no" / "heat.png")[2]
    assert "folder" in describe(*pictures, "--heatmap", tmp_path)[2]
    code, stdout, err = describe(*pictures, "--heatmap", tmp_path / "heat.jpg")
    assert (code, stdout) == (2, "") and "ends in .png" in err and not (tmp_path / "heat.jpg").exists()


def test_wrong_usage(describe, pictures):
    assert describe(pictures[0])[0] == 2
    assert describe(*pictures, "--beams", "0")[0] == 2
    assert describe(*pictures, "--no-such-option")[0] == 2


def test_a_name_in_another_encoding(whatchanged, describe, pictures, tmp_path):
    odd = tmp_path / os.fsdecode(b"\xe9.png")
    pictures[0].rename(odd)
    code, out, _ = describe(odd, pictures[1], "--json")
    assert code == 0 and json.loads(out)["before"] == str(odd) and "\\udce9.png" in out


def test_a_heat_map_replaces_no_picture_of_the_pair(describe, pictures):
    before = pictures[1].read_bytes()
    code, _, err = describe(*pictures, "--heatmap", pictures[1], "--force")
    assert code == 2 and "one of the inputs" in err and pictures[1].read_bytes() == before
