"""The commands read and write by URL what they read and write by path, byte for byte."""

import json
import sys
from pathlib import Path

import pytest
from support.s3_server import store as s3_store
from support.tiny_sets import clevr_change

pytestmark = pytest.mark.filterwarnings("ignore")
store = s3_store
KINDS = ["memory", pytest.param("store", marks=pytest.mark.slow)]


@pytest.fixture
def memory():
    """The URL of an empty folder in memory."""
    fsspec = pytest.importorskip("fsspec", reason="needs the extra scale")
    pytest.importorskip("upath", reason="needs the extra scale")
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    return "memory://here"


def at(url):
    from whatchanged.scale.urls import path_of

    return path_of(url)


def put(folder, url):
    """Copy a folder to where the URL says."""
    for path in folder.rglob("*"):
        if path.is_file():
            (at(url) / path.relative_to(folder).as_posix()).write_bytes(path.read_bytes())


def contents(folder):
    return {
        str(path).removeprefix(str(folder)).lstrip("/"): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_url_is_a_path(memory):
    path = at(f"{memory}/a/pairs.csv")
    path.write_text("x")
    assert path.name == "pairs.csv" and path.read_text() == "x" and str(path) == f"{memory}/a/pairs.csv"
    assert at("a/b.csv") == Path("a/b.csv") and at("file:///tmp/x") == Path("/tmp/x")


@pytest.mark.parametrize("kind", KINDS)
def test_captions(whatchanged, bundle_folder, pictures, tmp_path, request, kind):
    url = request.getfixturevalue(kind)
    rows = [f"before.png,{('before', 'after')[i % 2]}.png,p{i}" for i in range(9)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "pairs.csv").write_text("before,after,id\n" + "\n".join(rows) + "\n")
    for picture in pictures:
        picture.rename(tmp_path / "in" / picture.name)
    put(tmp_path / "in", f"{url}/in")
    options = ("--model", bundle_folder, "--quiet")
    out = tmp_path / "out.jsonl"
    assert whatchanged("caption", tmp_path / "in" / "pairs.csv", "-o", out, *options)[0] == 0
    code, _, err = whatchanged("caption", f"{url}/in/pairs.csv", "-o", f"{url}/out.jsonl", *options)
    assert code == 0, err
    assert at(f"{url}/out.jsonl").read_bytes() == out.read_bytes()
    sidecars = [
        json.loads(p.read_bytes()) for p in (at(f"{url}/out.jsonl.meta.json"), Path(f"{out}.meta.json"))
    ]
    assert sidecars[0] == sidecars[1]
    # there already
    code, _, err = whatchanged("caption", f"{url}/in/pairs.csv", "-o", f"{url}/out.jsonl", *options)
    assert code == 2 and "exists already" in err
    # in one of the field's formats, of a list of this machine whose pictures lie there
    listed = "\n".join(f"{url}/in/before.png,{url}/in/after.png,p{i}" for i in range(2))
    (tmp_path / "urls.csv").write_text(f"before,after,id\n{listed}\n")
    coco = ("caption", tmp_path / "urls.csv", "-o", f"{url}/out.json", "--format", "coco", *options)
    code, _, err = whatchanged(*coco)
    assert code == 0, err
    assert json.loads(at(f"{url}/out.json").read_text())[1] == {
        "image_id": "p1",
        "caption": "the square changed",
    }


def test_a_data_set(whatchanged, bundle_folder, memory, tmp_path):
    clevr_change(tmp_path / "scenes")
    (tmp_path / "scenes" / "sc_images" / "CLEVR_semantic_000003.png").write_text("no picture")
    put(tmp_path / "scenes", f"{memory}/scenes")
    options = ("--model", bundle_folder, "--quiet")
    assert whatchanged("caption", tmp_path / "scenes", "-o", tmp_path / "out.jsonl", *options)[0] == 1
    code, _, err = whatchanged("caption", f"{memory}/scenes", "-o", tmp_path / "far.jsonl", *options)
    assert code == 1, err
    here, far = ((tmp_path / name).read_text() for name in ("out.jsonl", "far.jsonl"))
    assert far == here.replace(f"{tmp_path}/scenes", f"{memory}/scenes")  # in the message of the bad picture
    (at(f"{memory}/scenes/images") / "CLEVR_default_000003.png").unlink()
    code, _, err = whatchanged("caption", f"{memory}/scenes", "-o", tmp_path / "gone.jsonl", *options)
    assert code == 2 and "pictures are missing: 1" in err


def test_an_output_that_is_not_finished_is_not_there(
    whatchanged, bundle_folder, store, pictures, tmp_path, monkeypatch
):
    from whatchanged.captions import one_by_one

    (tmp_path / "pairs.csv").write_text("before,after\n" + "before.png,after.png\n" * 3)
    line = one_by_one._line
    monkeypatch.setattr(
        one_by_one, "_line", lambda pair, *rest: 1 / 0 if pair.pair_id == "3" else line(pair, *rest)
    )
    command = ("caption", tmp_path / "pairs.csv", "--model", bundle_folder, "--batch-size", 1)
    code, _, err = whatchanged(*command, "-o", f"{store}/half.jsonl")
    assert code == 70 and "ZeroDivisionError" in err
    assert not at(f"{store}/half.jsonl").exists() and not at(f"{store}/half.jsonl.meta.json").exists()


def test_an_interrupted_output_elsewhere_is_not_told_to_be_there(
    whatchanged, bundle_folder, memory, pictures, tmp_path, monkeypatch
):
    from whatchanged.captions import one_by_one

    def interrupted(*_):
        raise KeyboardInterrupt

    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    monkeypatch.setattr(one_by_one, "_line", interrupted)
    command = ("caption", tmp_path / "pairs.csv", "--model", bundle_folder)
    code, _, err = whatchanged(*command, "-o", f"{memory}/half.jsonl")
    assert code == 130 and "half.jsonl appears only when it is whole" in err and "--resume" not in err
    code, _, err = whatchanged(*command, "-o", tmp_path / "half.jsonl")
    assert code == 130 and "continue with --resume" in err


@pytest.mark.parametrize("option", [("--html", "p.html"), ("--attention", "maps"), ("--resume",)])
def test_what_does_not_go_with_a_url(whatchanged, bundle_folder, memory, pictures, tmp_path, option):
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    command = (
        "caption",
        tmp_path / "pairs.csv",
        "--model",
        bundle_folder,
        "-o",
        f"{memory}/o.jsonl",
        *option,
    )
    code, _, err = whatchanged(*command)
    assert code == 2 and f"{option[0]} does not go with a URL" in err


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nosuch://x/pairs.csv", "this URL cannot be used"),
        ("memory://nowhere/pairs.csv", "there is no such file or folder"),
    ],
)
def test_urls_that_lead_nowhere(whatchanged, memory, tmp_path, url, message):
    code, _, err = whatchanged("caption", url, "-o", tmp_path / "out.jsonl")
    assert code == 2 and message in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_does_not_answer_is_named(whatchanged, memory, tmp_path, monkeypatch):
    def silent(self):
        raise RuntimeError("Name or service not known")

    monkeypatch.setattr(type(at(memory)), "exists", silent)
    code, _, err = whatchanged("caption", f"{memory}/pairs.csv", "-o", tmp_path / "out.jsonl")
    assert code == 2 and "memory://here/pairs.csv: this place cannot be reached (Name or" in err


