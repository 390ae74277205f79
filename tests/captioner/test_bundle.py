import json

import pytest
from support.tiny_bundle import CARD

from whatchanged.captioner import bundle as bundles
from whatchanged.captioner.bundle import open_bundle, write_bundle
from whatchanged.errors import BundleError


def edit(folder, change):
    path = folder / "bundle.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    change(fields)
    path.write_text(json.dumps(fields), encoding="utf-8")


def failure(folder):
    with pytest.raises(BundleError) as error:
        open_bundle(folder).check()
    return str(error.value)


def test_what_is_written_is_read(bundle_folder):
    bundle = open_bundle(bundle_folder)
    bundle.check()
    assert bundle.card == CARD
    assert set(bundle.files) == {"encoder.onnx", "decoder.onnx", "README.md"}
    assert bundle.size == sum((bundle_folder / name).stat().st_size for name in bundle.files)
    assert bundle.read("README.md") == b"# tiny\n"


def test_the_fingerprint_stands_for_every_file(bundle_folder):
    first = open_bundle(bundle_folder).fingerprint
    assert write_bundle(bundle_folder, CARD).fingerprint == first
    (bundle_folder / "README.md").write_text("# other\n")
    assert write_bundle(bundle_folder, CARD).fingerprint != first
    assert not list(bundle_folder.glob(".*"))  # no draft is left


def test_folder_missing(tmp_path):
    message = failure(tmp_path / "none")
    assert "none" in message and "no such model" in message


def test_no_model_folder(tmp_path):
    assert "no bundle.json" in failure(tmp_path)


def test_file_missing(bundle_folder):
    (bundle_folder / "decoder.onnx").unlink()
    assert "decoder.onnx: the file is missing" in failure(bundle_folder)


def test_byte_changed(bundle_folder):
    path = bundle_folder / "encoder.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    message = failure(bundle_folder)
    assert "encoder.onnx" in message and "changed" in message and "SHA-256" in message


def test_length_changed(bundle_folder):
    size = (bundle_folder / "README.md").stat().st_size
    (bundle_folder / "README.md").write_bytes(b"#" * (size + 1))
    message = failure(bundle_folder)
    assert f"{size + 1} bytes" in message and f"says {size}" in message


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "",
        "\xff",
        "[" * 100_000,
        "[]",
        "null",
        '{"format": 1' + "0" * 5000 + "}",
        '{"format": ' + "[" * 5000,
    ],
)
def test_card_is_not_json(bundle_folder, text):
    (bundle_folder / "bundle.json").write_bytes(text.encode("latin-1"))
    assert "bundle.json" in failure(bundle_folder)


def test_card_is_enormous(bundle_folder):
    (bundle_folder / "bundle.json").write_text(" " * 4_000_001)
    assert "4,000,001 bytes" in failure(bundle_folder)


@pytest.mark.parametrize(
    "name", ["../encoder.onnx", "/etc/passwd", "a/b", "..", ".hidden", "a\\b", "", "a\0"]
)
def test_names_cannot_leave_the_folder(bundle_folder, name):
    edit(bundle_folder, lambda fields: fields["files"].update({name: {"size": 1, "sha256": "00"}}))
    assert "not a plain name" in failure(bundle_folder)


def test_shipped_names(bundle_folder, monkeypatch):
    monkeypatch.setattr(bundles, "SHIPPED", bundle_folder.parent)
    assert bundles.shipped() == ("tiny",)
    assert open_bundle("tiny").folder == bundle_folder
    with pytest.raises(BundleError, match=r"tinny: .* shipped models are: tiny"):
        open_bundle("tinny")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "files should be an object"),
        ({}, "it lists no encoder.onnx"),
        ({"encoder.onnx": 5}, "files.encoder.onnx should be an object"),
        ({"encoder.onnx": {"size": -1, "sha256": ""}}, "files.encoder.onnx.size should be a whole number"),
        ({"encoder.onnx": {"size": 1}}, "files.encoder.onnx.sha256 should be a text"),
    ],
)
def test_ill_typed_lists_of_files(bundle_folder, value, message):
    edit(bundle_folder, lambda fields: fields.update(files=value))
    assert message in failure(bundle_folder)


def test_whether_it_has_weights(bundle_folder):
    assert not open_bundle(bundle_folder).has_weights
    (bundle_folder / "weights.safetensors").write_bytes(b"weights")
    assert write_bundle(bundle_folder, CARD).has_weights
