"""A run as a bundle: what it says, what it tells of itself, and what is refused."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from support.tiny_run import BACKBONE, SMALL_PICTURES, make_run

import whatchanged as package
from whatchanged.captioner.bundle import open_bundle
from whatchanged.captioner.card import GridAttention
from whatchanged.errors import BundleError, OutputError, RecipeError
from whatchanged.recipes import FeaturesConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import read_examples
from whatchanged.training.export import export_run, trained_model
from whatchanged.training.export import pictures as picture_export
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.validation import write_captions
from whatchanged.vocabulary import MASK, UNK, padded

WIDER = [*BACKBONE, *SMALL_PICTURES, "vision.channels=[8, 8, 16]"]
SHORT = [
    "stage.pretrain.steps=3",
    "stage.caption.steps=12",
    "stage.caption.lr=1e-2",
    "stage.caption.evaluate_every=0",
]
TOLD = [f"vision.{key}=true" for key in ("matching", "scene_context", "occlusion", "landmarks")]
OBJECTS = ["vision.kind=objects", *WIDER, "vision.keep=6", *TOLD, *SHORT]


@pytest.fixture(scope="module")
def run(tiny_dataset, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "run"
    settings = [*OBJECTS, f"data.path={tiny_dataset}"]
    start = make_run(folder.with_name("start"), "pcl-tiny", settings)
    run_recipe(load_recipe("pcl-tiny", settings), folder, quiet=True, device="cpu", init=start)
    first = json.loads((folder / "environment.json").read_text())
    (folder / "environment.json").write_text(json.dumps({**first, "launches": [first]}))
    return folder


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    return export_run(run, tmp_path_factory.mktemp("bundle") / "tiny", "tiny")


@pytest.fixture
def traced(bundle, monkeypatch):
    """The run's graphs are those of ``bundle`` again: torch's tracing is most of what an export takes."""

    def copied(method, pictures, folder, distance):
        for graph in ("encoder.onnx", "decoder.onnx"):
            shutil.copy(bundle.folder / graph, folder)

    monkeypatch.setattr(picture_export, "write_graphs", copied)


def test_the_bundle_says_what_the_run_says(run, bundle, tiny_dataset):
    recipe, method, _ = open_run(run)
    source = picture_export.open_sources(recipe, run).validation
    batch = method.collate([source.example(i, np.random.default_rng(0)) for i in range(len(source))])
    records = source.records
    captioner = package.load(bundle.folder)
    described = captioner.describe([r.before for r in records], [r.after for r in records])
    assert [d.sentence for d in described] == write_captions(method, batch)
    assert described[0].heatmaps.shape == (2, 4, 6)
    alone = captioner.describe(records[0].before, records[0].after)
    assert alone.sentence == described[0].sentence


def test_the_card_tells_where_the_model_comes_from(bundle):
    card = bundle.card
    assert (card.name, card.method, card.preset, card.world) == ("tiny", "pcl", "paper", "clevr")
    assert (card.input.size, card.attention, card.max_length) == ((48, 32), GridAttention(4, 6), 28)
    environment = card.provenance["environment"]
    assert environment["launches"][0]["python"] == environment["python"]
    for launch in (environment, *environment["launches"]):
        assert not {"command", "init"} & launch.keys()
    assert card.provenance["recipe"] == "pcl-tiny"
    assert card.provenance["graphs_against_torch"]["ids"] == "equal"
    assert card.provenance["graphs_against_torch"]["largest_difference"] < 1e-3
    assert "there is no change" in card.no_change.sentences
    assert "8 validation pairs (4 without change)" in card.no_change.how
    text = (bundle.folder / "README.md").read_text()
    assert text.startswith("---\n") and "pipeline_tag" in text
    assert set(bundle.files) == {"encoder.onnx", "decoder.onnx", "weights.safetensors", "README.md"}
    assert not card.folded_norms


@pytest.mark.parametrize("content", [None, "[1, 2]", "{"])
def test_a_run_whose_environment_is_not_known_is_exported(run, traced, tmp_path, content):
    """As one whose weights were packed without it: what it started from is not known either."""
    bare = shutil.copytree(run, tmp_path / "run")
    (bare / "environment.json").unlink()
    if content is not None:
        (bare / "environment.json").write_text(content)
    card = export_run(bare, tmp_path / "bundle", "bare").card
    assert card.provenance["environment"] == {} and card.provenance["from_nothing"] is None


def test_no_path_of_the_machine_is_exported(bundle, run, tiny_dataset):
    for file in ("bundle.json", "README.md"):
        text = (bundle.folder / file).read_text()
        assert str(tiny_dataset) not in text and str(run) not in text


def test_half_storage_shrinks_the_weights_and_keeps_the_words(run, bundle, traced, tmp_path, whatchanged):
    code, out, err = whatchanged("export", run, tmp_path / "half", "--fp16")
    assert code == 0, err
    half = open_bundle(tmp_path / "half")
    assert json.loads(out)["bytes"] == half.size
    sizes = [sum(b.files[f"{graph}.onnx"].size for graph in ("encoder", "decoder")) for b in (half, bundle)]
    assert sizes[0] < 0.75 * sizes[1]
    stored = {w.data_type for w in onnx.load(tmp_path / "half" / "encoder.onnx").graph.initializer}
    assert onnx.TensorProto.FLOAT16 in stored


def test_graphs_that_say_something_else_are_refused(run, tmp_path, monkeypatch):
    """The decoder is exported with its output layer turned over: every word differs."""
    whole = picture_export.write_graphs

    def spoiled(method, pictures, folder, distance):
        method.output.weight.data.neg_()
        whole(method, pictures, folder, distance)
        method.output.weight.data.neg_()

    monkeypatch.setattr(picture_export, "write_graphs", spoiled)
    with pytest.raises(BundleError, match="captions of the exported graphs differ from torch's"):
        export_run(run, tmp_path / "bundle", "b")
    assert list(tmp_path.iterdir()) == []


def test_a_model_is_kept_unless_forced_and_other_things_in_any_case(
    run, bundle, traced, tmp_path, monkeypatch
):
    folder, other, empty = (tmp_path / name for name in ("bundle", "other", "empty"))
    shutil.copytree(bundle.folder, folder)
    (folder / "README.md").write_text("x")
    other.mkdir()
    (other / "precious.txt").write_text("x")
    empty.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(trained_model, "open_run", None)  # refused before any work
        for place in (folder, other, empty):
            with pytest.raises(OutputError, match="exists already"):
                export_run(run, place, "b")
        with pytest.raises(OutputError, match="holds other files than a model's"):
            export_run(run, other, "b", force=True)
    assert (folder / "README.md").read_text() == (other / "precious.txt").read_text() == "x"
    for place in (folder, empty):
        export_run(run, place, "b", force=True)
        assert open_bundle(place).card.name == "b" and "# b" in (place / "README.md").read_text()


def test_a_model_that_is_replaced_is_never_lost(run, bundle, traced, tmp_path, monkeypatch):
    """Broken off before the new one takes its place, and while the old one is cleared away."""
    folder = shutil.copytree(bundle.folder, tmp_path / "bundle")
    moved, cleared = Path.rename, shutil.rmtree

    def not_moved(path, target):
        if target == folder and path.suffix == ".draft":
            raise KeyboardInterrupt
        return moved(path, target)

    def not_cleared(path, **options):
        if path.suffix == ".replaced":
            raise KeyboardInterrupt
        cleared(path, **options)

    for owner, name, stop, standing in (
        (Path, "rename", not_moved, "tiny"),
        (shutil, "rmtree", not_cleared, "b"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, stop)
            with pytest.raises(KeyboardInterrupt):
                export_run(run, folder, "b", force=True)
        assert open_bundle(folder).card.name == standing
        open_bundle(folder).check()


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_folder_is_refused_before_any_work(run, tmp_path, monkeypatch, force):
    monkeypatch.setattr(trained_model, "open_run", None)
    file, link, nowhere = (tmp_path / name for name in ("file", "link", "nowhere"))
    file.write_text("x")
    link.symlink_to(tmp_path, target_is_directory=True)
    nowhere.symlink_to(tmp_path / "gone")
    for place in (file, link, nowhere):
        with pytest.raises(OutputError, match="is a file or a link, and a model is a folder"):
            export_run(run, place, "b", force=force)
    assert file.read_text() == "x" and link.is_symlink() and nowhere.is_symlink()


def test_other_data_need_validation_pairs_and_nothing_else(run, traced, tiny_dataset, tmp_path, monkeypatch):
    """A list without a train split, for a recipe whose examples are scenes, and with a task that mines."""
    recipe, method, state = open_run(run)
    scenes = replace(recipe, data=replace(recipe.data, examples="scenes", exchange=True))
    records = picture_export.open_sources(recipe, run).validation.records
    rows = [
        {
            "id": r.pair_id,
            "before": str(r.before.relative_to(tiny_dataset)),
            "split": "val",
            "after": str(r.after.relative_to(tiny_dataset)),
            "captions": list(r.captions),
        }
        for r in records
    ]
    data = tiny_dataset / "validation_pairs.jsonl"
    data.write_text("\n".join(json.dumps(row) for row in rows))
    monkeypatch.setattr(trained_model, "open_run", lambda *_: (scenes, method, state))
    try:
        made = export_run(run, tmp_path / "b", "b", data=data)
    finally:
        data.unlink()
    assert made.card.provenance["graphs_against_torch"]["pairs"] == len(records)
    assert made.card.no_change.how.startswith(f"maximum likelihood on {len(records)} validation pairs")


def test_runs_that_no_bundle_can_be_made_of_are_refused(run, tmp_path, monkeypatch):
    recipe, method, state = open_run(run)
    stored = replace(recipe, vision=FeaturesConfig())
    monkeypatch.setattr(trained_model, "open_run", lambda *_: (stored, method, state))
    with pytest.raises(RecipeError, match="reads precomputed features"):
        export_run(run, tmp_path / "b", "b")


SCORER = [
    "vision.kind=backbone",
    *WIDER,
    "stage.train.steps=30",
    "stage.train.lr=1e-2",
    "stage.train.evaluate_every=0",
]
AUTHORS = [*SCORER, "method.preset=authors"]
SUBTRACTION = [
    "method.difference=subtract",
    "method.layers=2",
    "method.view_weight=0",
    "method.reason_weight=0",
]
HEADLESS = ["vision.kind=backbone", *WIDER, *SHORT, "method.distractor_judging=false"]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("scorer-tiny", SCORER, id="scorer-paper"),
        pytest.param("scorer-tiny", AUTHORS, id="scorer-authors"),
        pytest.param("scorer-tiny", [*AUTHORS, *SUBTRACTION], id="scorer-subtraction"),
        pytest.param("pcl-tiny", HEADLESS, id="pcl-headless"),
        pytest.param("duda-tiny", SCORER, id="duda"),
        pytest.param("dirl-tiny", SCORER, id="dirl"),
    ],
)
def test_a_method_without_a_head_is_judged_by_its_sentences(name, settings, tiny_dataset, tmp_path):
    """The bundle's probability is the share of the no-change sentences, as torch finds it, calibrated."""
    folder = tmp_path / "run"
    recipe = load_recipe(name, [*settings, f"data.path={tiny_dataset}"])
    run_recipe(recipe, folder, quiet=True, device="cpu")
    bundle = export_run(folder, tmp_path / "bundle", "tiny")
    _, method, _ = open_run(folder)
    source = picture_export.open_sources(recipe, folder).validation
    examples = list(read_examples(source, range(len(source))))
    sentences = bundle.card.no_change.sentences
    assert (bundle.card.method, bundle.card.no_change.by) == (recipe.method.name, "sentences")
    captioner = package.load(bundle.folder)
    described = captioner.describe([r.before for r in source.records], [r.after for r in source.records])
    assert [d.sentence for d in described] == write_captions(method, method.collate(examples))
    batch = method.collate(examples)
    judged = torch.zeros(len(examples), dtype=torch.float64)
    for sentence in sentences:
        ids = torch.tensor(padded([method.vocabulary.sentence(sentence)], 20) * len(examples))
        if UNK in ids:
            continue
        total = torch.zeros_like(judged)
        for position in range(1, len(sentence.split()) + 2):
            asked = ids[:, : position + 1].clone()
            asked[:, position] = MASK
            with torch.no_grad():
                logits = method.caption_logits(batch.before, batch.after, asked)[:, position]
            share = logits.double().log_softmax(1)[torch.arange(len(ids)), ids[:, position]]
            total += share
        judged += total.exp()
    wanted = [bundle.card.no_change.calibrated(p) for p in judged.tolist()]
    assert [d.no_change for d in described] == pytest.approx(wanted, abs=1e-3)
    assert judged.min() > 0 and judged.max() < 1
    assert described[0].heatmaps.shape == (2, 4, 6) and described[0].heatmaps.max() > 0


