from dataclasses import replace
from typing import get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.errors import RecipeError
from whatchanged.recipes import (
    CLIP4IDCConfig,
    DataConfig,
    PCLConfig,
    Recipe,
    ScorerConfig,
    StageConfig,
    VisionConfig,
)
from whatchanged.recipes.reader import dump_recipe, load_recipe, parse_recipe, recipe_names
from whatchanged.worlds.clevr.language import Wording

MINIMAL = """
name = "mini"
description = "d"
[[stages]]
name = "caption"
tasks = { caption = 1 }
steps = 3
batch = 8
lr = 1e-3
"""
TABLE_4 = [name for name in recipe_names() if name.startswith("pcl-table4-")]


def test_every_shipped_recipe_loads_and_says_what_it_reproduces():
    names = recipe_names()
    assert {"pcl-clevr-paper", "pcl-clevr-authors", "pcl-tiny"} < set(names)
    assert len(TABLE_4) == 6
    for name in names:
        assert load_recipe(name).name == name


def test_published_recipes_have_the_published_sizes():
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
    for name in TABLE_4:
        recipe, row = load_recipe(name), name.split("-")[2]
        pretraining = [dict(stage.tasks) for stage in recipe.stages[:-1]]
        wanted = mixes.get(row, {"mlm": 8, "mvcl": 1, "fda": 2})
        assert pretraining == ([] if wanted is None else [wanted])
        assert recipe.stages[-1] == whole.stages[-1]
        assert recipe.method == replace(
            whole.method, difference_encoder=row != "5", distractor_judging=row != "6"
        )


def test_scorers_recipes_have_the_published_settings():
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
        assert (
            method.layers, method.view_weight, method.reason_weight, stage.batch, stage.lr, *words
        ) == wanted  # fmt: skip
        assert PREPARATIONS[words[0]].most_words == words[1] - 2  # the marks
        if "clevr-change" not in words[0]:  # unchanged pairs, if any, are examples like others
            assert recipe.data.examples == "pairs"
        assert (method.width, method.word_width, method.heads, method.decoder_layers) == (512, 300, 8, 2)
        assert stage.steps == (10_070 if name.endswith("authors") else 10_000)
    released = load_recipe("scorer-clevr-authors")
    assert (released.stages[0].schedule, released.stages[0].stair) == ("stairs", 3975)
    assert (released.method.repaired, released.data.examples, released.data.exchange) == (
        (),
        "scenes",
        True,
    )


def test_table_6_rows_differ_only_in_what_the_row_is_about():
    rows = [load_recipe(name) for name in recipe_names() if name.startswith("scorer-table6-")]
    weights = [(0.0, 0.0), (0.0, 0.0), (0.1, 0.0), (0.0, 0.001), (0.1, 0.001)]
    assert len(rows) == len(weights)
    for number, (row, (view, reason)) in enumerate(zip(rows, weights, strict=True)):
        difference = "reconstruct" if number else "subtract"
        assert row.method == replace(
            rows[-1].method, view_weight=view, reason_weight=reason, difference=difference
        )
        assert (row.stages, row.data, row.vision) == (rows[-1].stages, rows[-1].data, rows[-1].vision)


def test_a_learned_temperature_takes_no_other():
    assert load_recipe("scorer-tiny", ["method.temperature=0.5"]).method.temperature == 0.5
    with pytest.raises(RecipeError, match=r'temperature: got 0\.5, wanted 1 with preset = "authors"'):
        load_recipe("scorer-tiny", ["method.preset=authors", "method.temperature=0.5"])


