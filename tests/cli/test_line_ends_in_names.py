"""Names of files that hold line ends and commands of build services: no output passes them on."""

import json

import pytest
from support.compared_screens import save, screen, with_square

EVIL = (
    *(f"a{end}::add-mask::x" for end in ("\n", "\r", "\x85", "\u2028")),
    "::stop-commands::y",
    "##[add-mask]z",
)


@pytest.fixture
def run(whatchanged, tmp_path, monkeypatch):
    """The command in the folder; (exit code, all that was printed), checked."""
    monkeypatch.chdir(tmp_path)

    def checked(*arguments, own=0):
        code, said, err = whatchanged(*arguments)
        lines = [line.strip() for text in (said, err) for line in text.splitlines()]
        assert sum(line.startswith("::") for line in lines) == own, (arguments, said, err)
        assert "##[" not in said + err.replace("\\x23#[", "")
        assert "Traceback" not in err
        return code, said + err

    return checked


def folders(folder, kind):
    """old/ and new/ with a picture of each name."""
    for name in EVIL:
        save(screen(), folder / "old" / f"{name}.png")
        save(with_square(screen()) if kind == "changed" else screen(), folder / "new" / f"{name}.png")
        if kind == "broken":
            (folder / "new" / f"{name}.png").write_bytes(b"no picture")
        if kind == "added":
            (folder / "old" / f"{name}.png").unlink()
    if kind == "added":
        save(screen(5), folder / "old" / "::gone::.png")


@pytest.mark.parametrize("kind", ["same", "changed", "broken", "added"])
def test_compare(run, tmp_path, kind):
    folders(tmp_path, kind)
    code, _ = run("compare", "old", "new", "-o", "out", "--workers", 1)
    assert code == (kind != "same")
    run(
        "compare",
        "old",
        "new",
        "-o",
        "out",
        "--annotations",
        "github",
        "--workers",
        1,
        own={"same": 0, "changed": 1, "broken": 6, "added": 7}[kind],
    )
    for name in ("a\n::add-mask::x.png", "::stop-commands::y.png", "nothing\n::add-mask::x.png"):
        run("compare", "old", "new", "-o", "out", "--workers", 1, "--accept", name)


def test_caption_dataset_describe_and_evaluate(run, tmp_path):
    for name in EVIL:
        for side in ("before", "after"):
            save(screen(), tmp_path / "set" / side / f"{name}.png")
    (tmp_path / "set" / "after" / f"{EVIL[1]}.png").write_bytes(b"no picture")
    (tmp_path / "set" / "test.txt").write_text("::add-mask::q\n")
    assert run("dataset", "set")[0] == 2
    (tmp_path / "set" / "test.txt").unlink()
    assert run("dataset", "set")[0] == 0
    assert run("caption", "set", "-o", "out.jsonl")[0] == 1
    for name in EVIL:
        picture = tmp_path / "set" / "after" / f"{name}.png"
        run("describe", picture, picture)
        run("describe", picture, picture, "--json")
        run("describe", f"{name}.png", picture)
        run("describe", picture, picture, f"{name}.png")
        run("dataset", f"{name}.csv")
        run("models", name)
        run("recipes", name)
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "caption": "a"}) + "\n")
        (tmp_path / "list.jsonl").write_text(
            json.dumps({"id": name, "before": "x", "after": "y", "captions": ["a"]}) + "\n"
        )
        assert run("evaluate", f"{name}.jsonl", "list.jsonl", "--tokenizer", "plain")[0] in (0, 2)
        (tmp_path / "list.jsonl").write_text('{"id": "1", "before": "x", "after": "y", "captions": ["a"]}\n')
        assert run("evaluate", f"{name}.jsonl", "list.jsonl")[0] == 2
        run("caption", f"{name}.jsonl", "-o", "other.jsonl")
