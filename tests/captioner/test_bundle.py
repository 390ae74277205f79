import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_bundle import CARD, WARY

from whatchanged.captioner import bundle as bundles
from whatchanged.captioner.bundle import NoChange, open_bundle, write_bundle
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


def test_what_is_familiar_is_read(wary_folder):
    assert open_bundle(wary_folder).card == WARY


def test_a_card_without_what_is_familiar_says_nothing_of_it(bundle_folder):
    assert "familiar" not in json.loads((bundle_folder / "bundle.json").read_text())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "familiar should be an object"),
        ({"how": "x"}, "familiar.threshold should be a number"),
        ({"threshold": 0.0, "how": "x"}, "familiar.threshold should be a number above 0"),
        ({"threshold": 1.0}, "how should be a text"),
    ],
)
def test_what_is_familiar_is_checked(wary_folder, value, said):
    edit(wary_folder, lambda fields: fields.update(familiar=value))
    assert said in failure(wary_folder)


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


@pytest.mark.parametrize("text", ["{", "", "\xff", "[" * 100_000, "[]", "null"])
def test_card_is_not_json(bundle_folder, text):
    (bundle_folder / "bundle.json").write_bytes(text.encode("latin-1"))
    assert "bundle.json" in failure(bundle_folder)


def test_card_is_enormous(bundle_folder):
    (bundle_folder / "bundle.json").write_text(" " * 4_000_001)
    assert "4,000,001 bytes" in failure(bundle_folder)


def test_unknown_format(bundle_folder):
    edit(bundle_folder, lambda fields: fields.update(format=2))
    message = failure(bundle_folder)
    assert "format is 2" in message and "reads 1" in message


@pytest.mark.parametrize(
    "name", ["../encoder.onnx", "/etc/passwd", "a/b", "..", ".hidden", "a\\b", "", "a\0"]
)
def test_names_cannot_leave_the_folder(bundle_folder, name):
    edit(bundle_folder, lambda fields: fields["files"].update({name: {"size": 1, "sha256": "00"}}))
    assert "not a plain name" in failure(bundle_folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 5),
        ("image_size", [240]),
        ("image_size", [240, 0]),
        ("image_size", [240.5, 160]),
        ("mean", [0.1, 0.2]),
        ("mean", ["a", "b", "c"]),
        ("std", [0.1, 0.0, 0.2]),
        ("grid", "2x3"),
        ("vocabulary", ["a", 1]),
        ("vocabulary", ["a", "b"]),
        ("vocabulary", {"merges": ["t h", "no merge at all"]}),
        ("vocabulary", {"merges": ["\u4e2d a"]}),
        ("special_ids", {"pad": 1}),
        ("max_length", 0),
        ("max_length", True),
        ("no_change", None),
        ("provenance", []),
        ("files", {}),
        ("files", {"encoder.onnx": 5}),
        ("files", {"encoder.onnx": {"size": -1, "sha256": ""}}),
    ],
)
def test_ill_typed_cards(bundle_folder, key, value):
    edit(bundle_folder, lambda fields: fields.update({key: value}))
    message = failure(bundle_folder)
    assert "bundle.json" in message
    assert key in message or "encoder.onnx" in message or "special_ids" in message


@pytest.mark.parametrize("key", ["threshold", "calibration", "how", "sentences"])
def test_no_change_is_whole(bundle_folder, key):
    edit(bundle_folder, lambda fields: fields["no_change"].pop(key))
    assert key in failure(bundle_folder)


def test_who_judges(bundle_folder):
    edit(bundle_folder, lambda fields: fields["no_change"].update(by="ear"))
    assert "no_change.by should be" in failure(bundle_folder)
    edit(bundle_folder, lambda fields: fields["no_change"].pop("by"))
    assert open_bundle(bundle_folder).card.no_change.by == "head"


def test_not_a_number_is_no_number(bundle_folder):
    edit(bundle_folder, lambda fields: fields["no_change"].update(threshold=float("nan")))
    assert "threshold should be a number, it is nan" in failure(bundle_folder)


def test_shipped_names(bundle_folder, monkeypatch):
    monkeypatch.setattr(bundles, "SHIPPED", bundle_folder.parent)
    assert bundles.shipped() == ("tiny",)
    assert open_bundle("tiny").folder == bundle_folder
    with pytest.raises(BundleError, match=r"tinny: .* shipped models are: tiny"):
        open_bundle("tinny")


@given(st.floats(0, 1), st.floats(-5, 5), st.floats(-10, 10))
def test_calibration(p, scale, shift):
    found = NoChange(0.5, scale, shift, "", ()).calibrated(p)
    assert 0 <= found <= 1
    if 1e-6 < p < 1 - 1e-6:
        odds = (p / (1 - p)) ** scale * math.exp(shift)
        assert found == pytest.approx(odds / (1 + odds), rel=1e-6, abs=1e-9)


def test_no_calibration_changes_nothing():
    assert NoChange(0.5, 1.0, 0.0, "", ()).calibrated(0.3) == pytest.approx(0.3)