def test_subtraction_on_another_data_set_needs_both_weights_at_zero():
    settings = ["method.difference=subtract", "method.view_weight=0", "method.reason_weight=0"]
    row = load_recipe("scorer-clevr-dc", settings).method
    assert (row.difference, row.view_weight, row.reason_weight) == ("subtract", 0, 0)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("method.view_weight=-1", "method.view_weight: got -1.0, wanted 0 or more"),
        (
            "method.difference=subtract",
            'method.view_weight: got 0.1, wanted zero with difference = "subtract"',
        ),
        ("method.difference=subtract", "--set method.view_weight=0"),
        ("method.layers=0", 'method.layers: got 0, wanted above 0 with difference = "reconstruct"'),
        ("method.word_width=7", "method.word_width: got 7, wanted an even number"),
        (
            "method.repaired=['mean_sentence']",
            "method.repaired: got ('mean_sentence',), wanted [] with preset",
        ),
        ("method.repaired=true", "method.repaired: got True, wanted a list of one of train_reasoning, mean_"),
        ("method.repaired=['mean_sentense']", "Did you mean mean_sentence?"),
        ("method.temperature=0", "method.temperature: got 0.0, wanted above 0"),
        ("method.ffn=3", "unknown key method.ffn"),
        ("stage.train.tasks={mlm = 1}", "stage.train.tasks: got 'mlm', wanted some of caption"),
        ("stage.train.stair=3", "stage.train.stair: got 3, wanted 1 or more with schedule stairs"),
        ("stage.train.schedule=stairs", "stage.train.stair: got 0, wanted 1 or more with schedule stairs"),
        ("vision.kind=backbone", "vision.keep: got 24, wanted 0: SCORER lays both pictures cell upon cell"),
        ("data.examples=pairs", "data.exchange: got True, wanted false"),
    ],
)
def test_settings_that_scorer_cannot_have(override, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe("scorer-tiny", [override])
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["exchange=true"], "exchange: got True, wanted false, unless the stage's own examples"),
        (["exchange=true", "examples=captions"], "exchange: got True, wanted false"),
        (["changed_only=true", "examples=scenes"], "changed_only: got True, wanted false with scenes"),
        (["examples=words"], "examples: got 'words', wanted one of"),
    ],
)
def test_what_a_stage_cannot_say_of_its_examples(overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe("clip4idc-tiny", [f"stage.caption.{override}" for override in overrides])
    assert f"stage.caption.{message}" in str(raised.value)
    with pytest.raises(RecipeError, match=r"stage\.caption\.examples: got 'pairs', wanted none of its own"):
        load_recipe("clip4idc-tiny", ["data.source=pool", "stage.caption.examples=pairs"])


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("pcl-tiny", ["stage.caption.metric=R@1"], "metric: got 'R@1', wanted CIDEr-D or ROUGE-L"),
        ("scorer-tiny", ["stage.train.metric=R@1"], "stage.train.metric: got 'R@1'"),
        ("clip4idc-tiny-ft1", ["stage.caption.metric=R@1"], "stage.caption.metric: got 'R@1'"),
        ("pcl-tiny", ["stage.caption.tasks={retrieval=1}"], "got 'retrieval', wanted some of mlm, mvcl, fda"),
        ("pcl-tiny", ["stage.caption.tasks={seeing=1}"], "got 'seeing', wanted it only with vision.kind"),
        ("own-finetune", ["stage.caption.tasks={matching=1}"], "got 'matching', wanted it only with"),
        ("clevr-see", ["vision.matching=false", "vision.scene_context=false", "stage.see.tasks={matching=1}"],
         'wanted it only with vision.kind = "backbone", vision.scene_truth, vision.matching'),
        ("clip4idc-tiny", ["stage.caption.tasks={seeing=1}"], "stage.caption.tasks: got 'seeing'"),
        ("clevr-pcl", ["method.every_word=false"], "method.guided_attention: got True, wanted false with"),
        ("clevr-pcl", ["data.merges=bpe.gz"], "guided_attention: got True, wanted false with data.merges"),
        ("pcl-tiny", ["vision.matching=true"], 'vision.matching: got True, wanted false without vision.kind'),
        ("pcl-tiny", ["vision.scene_truth=true"], "vision.scene_truth: got True, wanted false without"),
        ("own-finetune", ["method.guided_attention=true"], "method.guided_attention: got True"),
        (
            "own-finetune",
            ["method.guided_attention=true", "vision.scene_truth=true"],
            "method.guided_attention: got True",
        ),
        ("pcl-tiny", ["stage.caption.evaluate_from=31"], "evaluate_from: got 31, wanted at most the 30"),
        ("own-finetune", ["vision.keep=-1"], "vision.keep: got -1, wanted 0 (all) to 600, the cells"),
        ("own-finetune", ["vision.keep=601"], "vision.keep: got 601, wanted 0 (all) to 600, the cells"),
        ("own-finetune", ["vision.channels=[24, 48]"], "vision.channels: got (24, 48), wanted three numbers"),
        ("own-finetune", ["vision.channels=[24, 0, 96]"], "vision.channels: got (24, 0, 96), wanted three"),
        ("own-finetune", ["vision.blocks=-1"], "vision.blocks: got -1, wanted 0 or more"),
        ("own-finetune", ["vision.image_width=100"], "vision.image_width: got 100, wanted a multiple of 8"),
        ("own-finetune", ["vision.image_height=60"], "vision.image_height: got 60, wanted a multiple of 8"),
        ("pcl-tiny", ["method.single_layers=-1"], "method.single_layers: got -1, wanted 0 or more"),
        ("pcl-tiny", ["method.pair_layers=-1"], "method.pair_layers: got -1, wanted 0 or more"),
        ("clip4idc-tiny", ["method.inter_layers=-1"], "method.inter_layers: got -1, wanted 0 or more"),
        ("scorer-table6-1-subtraction", ["method.layers=-1"], "method.layers: got -1, wanted 0 or more"),
        ("pcl-table5-1-b2w", ["method.classes=-1"], "method.classes: got -1, wanted 0 or more"),
        ("pcl-tiny", ["data.source=pool"], "vision.kind: got 'features', wanted another with data.source ="),
        ("clevr-see", ["data.examples=scenes"], "data.examples: got 'scenes', wanted captions with"),
        ("clevr-pcl", ["method.name=pcl-birds", "stage.pretrain.tasks={mlm=1}", "stage.pretrain.data=single"],
         "data.source: got 'pool', wanted dataset with the task fgvc or data = \"single\""),
    ],
)  # fmt: skip
def test_what_would_have_no_effect_or_fail_in_training_is_refused_on_load(name, overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe(name, overrides)
    assert message in str(raised.value)


def test_the_last_settings_that_still_fit():
    for name, overrides in (
        ("own-finetune", ["vision.keep=600", "vision.blocks=0"]),
        ("pcl-tiny", ["stage.caption.evaluate_from=30", "method.single_layers=0"]),
        ("own-finetune", ["stage.caption.evaluate_every=0"]),
        ("clip4idc-tiny", ["stage.caption.metric=R@1"]),
    ):
        load_recipe(name, overrides)


def test_a_recipe_names_the_wordings_that_the_world_has():
    """Named twice: reading recipes must not load what the world computes with."""
    assert get_args(get_type_hints(DataConfig)["wording"]) == ("captions", *get_args(Wording))


def test_defaults_fill_what_a_recipe_leaves_out():
    assert parse_recipe(MINIMAL, "mini") == Recipe(
        "mini", "d", (StageConfig("caption", {"caption": 1.0}, 3, 8, 1e-3),)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("steps = 3", "stepps = 3"), "unknown key stage.caption.stepps. Did you mean steps?"),
        (("steps = 3", ""), "key stage.caption.steps is missing"),
        (("steps = 3", "steps = 3.5"), "stage.caption.steps: got 3.5, wanted a whole number"),
        (("steps = 3", "steps = true"), "stage.caption.steps: got True, wanted a whole number"),
        (("lr = 1e-3", 'lr = "fast"'), "stage.caption.lr: got 'fast', wanted a number"),
        (("lr = 1e-3", "lr = nan"), "stage.caption.lr: got nan, wanted above 0"),
        (("caption = 1 }", "captoin = 1 }"), "unknown task 'captoin'"),
        (("caption = 1 }", "caption = 0 }"), "wanted weights above zero"),
        (("lr = 1e-3", 'lr = 1e-3\nschedule = "cosin"'), "Did you mean cosine?"),
        (("lr = 1e-3", 'lr = 1e-3\nschedule = "inverse_sqrt"'), "warmup: got 0, wanted at least 1"),
        (("[[stages]]", "[method]\nwidth = 30\n[[stages]]"), "method.width: got 30, wanted a multiple"),
        (("[[stages]]", "[vision]\nchannels = [1, 2.5]\n[[stages]]"), "vision.channels: got 2.5"),
        (("[[stages]]", "[methd]\nwidth = 30\n[[stages]]"), "unknown key methd. Did you mean method?"),
        (("[[stages]]", '[method]\nname = ["x"]\n[[stages]]'), "method.name: there is no method ['x']"),
        (("lr = 1e-3", "lr = "), "not a TOML file"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_key_and_remedy(change, message):
    with pytest.raises(RecipeError) as raised:
        parse_recipe(MINIMAL.replace(*change), "my.toml")
    assert str(raised.value).startswith("my.toml: ")
    assert message in str(raised.value)


CLIP = '[method]\nname = "clip4idc"\n'


@pytest.mark.parametrize(
    ("method", "task", "message"),
    [
        ("text_width = 30\n", "caption", "method.text_width: got 30, wanted a multiple of method.text"),
        ("decoder_heads = 3\n", "caption", "method.decoder_width: got 512, wanted a multiple of method.dec"),
        ("decoder_width = 768\n", "caption", "method.decoder_width: got 768, wanted method.text_width"),
        ("max_words = 78\n", "caption", "method.max_words: got 78, wanted 3 to method.context"),
        ("max_length = 79\n", "caption", "method.max_length: got 79, wanted at most method.context + 1"),
        ('variant = "ft1"\n', "retrieval", "stage.caption.tasks: got 'retrieval', wanted some of caption"),
        ("", "fda", "stage.caption.tasks: got 'fda', wanted some of retrieval, caption"),
        ('variant = "ft3"\n', "caption", "Did you mean ft"),
        ('[vision]\nkind = "patches"\n', "caption", "vision.image_width: got 240, wanted a multiple of vis"),
    ],
)  # fmt: skip
def test_what_clip4idc_cannot_be_is_refused_on_load(method, task, message):
    text = MINIMAL.replace("[[stages]]", CLIP + method + "[[stages]]").replace("{ caption", "{ " + task)
    with pytest.raises(RecipeError) as raised:
        parse_recipe(text, "my.toml")
    assert message in str(raised.value)


def test_clip4idcs_published_sizes_and_the_papers_wider_captioner():
    authors, paper = (load_recipe(f"clip4idc-clevr-{name}") for name in ("authors", "paper"))
    assert authors.method == CLIP4IDCConfig()
    assert paper.method == replace(
        CLIP4IDCConfig(preset="paper"), decoder_width=768, decoder_heads=12, max_length=23
    )
    adapt, caption = authors.stages
    assert (adapt.optimizer, adapt.schedule, adapt.beta2, adapt.weight_decay) == (
        "bert_adam", "warmup_cosine", 0.98, 0.2)  # fmt: skip
    assert (caption.schedule, caption.beta2, caption.weight_decay, caption.patience) == (
        "warmup_linear", 0.999, 0.01, 11)  # fmt: skip
    assert [dict(stage.rates) for stage in authors.stages] == [{"clip": 1e-3}, {"clip": 1e-3, "new": 1e-3}]
    assert [stage.lr for stage in paper.stages] == [1e-7, 1e-4] and paper.stages[1].patience == 10
    for name in ("ft1", "ft2"):
        recipe = load_recipe(f"clip4idc-clevr-{name}")
        assert (recipe.method.variant, len(recipe.stages)) == (name, 1)


def test_rates_are_read_dumped_and_checked():
    recipe = load_recipe("clip4idc-tiny", ["stage.caption.rates={clip = 0, new = 2}"])
    assert recipe.stages[1].rates == {"clip": 0.0, "new": 2.0}
    assert parse_recipe(dump_recipe(recipe), "dump") == recipe
    for value, message in (
        ("{clip = -1}", "rates.clip: got -1.0, wanted 0"),
        ("3", "wanted a table of parameter"),
    ):
        with pytest.raises(RecipeError, match=message):
            load_recipe("clip4idc-tiny", [f"stage.caption.rates={value}"])


def test_fda_needs_a_batch_larger_than_its_negatives():
    with pytest.raises(RecipeError, match=r"wanted more than method\.negatives"):
        parse_recipe(MINIMAL.replace("{ caption = 1 }", "{ fda = 1 }").replace("batch = 8", "batch = 6"), "f")


def test_two_stages_of_one_name_are_refused():
    with pytest.raises(RecipeError, match="two stages are called 'caption'"):
        parse_recipe(MINIMAL + MINIMAL[MINIMAL.index("[[stages]]") :], "f")


def test_a_recipe_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(RecipeError, match="Did you mean pcl-tiny"):
        load_recipe("pcl-tin")


def test_overrides_are_typed_by_the_schema():
    overrides = [
        "stage.caption.lr=1e-4",
        "stages.pretrain.schedule=cosine",
        "method.width=64",
        "vision.channels=[4, 8]",
        "data.path=/a b/c",
        "stage.pretrain.tasks={mlm = 1}",
        "seed=9",
        "method.difference_encoder=false",
    ]
    recipe = load_recipe("pcl-tiny", overrides)
    assert recipe.stages[1].lr == 1e-4
    assert (recipe.stages[0].schedule, dict(recipe.stages[0].tasks)) == ("cosine", {"mlm": 1.0})
    assert (recipe.method.width, recipe.vision.channels, recipe.data.path) == (64, (4, 8), "/a b/c")
    assert (recipe.seed, recipe.method.difference_encoder) == (9, False)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("lr", "wanted KEY=VALUE"),
        ("stage.captions.lr=1", "one of the stages pretrain, caption"),
        ("method.width=wide", "method.width: got 'wide', wanted a whole number"),
        ("method.wdth=3", "unknown key method.wdth. Did you mean width?"),
        ("seed.x=3", "seed holds a value"),
    ],
)
def test_a_wrong_override_is_refused(override, message):
    with pytest.raises(RecipeError, match=message):
        load_recipe("pcl-tiny", [override])


