"""The recipes of the package say what the papers and their code say."""

from dataclasses import replace

from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.recipes import ObjectsConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.reader import load_recipe, recipe_names

TABLE_4 = [name for name in recipe_names() if name.startswith("pcl-table4-")]


def test_pcls_published_sizes():
    for name, schedule in (("paper", "constant"), ("authors", "halving")):
        recipe = load_recipe(f"pcl-clevr-{name}")
        pretrain, caption = recipe.stages
        assert recipe.method == PCLConfig(preset=name)
        assert (recipe.method.width, recipe.method.ffn, recipe.method.cross_layers) == (512, 2048, 3)
        assert pretrain.tasks == {"mlm": 8, "mvcl": 1, "fda": 2}
        assert (pretrain.steps, pretrain.batch, pretrain.lr, pretrain.warmup) == (250_000, 200, 1e-4, 8000)
        assert (caption.lr, caption.schedule, caption.evaluate_every) == (3e-5, schedule, 400)
        assert (caption.steps, caption.patience, caption.metric) == (100_000, 50, "CIDEr-D")


def test_table_4_rows_differ_only_in_what_the_row_is_about():
    whole = load_recipe("pcl-table4-4-mlm-mvcl-fda")
    mixes = {"1": None, "2": {"mlm": 8}, "3": {"mlm": 8, "mvcl": 1}}
    assert len(TABLE_4) == 6
    for name in TABLE_4:
        recipe, row = load_recipe(name), name.split("-")[2]
        pretraining = [dict(stage.tasks) for stage in recipe.stages[:-1]]
        wanted = mixes.get(row, {"mlm": 8, "mvcl": 1, "fda": 2})
        assert pretraining == ([] if wanted is None else [wanted])
        assert recipe.stages[-1] == whole.stages[-1]
        assert recipe.method == replace(
            whole.method, difference_encoder=row != "5", distractor_judging=row != "6"
        )


def test_table_5_rows_differ_only_in_their_data():
    rows = [load_recipe(name) for name in recipe_names() if name.startswith("pcl-table5-")]
    assert [row.method.name for row in rows] == ["pcl", *3 * ["pcl-cross-task"]]
    for row, single, labelled in zip(rows, (False, True) * 2, (False, False, True, True), strict=True):
        assert [stage.name for stage in row.stages] == ["single"] * single + ["pretrain", "caption"]
        assert ("fgvc" in row.stages[-2].tasks) == labelled
        assert row.method.labelled_classes == (555 if labelled else 0)
        assert {key: getattr(row.method, key) for key in vars(rows[0].method) if key != "name"} == {
            key: value for key, value in vars(rows[0].method).items() if key != "name"
        }
        assert row.stages[-1] == rows[0].stages[-1] and row.vision == rows[0].vision
        assert row.data == replace(rows[0].data, single_preparation="pcl-cub" if single else "none")


def test_scorers_published_settings():
    published = {  # layers, lambda_v, lambda_m, batch, rate; words and encoded length
        "scorer-clevr-paper": (2, 0.1, 0.001, 128, 2e-4, "scorer-clevr-change", 24),
        "scorer-clevr-authors": (2, 0.1, 0.001, 128, 2e-4, "scorer-clevr-change", 24),
        "scorer-table6-5-scorer-cbr": (2, 0.1, 0.001, 128, 2e-4, "scorer-clevr-change", 24),
        "scorer-clevr-dc": (1, 0.01, 0.004, 128, 2e-4, "rcc-clevr-dc", 40),
        "scorer-spot-the-diff": (3, 0.3, 0.5, 32, 2e-4, "rcc-spot-the-diff", 52),
        "scorer-image-editing-request": (2, 0.003, 0.06, 16, 1e-4, "nct-image-editing-request", 60),
    }
    for name, wanted in published.items():
        recipe = load_recipe(name)
        method, (stage,) = recipe.method, recipe.stages
        words = (recipe.data.preparation, method.max_length)
        results = (method.layers, method.view_weight, method.reason_weight, stage.batch, stage.lr, *words)
        assert results == wanted
        assert PREPARATIONS[words[0]].most_words == words[1] - 2  # the marks
        if "clevr-change" not in words[0]:  # unchanged pairs, if any, are examples like others
            assert recipe.data.examples == "pairs"
        assert (method.width, method.word_width, method.heads, method.decoder_layers) == (512, 300, 8, 2)
        assert stage.steps == (10_070 if name.endswith("authors") else 10_000)
    released = load_recipe("scorer-clevr-authors")
    assert (released.stages[0].schedule, released.stages[0].stair) == ("stairs", 3975)
    assert (released.method.repaired, released.data.examples, released.data.exchange) == ((), "scenes", True)


