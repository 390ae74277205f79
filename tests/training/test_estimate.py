"""What a recipe will need, against what a step on real tensors takes."""

from dataclasses import replace

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from whatchanged.recipes.reader import load_recipe
from whatchanged.testing.method_case import total
from whatchanged.training.batches import Batch
from whatchanged.training.build import COPIES, make_method
from whatchanged.training.estimate import estimate, expected_vocabulary
from whatchanged.training.schedule import make_optimizer
from whatchanged.vocabulary import BOS, EOS, Vocabulary

WORDS = Vocabulary.from_captions(["a cube moved", "no change"])


def one_stage(name, *settings, task="caption"):
    """A recipe of its last stage with one task."""
    recipe = load_recipe(name, settings)
    stage = replace(recipe.stages[-1], tasks={task: 1.0})
    return replace(recipe, stages=(stage,))


def measured(recipe, rows):
    """Operations of one step on real tensors, and the bytes that are kept for the way back."""
    (stage,) = recipe.stages
    (task,) = stage.tasks
    method = make_method(recipe, WORDS).train()
    make_optimizer(method, stage)
    length = recipe.method.longest_caption() + 2
    ids = torch.tensor([[BOS, *[7] * (length - 2), EOS]]).expand(rows, -1).contiguous()
    height, width = recipe.vision.image_height, recipe.vision.image_width
    pictures = torch.randint(0, 256, (2, rows, height, width, 3), dtype=torch.uint8)
    batch = Batch(*pictures, ids)
    own = {tensor.untyped_storage().data_ptr() for tensor in method.state_dict().values()}
    kept = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with FlopCounterMode(display=False) as counter:
        with saved_tensors_hooks(note, lambda tensor: tensor):
            loss = total(method.loss(task, batch))
        loss.backward()
    weights = sum(p.nbytes * (1 if p.grad is None else COPIES) for p in method.parameters())
    return counter.get_total_flops(), sum(kept.values()) + weights, method


@pytest.mark.parametrize(
    ("name", "settings", "task"),
    [
        ("clip4idc-tiny", (), "retrieval"),
        ("clip4idc-tiny", (), "caption"),
        (
            "scorer-tiny",
            ("vision.kind=patches", "vision.image_width=96", "vision.image_height=96"),
            "caption",
        ),
    ],
)
def test_operations_and_memory_are_those_of_a_real_step(name, settings, task):
    recipe = one_stage(name, *settings, task=task)
    recipe = replace(recipe, data=replace(recipe.data, examples="captions", exchange=False))
    (found,) = estimate(recipe, WORDS, 1, 1)
    operations, memory, method = measured(recipe, recipe.stages[0].batch)
    assert found.operations == operations > 0
    assert found.memory == pytest.approx(memory, rel=0.02)
    assert found.learning == sum(p.numel() for p in method.parameters() if p.grad is not None)
    assert found.hours(found.operations) == pytest.approx(found.steps / 3600)


def test_more_devices_and_more_parts_need_less_memory():
    recipe = one_stage("pcl-tiny", "stage.caption.batch=64")
    whole, shared, parts = (estimate(recipe, WORDS, *by)[0] for by in ((1, 1), (4, 1), (1, 4)))
    fixed = COPIES * 4 * whole.learning
    assert whole.learning == shared.learning == parts.learning
    assert shared.operations == pytest.approx(whole.operations / 4, rel=0.05)
    assert shared.memory - fixed == pytest.approx((whole.memory - fixed) / 4, rel=0.1)
    assert parts.operations == pytest.approx(4 / 3 * whole.operations, rel=0.1)
    assert parts.memory - fixed < 0.5 * (whole.memory - fixed)


def test_tasks_that_need_drawn_scenes_are_named_and_not_counted():
    results = {stage.name: stage for stage in estimate(load_recipe("clevr-pcl"), WORDS, 1, 1)}
    assert results["match"].uncounted == ("matching",) and results["match"].operations == 0
    assert results["pretrain"].uncounted == ("matching",) and results["pretrain"].operations > 0
    assert results["caption"].uncounted == ("caption", "matching")  # words learn where to look
    assert all(stage.memory > COPIES * 4 * stage.learning for stage in results.values())


def test_the_words_of_a_data_set_are_counted(tiny_dataset):
    named = load_recipe("pcl-tiny", [f"data.path={tiny_dataset}"])
    vocabulary, said = expected_vocabulary(named)
    assert "cube" in vocabulary.entries and f"the {len(vocabulary):,} words of" in said
    assumed, said = expected_vocabulary(load_recipe("pcl-tiny"))
    assert len(assumed) == 1006 and "no data set is named" in said


def test_a_recipe_that_begins_from_clips_weights_is_counted_with_clips_pieces():
    paper = load_recipe("clip4idc-clevr-paper")
    found, said = expected_vocabulary(paper)
    assert len(found) == 49_412 and said.startswith("CLIP's 49,412 pieces")
    words = Vocabulary.from_captions(["a cube moved"])
    retrieval, caption = estimate(paper, found, 1, 1)
    few, _ = estimate(paper, words, 1, 1)
    rows = found.table_rows
    assert retrieval.learning - few.learning == 512 * (max(rows) + 1 - len(words))
    assert caption.learning > 768 * len(found)  # the captioner's table


def test_a_stages_own_examples_come_before_those_of_the_data():
    """Only scenes bring the other pair of each into the batch."""
    results = {}
    for common, own in (("scenes", ""), ("scenes", "captions"), ("captions", ""), ("captions", "scenes")):
        recipe = one_stage("clip4idc-tiny")
        stage = replace(recipe.stages[0], examples=own)
        data = replace(recipe.data, examples=common, exchange=False)
        results[common, own] = estimate(replace(recipe, stages=(stage,), data=data), WORDS, 1, 1)[
            0
        ].operations
    assert results["scenes", "captions"] == results["captions", ""]
    assert results["captions", "scenes"] == results["scenes", ""] > 1.9 * results["captions", ""]


def test_a_backbone_whose_tokens_are_stored_does_not_run():
    pictures, tokens = (
        one_stage("clevr-frozen-pcl", *stored, task="mlm") for stored in ((), ("data.tokens=x",))
    )
    vision = make_method(pictures, WORDS).vision.eval()
    settings = pictures.vision
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        vision.to_tokens(torch.zeros(1, 3, settings.image_height, settings.image_width))
    saved = 2 * pictures.stages[0].batch * counter.get_total_flops()
    (with_backbone,), (without,) = (estimate(recipe, WORDS, 1, 1) for recipe in (pictures, tokens))
    assert with_backbone.operations - without.operations == pytest.approx(saved, rel=1e-3)


def test_tokens_that_stand_in_the_order_of_their_matches_are_counted():
    (stage,) = estimate(one_stage("clevr-dirl"), WORDS, 1, 1)
    assert stage.operations > 0 and stage.uncounted == ()
