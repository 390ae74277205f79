import io
import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageDraw

from whatchanged.answers import models
from whatchanged.text.recogniser import can_read


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


def test_exit_code_tells_a_change(describe, pictures):
    assert describe(*pictures, "--exit-code")[0] == 1
    assert describe(pictures[0], pictures[0], "--exit-code")[0] == 0
    assert describe(*pictures)[0] == 0


def test_json(describe, pictures):
    code, out, _ = describe(*pictures, "--json")
    fields = json.loads(out)
    assert code == 0 and out.count("\n") == 1
    assert fields["caption"] == "the square changed" and fields["answer"] == "tiny"
    assert fields["verdict"] == "changed" and fields["changed"] is True and fields["doubtful"] is False
    assert (fields["before"], fields["after"]) == tuple(map(str, pictures))
    assert 0 <= fields["no_change"] < 0.01
    assert not {"words", "heatmaps", "strangeness", "id", "changes"} & fields.keys()


def test_json_of_names_with_control_characters(describe, pictures, tmp_path):
    strange = pictures[1].rename(tmp_path / "af\x85t\x7fe\x1br\u2028é.png")
    code, out, _ = describe(pictures[0], strange, "--json")
    assert code == 0 and json.loads(out)["after"] == str(strange)
    assert out.isprintable() or out.rstrip("\n").isprintable()
    assert "é" in out


def test_maps(describe, pictures):
    code, out, _ = describe(*pictures, "--maps")
    fields = json.loads(out)
    assert code == 0 and out.count("\n") == 1 and fields["caption"] == "the square changed"
    assert np.array(fields["heatmaps"]).argmax() == 11  # the last cell of the second map
    assert [word for word, _ in fields["words"]] == ["the", "square", "changed"]


def test_a_doubtful_pair_says_so_on_stderr(describe, pictures, bundle_folder):
    path = bundle_folder / "bundle.json"
    path.write_text(path.read_text().replace('"shift": 0.0', '"shift": 60.0'))
    _, out, err = describe(*pictures)
    assert out.startswith("the square changed") and "disagree" in err
    assert describe(*pictures, "--quiet")[2] == ""


def test_an_unfamiliar_picture_is_warned_of_in_the_line_of_the_sentence(
    whatchanged, wary_folder, pictures, red
):
    def run(*arguments):
        return whatchanged("describe", "--model", wary_folder, *arguments)

    for pair, which in (
        ((red, pictures[0]), "the picture before looks"),
        ((pictures[0], red), "the picture after looks"),
        ((red, red), "both pictures look"),
    ):
        code, out, _ = run(*pair, "--quiet")
        sentence = out.splitlines()[0]
        assert code == 0 and f"(do not rely on this: {which} unlike anything that tiny has seen)" in sentence
    assert "unlike" not in run(*pictures)[1]


def test_json_tells_how_strange_the_pictures_are(whatchanged, wary_folder, describe, pictures, red):
    _, out, _ = whatchanged("describe", "--model", wary_folder, pictures[0], red, "--maps")
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
        code, out, _ = describe(pictures[0], path, "--maps")
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


# Pictures that no model knows, and differences that are not seen


def drawn(size=(300, 200)):
    pixels = np.full((size[1], size[0], 3), 250, np.uint8)
    pixels[40:60, 20:280] = (30, 60, 200)
    return pixels


def saved(path, pixels, **options):
    Image.fromarray(pixels).save(path, **options)
    return path


@pytest.fixture
def screens(tmp_path):
    """A page, and the same with a button in another colour."""
    after = drawn()
    after[100:130, 100:180] = (200, 30, 30)
    return saved(tmp_path / "a.png", drawn()), saved(tmp_path / "b.png", after)


def test_a_screen_is_measured(whatchanged, screens):
    code, _, err = whatchanged("describe", *screens, "--exit-code")
    assert (code, err) == (1, "")
    fields = json.loads(whatchanged("describe", *screens, "--json")[1])
    assert (fields["answer"], fields["verdict"]) == ("measured", "changed") and "unfamiliar" not in fields
    left, top, right, bottom = fields["changes"][0]["box_after"]
    assert abs(left - 100) <= 4 and abs(top - 100) <= 4 and abs(right - 180) <= 4 and abs(bottom - 130) <= 4
    assert whatchanged("describe", screens[0], screens[0], "--exit-code")[0] == 0


def test_the_model_of_screens_is_the_measured_answer_with_one_remark(whatchanged, screens):
    asked = ("describe", *screens, "--json")
    code, out, err = whatchanged(*asked, "--model", "screens")
    assert code == 0 and json.loads(out) == json.loads(whatchanged(*asked, "--model", "measured")[1])
    assert (
        err.startswith("The model screens is gone; measured answers in its place.") and err.count("\n") == 1
    )
    assert whatchanged(*asked, "--model", "screens", "--quiet")[1:] == (out, "")