def test_stages_that_are_no_list_are_refused_with_an_override_too():
    for stages in ("3", '"abc"', "{ one = 1 }"):
        text = f'name = "a"\ndescription = "b"\nstages = {stages}\n'
        with pytest.raises(RecipeError, match=r"^mine: stages: got .*, wanted at least one \[\[stages\]\]"):
            parse_recipe(text, "mine", ["stage.o.lr=1"])


texts = st.text(st.characters(codec="utf-8"), max_size=12)
stages = st.builds(
    StageConfig,
    name=texts,
    tasks=st.dictionaries(
        st.sampled_from(["seeing", "matching", "caption"]), st.floats(1e-6, 1e6), min_size=1
    ),
    steps=st.integers(1, 10**7),
    batch=st.integers(7, 1000),
    lr=st.floats(1e-12, 10),
    clip=st.floats(0, 100),
    schedule=st.sampled_from(["constant", "halving", "cosine"]),
    train_vision=st.booleans(),
    rates=st.dictionaries(st.sampled_from(["clip", "new"]), st.floats(0, 1e6)),
)


@given(
    st.builds(
        Recipe,
        name=texts,
        description=texts,
        stages=st.lists(stages, min_size=1, max_size=3, unique_by=lambda s: s.name).map(tuple),
        seed=st.integers(0, 2**31),
        method=st.sampled_from(
            [PCLConfig(), ScorerConfig(), ScorerConfig(preset="authors", repaired=("mean_sentence",))]
        ),
        vision=st.builds(
            VisionConfig,
            kind=st.just("backbone"),
            channels=st.tuples(*3 * [st.integers(1, 99)]),
            keep=st.just(0),
            matching=st.just(True),
            scene_truth=st.just(True),
        ),
        data=st.builds(DataConfig, path=texts),
    )
)
def test_a_dumped_recipe_reads_back_as_itself(recipe):
    assert parse_recipe(dump_recipe(recipe), "dump") == recipe


