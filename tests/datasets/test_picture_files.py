import os

import pytest

from whatchanged.datasets.picture_files import is_picture, listed, pictures_below
from whatchanged.errors import DatasetError


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def test_pictures_by_their_endings_hidden_names_left_out(tmp_path):
    make(tmp_path, "b.PNG", "a/c.jpeg", "a/notes.txt", ".git/x.png", "a/.y.png", "d.svg", "e.svg", "f.pdf")
    walked = pictures_below(tmp_path)
    results, others = walked.pictures, walked.others
    assert list(results) == ["a/c.jpeg", "b.PNG"]
    assert results["a/c.jpeg"] == tmp_path / "a" / "c.jpeg"
    assert others == {".svg": 2, ".pdf": 1}
    assert is_picture("x.tiff") and not is_picture("x.tiff.txt")


def test_a_folder_can_be_left_out_and_links_to_folders_are(tmp_path):
    make(tmp_path, "a.png", "out/old/b.png")
    (tmp_path / "round").symlink_to(tmp_path, target_is_directory=True)
    assert list(pictures_below(tmp_path, [tmp_path / "out"]).pictures) == ["a.png"]


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    make(tmp_path, "a.png")
    with pytest.raises(DatasetError, match="there is no such folder"):
        pictures_below(tmp_path / "no")
    with pytest.raises(DatasetError, match="this is a file"):
        pictures_below(tmp_path / "a.png")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DatasetError, match="cannot list this folder"):
        pictures_below(tmp_path)


def test_too_many_files_are_not_walked(tmp_path, monkeypatch):
    monkeypatch.setattr("whatchanged.datasets.picture_files.MOST_FILES", 2)
    make(tmp_path, "a.png", "b.txt")
    pictures_below(tmp_path)
    make(tmp_path, "c.txt")
    with pytest.raises(DatasetError, match="more than 2 files"):
        pictures_below(tmp_path)


def test_a_name_in_a_store_may_look_like_a_url():
    pytest.importorskip("upath", reason="needs the extra scale")
    from whatchanged.scale.urls import path_of

    store = path_of("memory://named-like-urls")
    for name in ("a.png", "httphost::localhost:9"):
        store.fs.pipe(f"{store.path}/{name}", b"1")
    assert listed([store / "a.png", store / "b.png"]) == {store / "a.png"}