def test_what_no_model_knows_is_measured(whatchanged, tmp_path):
    """Grain in every pixel: no screen, no scene."""
    grain = np.random.default_rng(0).integers(0, 256, (160, 240, 3), np.uint8)
    after = grain.copy()
    after[60:100, 80:160] = 0
    pair = saved(tmp_path / "a.png", grain), saved(tmp_path / "b.png", after)
    code, out, err = whatchanged("describe", *pair, "--exit-code")
    assert (code, err) == (1, "")
    assert out.splitlines()[1] == "probability that nothing changed: 0.00"
    assert json.loads(whatchanged("describe", *pair, "--json")[1])["answer"] == "measured"


def test_a_named_model_is_contradicted_on_stderr(whatchanged, bundle_folder, tmp_path):
    after = drawn()
    after[100:104, 100:110] = 0  # too little for the model to see
    pair = saved(tmp_path / "a.png", drawn()), saved(tmp_path / "b.png", after)
    code, out, err = whatchanged("describe", *pair, "--model", bundle_folder, "--exit-code")
    assert out.startswith("there is no change\n") and err.startswith("Measured: Something")
    assert code == 1


def test_its_places_are_drawn(whatchanged, screens, tmp_path):
    out = tmp_path / "where.png"
    assert whatchanged("describe", *screens, "--heatmap", out)[0] == 0
    with Image.open(out) as image:
        assert image.size == (300 + 8 + 300, 200)
        assert image.getpixel((308 + 99, 110)) == (214, 39, 40)


def hidden(tmp_path):
    """Pairs whose pixels look the same, what is said of them, and the exit code."""
    plain = saved(tmp_path / "plain.png", drawn())
    pale = np.where(drawn() == 250, 254, drawn()).astype(np.uint8)  # a hole in it looks the same on white
    holes = np.dstack([pale, np.full((200, 300), 255, np.uint8)])
    holes[100:150, 100:200, 3] = 0
    deep = tmp_path / "deep.tiff"
    Image.fromarray(np.full((200, 300), 514, np.uint16)).save(deep)
    deeper = tmp_path / "deeper.tiff"
    Image.fromarray(np.full((200, 300), 515, np.uint16)).save(deeper)
    exif = Image.Exif()
    exif[0x0112] = 3
    turned = saved(tmp_path / "turned.png", np.ascontiguousarray(drawn()[::-1, ::-1]), exif=exif)
    frames = [Image.fromarray(drawn()), Image.fromarray(255 - drawn())]
    still, moving = tmp_path / "still.gif", tmp_path / "moving.gif"
    frames[0].save(still, save_all=True, append_images=[frames[0].transpose(1)])
    frames[0].save(moving, save_all=True, append_images=[frames[1]])
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    return {
        "alpha": (
            saved(tmp_path / "pale.png", pale),
            saved(tmp_path / "holes.png", holes),
            "transparency",
            1,
        ),
        "depth": (deep, deeper, "8 bits", 0),
        "turn": (plain, turned, "turned", 0),
        "profile": (plain, saved(tmp_path / "lab.png", drawn(), icc_profile=profile), "profile", 0),
        "frames": (still, moving, "animation", 1),
    }


@pytest.mark.parametrize("kind", ["alpha", "depth", "turn", "profile", "frames"])
def test_what_is_not_seen_is_never_passed_over(whatchanged, wary_folder, tmp_path, kind):
    before, after, said, wanted = hidden(tmp_path)[kind]
    code, out, _ = whatchanged("describe", before, after, "--exit-code")
    assert (code, said in out) == (wanted, True), out
    code, out, err = whatchanged("describe", before, after, "--exit-code", "--model", wary_folder)
    assert out.startswith("there is no change") and said in err
    assert code == wanted


def test_scenes_that_differ_in_alpha_alone(whatchanged, tmp_path):
    """The shipped model sees no difference in them, so it is not asked."""
    demo = Path(models.__file__).parents[1] / "models" / "demo" / "00-before.png"
    image = Image.open(demo).convert("RGBA")
    image.putalpha(Image.new("L", image.size, 100))
    image.save(tmp_path / "pale.png")
    code, out, _ = whatchanged("describe", demo, tmp_path / "pale.png", "--exit-code")
    assert code == 1 and out.startswith("The picture faded to about 40 % of its strength.")


# Where pictures come from, and where things go


def test_a_picture_from_stdin(describe, pictures, monkeypatch):
    for pair in (("-", pictures[1]), (pictures[0], "-")):
        file = pictures[pair.index("-")]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
        assert describe(*pair)[1].startswith("the square changed")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "empty" in describe("-", pictures[1])[2]
    code, _, err = describe("-", "-")
    assert code == 2 and "only one of the two" in err