def test_table_6_rows_differ_only_in_what_the_row_is_about():
    rows = [load_recipe(name) for name in recipe_names() if name.startswith("scorer-table6-")]
    weights = [(0.0, 0.0), (0.0, 0.0), (0.1, 0.0), (0.0, 0.001), (0.1, 0.001)]
    assert len(rows) == len(weights)
    for number, (row, (view, reason)) in enumerate(zip(rows, weights, strict=True)):
        assert row.method == replace(
            rows[-1].method,
            view_weight=view,
            reason_weight=reason,
            difference="reconstruct" if number else "subtract",
            repaired=("train_reasoning", "mean_sentence") if reason else (),  # both mend CBR
        )
        assert (row.stages, row.data, row.vision) == (rows[-1].stages, rows[-1].data, rows[-1].vision)


def test_clip4idcs_published_sizes_and_the_papers_wider_captioner():
    authors, paper = (load_recipe(f"clip4idc-clevr-{name}") for name in ("authors", "paper"))
    assert authors.method == CLIP4IDCConfig()
    assert paper.method == CLIP4IDCConfig(preset="paper", decoder_width=768, decoder_heads=12, max_length=23)
    adapt, caption = authors.stages
    assert (adapt.optimizer, adapt.schedule, adapt.beta2, adapt.weight_decay) == (
        "bert_adam",
        "warmup_cosine",
        0.98,
        0.2,
    )
    assert (caption.schedule, caption.beta2, caption.weight_decay, caption.patience) == (
        "warmup_linear",
        0.999,
        0.01,
        11,
    )
    assert [dict(stage.rates) for stage in authors.stages] == [{"clip": 1e-3}, {"clip": 1e-3, "new": 1e-3}]
    assert [stage.lr for stage in paper.stages] == [1e-7, 1e-4] and paper.stages[1].patience == 10
    for name in ("ft1", "ft2"):
        recipe = load_recipe(f"clip4idc-clevr-{name}")
        assert (recipe.method.variant, len(recipe.stages)) == (name, 1)


def test_the_shipped_models_recipe_takes_over_its_backbones():
    see, pcl = load_recipe("clevr-see"), load_recipe("clevr-pcl")
    assert pcl.vision == replace(see.vision, guided_attention=True)
    told = {"scene_context": True, "occlusion": True, "landmarks": True}
    assert see.vision == ObjectsConfig(channels=(24, 48, 96), blocks=4, keep=16, matching=True, **told)
    assert pcl.method == replace(see.method, dropout=0.1, every_word=True)
    assert (see.seed, pcl.seed) == (71, 72)
    assert (see.data.wording, pcl.data.wording) == ("full", "clear")
    own = load_recipe("own-finetune")
    assert own.vision == see.vision  # so that all of the shipped model's weights fit


def test_the_recipes_on_frozen_tokens_differ_in_their_method_alone():
    """SCORER alone compares token by token, so it alone wants them in order."""
    pcl, scorer, clip4idc = (load_recipe(f"clevr-{name}") for name in ("frozen-pcl", "scorer", "clip4idc"))
    assert pcl.vision == clip4idc.vision == replace(scorer.vision, aligned=False)
    assert pcl.vision == replace(load_recipe("clevr-pcl").vision, frozen=True)
    assert pcl.data == scorer.data == clip4idc.data and pcl.seed == scorer.seed == clip4idc.seed
    for recipe in (pcl, scorer, clip4idc):
        assert sum(stage.steps * stage.batch for stage in recipe.stages) == 128_000
        assert {(s.lr, s.schedule, s.optimizer, s.precision, s.max_grad_norm) for s in recipe.stages} == {
            (1.5e-3, "cosine", "adam", "bf16", 1.0)
        }
