"""Our methods keep the contract of methods, with each preset and on each kind of vision."""

from dataclasses import replace

import pytest
import torch
from support import tiny_clip4idc
from support.tiny_pool import HEIGHT, VISION, WIDTH

from whatchanged.errors import RecipeError
from whatchanged.recipes import PatchesConfig
from whatchanged.recipes.methods import METHODS
from whatchanged.recipes.tables import find_method
from whatchanged.testing.method_case import CAPTIONS, MethodCase, decode_greedily, shaken
from whatchanged.testing.methods import DUTIES
from whatchanged.training.device import in_precision
from whatchanged.training.methods import initialise_from
from whatchanged.training.objects.pool import open_shards, pairing
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import BOS

SIZES = {
    "pcl": {"width": 24, "heads": 4, "ffn": 32, "cross_layers": 2, "max_length": 14, "negatives": 2},
    "scorer": {"width": 24, "word_width": 10, "heads": 4, "max_length": 14, "reason_weight": 0.01},
    "clip4idc": {**tiny_clip4idc.SIZES, "heads": 2, "decoder_ffn": 32},
    "duda": {
        "attention_width": 16,
        "view_width": 12,
        "hidden_width": 20,
        "word_width": 8,
        "max_length": 14,
        "entropy_weight": 0.01,
    },
}
SIZES["dirl"] = {
    **{"width": 24, "word_width": 10, "heads": 4, "ffn": 32, "projector_width": 40, "max_length": 14},
    **{"decorrelation_weight": 0.1, "contrast_weight": 0.1},
}
SIZES["pcl-cross-task"] = {**SIZES["pcl"], "classes": 3}
REPAIRED = ("train_reasoning", "mean_sentence")
PRE_TRAINING = ("mlm", "mvcl", "fda")
PCL_STAGES = (PRE_TRAINING, ("caption",), ("mlm",))
RETRIEVED = (("retrieval",), ("retrieval", "caption"))


def method_case(name, stages=(), tasks=(), vision=None, learned_before=None, **settings):
    """A method of toy size; its vision reads the plain features, or the pictures of ``with_pictures``."""
    config = find_method(name, "here")(**{**SIZES[name], **settings})
    case = MethodCase(config, tasks=tasks, stages=stages, judges=name.startswith("pcl"))
    case = replace(case, learned_before=learned_before or {})
    return case if vision is None else replace(case, vision=vision)


def objects(**changes):
    return lambda: ObjectVision(replace(VISION, **changes))


def frozen(**changes):
    """A finished vision whose words are guided."""
    return objects(frozen=True, guided_attention=True, **changes)


def patches():
    return PatchVision(PatchesConfig(image_width=WIDTH, image_height=HEIGHT, patch=32))


CASES = {
    "pcl-paper": method_case("pcl", PCL_STAGES, preset="paper"),
    "pcl-authors": method_case("pcl", PCL_STAGES, preset="authors"),
    "pcl-shipped": method_case(
        "pcl",
        (
            ("detection",),
            ("matching",),
            (*PRE_TRAINING, "matching"),
            ("caption", "matching"),
            ("detection", "mlm"),
        ),
        ("detection", "matching", *PRE_TRAINING, "caption"),
        objects(),
        # The patches of a backbone that has learned nothing are all alike.
        {"mvcl": "detection"},
        every_word=True,
    ),
    "pcl-cross-task-paper": method_case("pcl-cross-task", (*PCL_STAGES, ("mlm", "fgvc")), preset="paper"),
    "pcl-cross-task-authors": method_case("pcl-cross-task", (("mvcl", "fgvc"),), preset="authors"),
    "scorer-paper": method_case("scorer", preset="paper"),
    "scorer-authors": method_case("scorer", preset="authors"),
    "scorer-repaired": method_case("scorer", preset="authors", repaired=REPAIRED),
    "scorer-rr": method_case("scorer", preset="authors", view_weight=0.0, reason_weight=0.0),
    "scorer-apart": method_case("scorer", preset="authors", repaired=REPAIRED, fusion="apart"),
    "scorer-subtraction": method_case("scorer", difference="subtract", view_weight=0.0, reason_weight=0.0),
    "scorer-frozen": method_case("scorer", vision=frozen(aligned=True), preset="authors", repaired=REPAIRED),
    "clip4idc-frozen": method_case("clip4idc", vision=frozen(), preset="authors", freeze=False),
    "scorer-pixels": method_case(
        "scorer",
        (("detection", "caption"),),
        vision=objects(keep=0, matching=False, scene_context=False),
        preset="paper",
    ),
    "clip4idc-paper": method_case("clip4idc", RETRIEVED, preset="paper", decoder_width=20),
    "clip4idc-authors": method_case("clip4idc", RETRIEVED, vision=patches, preset="authors"),
    "clip4idc-words": method_case(
        "clip4idc",
        (("retrieval", "matching"), ("retrieval",)),
        ("caption",),
        objects(),
        preset="authors",
        train_words=True,
    ),
    "clip4idc-free": method_case("clip4idc", (("retrieval",), ("caption",)), preset="authors", freeze=False),
    "clip4idc-ft1": method_case("clip4idc", preset="paper", variant="ft1"),
    "clip4idc-ft2": method_case("clip4idc", preset="paper", variant="ft2"),
    "dirl-paper": method_case("dirl", preset="paper"),
    "dirl-dc": method_case("dirl", preset="authors_dc", pooling="all"),
    "dirl-change": method_case("dirl", preset="authors_change"),
    "dirl-plain": method_case("dirl", decorrelation_weight=0.0, contrast_weight=0.0),
    "dirl-frozen": method_case("dirl", vision=objects(frozen=True, aligned=True)),
    "duda-paper": method_case("duda", preset="paper"),
    "duda-authors": method_case("duda", preset="authors", norm_groups=4),
    "duda-marks": method_case("duda", preset="authors", norm_groups=4, allow_marks=True),
    "duda-frozen": method_case("duda", vision=objects(frozen=True, aligned=True), norm_groups=4),
    "duda-pixels": method_case("duda", vision=patches, norm_groups=4),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request, tiny_pool):
    return with_pictures(request.param, tiny_pool)