def test_a_vision_that_is_not_trained_keeps_its_weights_and_statistics(run, tiny_dataset, tmp_path):
    recipe, _, _ = open_run(run)
    stage = replace(recipe.stages[1], train_vision=False, steps=2)
    frozen = replace(recipe, stages=(replace(recipe.stages[0], steps=1, train_vision=False), stage))
    less = replace(frozen, stages=frozen.stages[:1])
    for one, name in ((frozen, "frozen"), (less, "less")):
        run_recipe(one, tmp_path / name, quiet=True, device="cpu", init=run)
    more, less = (open_run(tmp_path / name, "last")[1].vision.state_dict() for name in ("frozen", "less"))
    seen = [name for name in more if name.startswith(("backbone.", "heads."))]
    assert "backbone.stem.0.1.running_mean" in seen
    assert [name for name in seen if not (more[name] == less[name]).all()] == []


def test_an_unfinished_run_is_exported_only_when_that_is_asked(tiny_dataset, tmp_path, whatchanged):
    """Stopped while it is pre-trained: it never learned to caption."""
    run, model = tmp_path / "run", tmp_path / "model"
    recipe = load_recipe("pcl-tiny", [*OBJECTS, f"data.path={tiny_dataset}"])
    start = make_run(tmp_path / "start", "pcl-tiny", [*OBJECTS, f"data.path={tiny_dataset}"])
    assert not run_recipe(recipe, run, max_seconds=0, quiet=True, device="cpu", init=start).finished
    code, _, err = whatchanged("export", run, model)
    assert code == 2 and "it stands at step 1 of 3 of pretrain, stage 1 of 2" in err and "--unfinished" in err
    assert not model.exists()
    code, _, err = whatchanged("export", run, model, "--unfinished")
    assert code == 0, err
    told = json.loads((model / "bundle.json").read_text())["provenance"]
    assert told["finished"] is False and told["checkpoint"]["step"] == 1
    assert "step 1 of 3 of pretrain; **the run was not finished**" in (model / "README.md").read_text()