@pytest.mark.slow
def test_a_bucket_that_is_not_there(whatchanged, store, tmp_path):
    code, _, err = whatchanged("caption", "s3://nobucket/pairs.csv", "-o", tmp_path / "out.jsonl")
    assert code == 2 and "there is no such file or folder" in err


def test_the_missing_extra_is_named(whatchanged, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "upath", None)
    code, _, err = whatchanged("caption", "s3://bucket/pairs.csv", "-o", tmp_path / "out.jsonl")
    assert code == 2 and "[scale]" in err


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("http://127.0.0.1/x.png", "a list may name files and URLs of s3, gs"),
        ("zip://x.png::memory://here/x.zip", "a list may name files and URLs of s3, gs"),
    ],
)
def test_a_list_asks_nobody_it_should_not(whatchanged, memory, tmp_path, entry, message):
    (tmp_path / "pairs.csv").write_text(f"before,after\n{entry},{entry}\n")
    code, _, err = whatchanged("caption", tmp_path / "pairs.csv", "-o", tmp_path / "out.jsonl")
    assert code == 2 and message in err


@pytest.mark.parametrize("entry", ["../secret.png", "/secret.png", "s3://other/secret.png"])
def test_a_list_elsewhere_stays_in_its_folder(whatchanged, memory, tmp_path, entry):
    at(f"{memory}/in/pairs.csv").write_text(f"before,after\n{entry},{entry}\n")
    code, _, err = whatchanged("caption", f"{memory}/in/pairs.csv", "-o", tmp_path / "out.jsonl")
    assert code == 2 and "leaves the folder" in err


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons(whatchanged, pictures, tmp_path, request, kind):
    url = request.getfixturevalue(kind)
    for name, picture in (("old", pictures[0]), ("new", pictures[1])):
        (tmp_path / name / "deep").mkdir(parents=True)
        for file in ("one.png", "deep/two.png"):
            (tmp_path / name / file).write_bytes(picture.read_bytes())
    (tmp_path / "new" / "added.png").write_bytes(pictures[0].read_bytes())
    (tmp_path / "old" / "same.png").write_bytes(pictures[0].read_bytes())
    (tmp_path / "new" / "same.png").write_bytes(pictures[0].read_bytes())
    for name in ("old", "new"):
        put(tmp_path / name, f"{url}/{name}")
    here = whatchanged("compare", tmp_path / "old", tmp_path / "new", "-o", tmp_path / "out")
    far = whatchanged("compare", f"{url}/old", f"{url}/new", "-o", f"{url}/compared")
    assert far[:2] == here[:2] and far[0] == 1 and "index.html is not written" in far[2]
    lines = (tmp_path / "out" / "results.jsonl").read_text()
    assert at(f"{url}/compared/results.jsonl").read_text() == lines.replace(str(tmp_path), url)
    assert sorted(contents(at(f"{url}/compared"))) == ["junit.xml", "results.jsonl", "summary.md"]
    again = whatchanged("compare", f"{url}/old", f"{url}/new", "-o", f"{url}/compared", "--embed")
    assert again[0] == 1 and "data:image/png;base64" in at(f"{url}/compared/index.html").read_text()
    code, _, err = whatchanged("compare", f"{url}/old", f"{url}/new", "-o", f"{url}/new")
    assert code == 2 and "files of others lie there" in err
    code, _, err = whatchanged("compare", f"{url}/old")
    assert code == 2 and "one folder with both" in err


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    pytest.importorskip("torch")
    from support.tiny_run import TINY, make_run

    return make_run(tmp_path_factory.mktemp("places") / "run", "clevr-see", TINY)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [(), ("--npy",)])