def with_pictures(case, folder):
    """The case with drawn pictures for a vision that reads them."""
    if case.vision().pixel_statistics is None:
        return case

    def pairs(vision):
        shards = [shard for shard in open_shards(folder) for _ in range(len(shard))]
        places = [(shard, i % len(shard)) for i, shard in enumerate(shards)][: len(CAPTIONS)]
        return [(s.pictures[i, 0], s.pictures[i, 1], pairing(s, i, 0, 1, s.change(i))) for s, i in places]

    return replace(case, pairs=pairs)


def test_every_method_has_its_case():
    assert {case.settings.name for case in CASES.values()} == set(METHODS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("duty", DUTIES, ids=lambda duty: duty.__name__.removeprefix("check_"))
def test_it_keeps(duty, case):
    duty(case)


@torch.inference_mode()
def test_sixteen_bit_change_the_words_probabilities_little(case):
    """A vision that chooses places may choose others, which changes more than lost digits do.

    Most of all it changes what is left when tokens are subtracted.
    """
    method = shaken(case.build())
    batch = case.batch(method)
    whole = decode_greedily(method, batch.before, batch.after)
    previous = torch.cat([torch.full((len(batch.before), 1), BOS), whole.ids[:, :-1]], dim=1)
    with in_precision("bf16", torch.device("cpu")):
        memory = method.encode(batch.before, batch.after)
        cache, results = method.first_cache(memory), []
        for column in range(previous.shape[1]):
            scores, _, cache = method.step(memory, previous[:, column], column + 1, cache)
            results.append(scores.float())
    apart = (torch.stack(results, 1).exp() - whole.scores.exp()).abs().sum(-1) / 2  # of probability 1
    assert 0 < apart.mean() < (0.25 if isinstance(method.vision, ObjectVision) else 0.02)


def test_its_attention_is_that_of_heads_or_of_two_maps(case):
    wanted = "both attention maps" if case.settings.name == "duda" else "heads"
    assert wanted in case.build().attention_description


@pytest.mark.parametrize(
    ("one", "other"),
    [("scorer-paper", "pcl-paper"), ("clip4idc-paper", "pcl-paper"), ("pcl-paper", "clip4idc-ft1")],
)
def test_another_methods_weights_are_refused(one, other):
    """CLIP4IDC and PCL both have a tensor pair.entry_norm.weight, which are not the same thing."""
    with pytest.raises(RecipeError, match=r"RUN: these are weights of .*none of them fits"):
        initialise_from(CASES[one].build(), CASES[other].build(), "RUN")


def test_another_method_hands_on_what_sees_pictures():
    old, new = CASES["pcl-shipped"].build(), CASES["clip4idc-words"].build(1)
    fresh = {name: tensor.clone() for name, tensor in new.state_dict().items()}
    assert initialise_from(new, old, "old").endswith("of pcl only its vision")
    for name, tensor in new.state_dict().items():
        seen = name.startswith("vision.")
        assert torch.equal(tensor, old.state_dict()[name] if seen else fresh[name]), name


def test_pcl_and_its_cross_task_training_begin_from_each_other():
    pcl, cross_task = CASES["pcl-paper"], CASES["pcl-cross-task-paper"]
    for one, other in ((pcl, cross_task), (cross_task, pcl)):
        new, old = one.build(), other.build(1)
        assert "words were known" in initialise_from(new, old, "old")
        assert torch.equal(new.cross.blocks[0].ffn[0].weight, old.cross.blocks[0].ffn[0].weight)