def test_an_address_is_refused(describe, pictures):
    code, out, err = describe("https://example.org/a.png", pictures[0])
    assert (code, out) == (2, "") and "https://example.org/a.png: this is a URL" in err


def test_a_heat_map_on_stdout(bundle_folder, pictures):
    command = [sys.executable, "-m", "whatchanged", "describe", *pictures, "--heatmap", "-"]
    done = subprocess.run([*command, "--model", bundle_folder], capture_output=True, check=True)
    assert Image.open(io.BytesIO(done.stdout)).format == "PNG"
    assert done.stderr.startswith(b"the square changed")


def test_the_help_has_an_example_and_the_limit_of_the_shipped_model(whatchanged):
    _, out, _ = whatchanged("describe", "--help")
    assert "whatchanged describe before.png after.png" in out and "CLEVR" in out


def test_it_loads_no_torch(bundle_folder, pictures):
    program = (
        "import sys; sys.argv = ['whatchanged', 'describe', *sys.argv[1:]]\n"
        "from whatchanged.cli import main\n"
        "try: main()\n"
        "except SystemExit: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, *pictures], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"False"


def test_words_by_default_and_the_measurement_alone(whatchanged, tmp_path):
    if not can_read():
        pytest.skip("the extra text is not installed")
    for name in ("Save", "Open"):
        picture = Image.new("RGB", (320, 200), "white")
        ImageDraw.Draw(picture).text((120, 80), name, fill="black", font_size=24)
        picture.save(tmp_path / f"{name}.png")
    pair = (tmp_path / "Save.png", tmp_path / "Open.png")
    code, out, err = whatchanged("describe", "--model", "measured", *pair)
    assert (code, err) == (0, "") and '"Save" to "Open"' in out
    assert '"' not in whatchanged("describe", "--model", "measured", "--no-read-text", *pair)[1]
    _, line, _ = whatchanged("describe", *pair, "--json")
    (change,) = json.loads(line)["changes"]
    assert change["values"]["text_before"] == "Save" and change["values"]["text_after"] == "Open"


def test_a_verdict_of_compare_is_had_again(whatchanged, tmp_path):
    after = drawn()
    after[100:150, 100:200] -= 4
    for name, pixels in (("old", drawn()), ("new", after)):
        (tmp_path / name / "icons").mkdir(parents=True)
        saved(tmp_path / name / "icons" / "a.png", pixels)
    pair = [tmp_path / name / "icons" / "a.png" for name in ("old", "new")]
    policies, boxes = tmp_path / "policies.json", tmp_path / "boxes.json"
    policies.write_text('{"icons/*": "lenient"}')
    boxes.write_text('{"icons/*": [[100, 100, 200, 150]]}')
    code, out, _ = whatchanged("describe", *pair, "--json", "--exit-code")
    assert code == 1 and json.loads(out)["policy"] == "default" and "ignored_share" not in json.loads(out)
    code, out, _ = whatchanged("describe", *pair, "--exit-code", "--policies", policies)
    assert code == 0 and "policy lenient" in out
    assert whatchanged("describe", *pair, "--exit-code", "--policy", "lenient")[0] == 0
    code, out, _ = whatchanged("describe", *pair, "--json", "--exit-code", "--ignore", boxes)
    assert code == 0 and json.loads(out)["verdict"] == "ignored"
    assert json.loads(out)["ignored_share"] == pytest.approx(5000 / 60000, abs=1e-4)
    code, _, err = whatchanged("describe", *pair, "--policy", "strict")
    assert code == 2 and "lenient, default, design-system" in err


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_picture_that_git_difftool_added_or_removed(whatchanged, pictures, form):
    for given, file in (((os.devnull, pictures[1]), "added"), ((pictures[0], os.devnull), "removed")):
        code, out, err = whatchanged(
            "describe", *given, "--exit-code", *(["--json"] if form == "json" else [])
        )
        assert (code, err) == (1, "")
        if form == "text":
            assert out == f"The picture was {file}.\n"
        else:
            fields = json.loads(out)
            assert fields["file"] == file and fields["changed"] and fields["verdict"] == "changed"


def test_the_null_device_twice_or_beside_no_picture(whatchanged, tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    for other in (os.devnull, tmp_path / "text.png"):
        code, out, err = whatchanged("describe", os.devnull, other)
        assert code == 2 and out == "" and str(other) in err


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_goes_before_the_end_does_not_change_the_exit_code(pictures):
    read, write = os.pipe()
    os.close(read)  # as of a reader that has gone already
    command = [sys.executable, "-m", "whatchanged", "describe", pictures[0], pictures[0], "--exit-code"]
    try:
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