CROSS = """
name = "x"
description = "x"
[method]
name = "pcl-birds"
classes = 3
[[stages]]
name = "one"
data = "single"
tasks = { mlm = 9, mvcl = 1 }
steps = 1
batch = 4
lr = 1e-3
[[stages]]
name = "two"
tasks = { mlm = 12, fgvc = 3 }
steps = 1
batch = 4
lr = 1e-3
"""


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("method.classes=0", "the number of classes, for the task fgvc"),
        ("method.classes=1", "the number of classes, for the task fgvc"),
        ("stage.one.tasks={ caption = 1 }", "stage.one.data"),
        ("stage.two.evaluate_from=-1", "0 or more"),
    ],
)
def test_cross_task_settings_must_fit_together(override, message):
    parse_recipe(CROSS, "here")
    with pytest.raises(RecipeError, match=message):
        parse_recipe(CROSS, "here", [override])


@pytest.mark.parametrize("stage", ["one", "two"])
def test_cross_task_stages_need_the_method_that_reads_them(stage):
    plain = CROSS.replace('name = "pcl-birds"\nclasses = 3', 'name = "pcl"')
    other = "two" if stage == "one" else "one"
    alone = plain.replace(f'name = "{other}"', 'name = "rest"')
    alone = alone.replace('data = "single"\n', "") if stage == "two" else alone.replace(", fgvc = 3", "")
    with pytest.raises(RecipeError, match=r"method\.name: got 'pcl', wanted pcl-birds"):
        parse_recipe(alone, "here")