def test_features(whatchanged, small, tmp_path, request, kind, form):
    url = request.getfixturevalue(kind)
    clevr_change(tmp_path / "scenes")
    put(tmp_path / "scenes", f"{url}/scenes")
    options = ("--backbone", small, "--shard-size", 2, "--workers", 1, "--device", "cpu", "--quiet", *form)
    out = f"{url}/out{len(form)}"
    assert whatchanged("features", tmp_path / "scenes", tmp_path / "out", *options)[0] == 0
    code, said, err = whatchanged("features", f"{url}/scenes", out, *options)
    assert code == 0, err
    here, far = contents(tmp_path / "out"), contents(at(out))
    assert far == here and len(here) == 3 + 4 * len(form)
    name = next(name for name in far if name != "features.json")
    (at(out) / name).unlink()
    code, said, _ = whatchanged("features", f"{url}/scenes", out, *options)
    assert code == 0 and f"; 1 {'files' if form else 'shards'} written" in said
    assert contents(at(out)) == here


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_set(whatchanged, tmp_path, request, kind):
    pytest.importorskip("numba")
    url = request.getfixturevalue(kind)
    options = ("--scenes", 5, "--seed", 3, "--size", "48x32", "--quiet")
    assert whatchanged("synth", "clevr-change", tmp_path / "one", *options)[0] == 0
    code, _, err = whatchanged("synth", "clevr-change", f"{url}/drawn", *options)
    assert code == 0, err
    assert contents(at(f"{url}/drawn")) == contents(tmp_path / "one")
    code, _, err = whatchanged("synth", "clevr-change", f"{url}/drawn", *options)
    assert code == 2 and "exists already" in err
    code, _, err = whatchanged("synth", "clevr-pool", f"{url}/pool", *options)
    assert code == 2 and "drawn on this machine's disk" in err


def test_a_set_that_is_not_finished_is_removed(whatchanged, memory, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("whatchanged.synth.clevr.twin._annotations", lambda *a: 1 / 0)
    code, _, _ = whatchanged("synth", "clevr-change", f"{memory}/drawn", "--scenes", 2, "--size", "48x32")
    assert code == 70 and contents(at(memory)) == {}


@pytest.mark.parametrize("header", [b"[]", b"[[1]]", b'{"features": 1}', b"[" * 5000])
def test_a_header_of_features_elsewhere_that_is_none_is_told(memory, header):
    from whatchanged.errors import DatasetError
    from whatchanged.training.data.grid_files import GridFiles

    (at(memory) / "00000.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(DatasetError, match="no features that whatchanged wrote"):
        GridFiles(at(memory))
