"""Figures of runs, through the command line, and what is said where a method shows no such thing."""

import pytest
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.errors import RecipeError
from whatchanged.training.figures import open_source

pytestmark = pytest.mark.slow


@pytest.fixture
def trained(whatchanged, tiny_dataset, tmp_path):
    """Trains a recipe for one step a stage; returns the run folder."""

    def train(name, *stages):
        short = ("steps=1", "evaluate_every=0", "metric=CIDEr-D")
        overrides = [part for s in stages for key in short for part in ("--set", f"stage.{s}.{key}")]
        features = [] if name.startswith("clip") else ["--features", tiny_dataset / "features"]
        call = ("train", name, "--data", tiny_dataset, *features, "-o", tmp_path / name, "--quiet")
        code, _, err = whatchanged(*call, *overrides)
        assert code == 0, err
        return tmp_path / name

    return train


@pytest.fixture
def pair(tiny_dataset):
    record = next(record for record in open_dataset(tiny_dataset).records if record.changed)
    return record.before, record.after


def test_scorer_words_and_matched_places(whatchanged, trained, pair, tiny_dataset, tmp_path):
    run = trained("scorer-tiny", "train")
    of_run = ("--run", run, "--device", "cpu")
    out = tmp_path / "a.png"
    for kind in ("words", "alignment"):
        code, _, err = whatchanged("figure", kind, *pair, *of_run, "-o", out, "--force")
        assert code == 0, err
        with Image.open(out) as drawn:
            assert drawn.width > 300
    code, _, err = whatchanged("figure", "blocks", *pair, *of_run, "-o", out, "--force")
    assert code == 2 and "has no joint token" in err
    code, _, err = whatchanged("figure", "alignment", *pair, *of_run, "-o", out, "--force", "--cell", "99,0")
    assert code == 2 and "cell 99,0: the model reads no such cell" in err
    features = tiny_dataset / "features"
    absent = [path.parent / "gone" / path.name for path in pair]  # of a data set without its pictures
    call = ("figure", "alignment", *absent, *of_run, "--features", features, "-o", out, "--force")
    code, _, err = whatchanged(*call)
    assert code == 0, err


def test_pcl_reads_a_given_caption(whatchanged, trained, pair, tmp_path):
    run, out = trained("pcl-tiny", "pretrain", "caption"), tmp_path / "a.svg"
    source = open_source(run)
    word = source.method.vocabulary.entries[-1]
    of_run = ("--run", run, "--device", "cpu", "-o", out)
    code, _, err = whatchanged("figure", "text-to-image", *pair, *of_run, "--caption", f"{word} {word}")
    assert code == 0 and out.read_text().count(f">{word}<") == 2, err
    with pytest.raises(RecipeError, match="its vocabulary lacks xyzzy"):
        source.text_to_image(*pair, f"{word} xyzzy")
    with pytest.raises(RecipeError, match="the caption has 0 words"):
        source.text_to_image(*pair, " ")
    with pytest.raises(RecipeError, match="rebuilds no picture"):
        source.alignment(*pair)


def test_clip4idc_shows_its_blocks(whatchanged, trained, pair, tmp_path):
    run, out = trained("clip4idc-tiny", "retrieval", "caption"), tmp_path / "a.svg"
    code, _, err = whatchanged("figure", "blocks", *pair, "--run", run, "--device", "cpu", "-o", out)
    assert code == 0 and out.read_text().count("inter block") == 2, err
    with pytest.raises(RecipeError, match="reads no given caption"):
        open_source(run).text_to_image(*pair, "a")
