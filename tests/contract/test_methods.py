"""What every method must do, run over the table of methods and their presets."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from whatchanged.recipes.schema import MethodConfig
from whatchanged.training.grids import Batch, Precomputed
from whatchanged.training.methods import METHODS, build_method
from whatchanged.vocabulary import BOS, MASK, PAD, Vocabulary

TASKS = {"pcl": ("mlm", "mvcl", "fda", "caption")}
STAGES = {"pcl": (("mlm", "mvcl", "fda"), ("caption",), ("mlm",))}
CASES = [(name, preset) for name in METHODS for preset in ("paper", "authors")]
CAPTIONS = (
    "the red cube moved", "the ball is gone", "a new thing appeared left of the ball", "nothing changed",
    "the cube became blue", "no change was made", "the blue ball moved right", "the thing is gone",
    "a red ball appeared", "the scene is the same",
)  # fmt: skip
VOCABULARY = Vocabulary.from_captions(CAPTIONS)

pytestmark = pytest.mark.parametrize(("name", "preset"), CASES)


def build(name, preset, seed=0):
    torch.manual_seed(seed)
    config = MethodConfig(
        name=name, preset=preset, width=24, heads=4, ffn=32, cross_layers=2, max_length=14, negatives=2
    )
    return build_method(config, Precomputed(3, 3, 6), VOCABULARY).eval()


def ten_pairs(method):
    rng, examples = np.random.default_rng(0), []
    for index, caption in enumerate(CAPTIONS):
        false = tuple(CAPTIONS[(index + step) % len(CAPTIONS)] for step in (3, 5))
        before, after = rng.standard_normal((2, 9, 6), dtype=np.float32)
        record = SimpleNamespace(dataset="toy", changed="no" not in caption and "same" not in caption)
        examples.append(
            SimpleNamespace(
                record=record, caption=caption, before=before, after=after, negatives=false, truth=None
            )
        )
    return method.collate(examples)


def drawn(batch, seed=0):
    """The batch with its corruption drawn from ``seed``."""
    return Batch(**{**vars(batch), "generator": torch.Generator().manual_seed(seed)})


@torch.no_grad()
def sentences(method, batch, steps=8):
    """Greedy ids (B, steps), the scores behind them, and the attention of the last step."""
    memory = method.encode(batch.before, batch.after)
    cache, word, ids, rows = method.first_cache(memory), torch.full((len(batch.ids),), BOS), [], []
    for position in range(1, steps + 1):
        scores, attention, cache = method.step(memory, word, position, cache)
        word = scores.argmax(1)
        ids.append(word)
        rows.append(scores)
    return torch.stack(ids, 1), torch.stack(rows, 1), attention


def test_each_parameter_is_in_one_group_and_in_the_checkpoint(name, preset):
    method = build(name, preset)
    grouped = [id(p) for group in method.parameter_groups() for p in group["params"]]
    assert len(grouped) == len(set(grouped)) and set(grouped) == {id(p) for p in method.parameters()}
    assert {n for n, _ in method.named_parameters()} <= set(method.state_dict())


def test_a_stage_trains_all_but_what_it_declares(name, preset):
    for stage in (*STAGES[name], *((task,) for task in TASKS[name])):
        method = build(name, preset)
        for task in stage:
            sum(method.loss(task, drawn(ten_pairs(method))).values()).backward()
        without = {n for n, p in method.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0}
        assert without == method.untrained(stage)


def test_saved_and_loaded_it_says_the_same(name, preset):
    method, other = build(name, preset), build(name, preset, seed=1)
    batch, file = ten_pairs(method), io.BytesIO()
    torch.save(method.state_dict(), file)
    file.seek(0)
    assert not torch.equal(sentences(other, batch)[1], sentences(method, batch)[1])
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(sentences(other, batch)[0], sentences(method, batch)[0])
    assert torch.equal(sentences(other, batch)[1], sentences(method, batch)[1])


def test_losses_are_finite_and_fall_on_ten_repeated_pairs(name, preset):
    for task in TASKS[name]:
        method = build(name, preset)
        batch, losses = ten_pairs(method), []
        optimizer = torch.optim.Adam(method.parameters(), lr=1e-3)
        for _ in range(45):
            optimizer.zero_grad()
            loss = sum(method.loss(task, drawn(batch)).values())
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert np.isfinite(losses).all()
        assert max(losses[-5:]) < 0.97 * losses[0]


def test_longer_padding_changes_nothing_but_where_declared(name, preset):
    method = build(name, preset).double()
    batch = ten_pairs(method)
    batch = Batch(**{**vars(batch), "before": batch.before.double(), "after": batch.after.double()})
    longer = Batch(**{
        **vars(batch),
        "ids": torch.nn.functional.pad(batch.ids, (0, 3), value=PAD),
        "negatives_ids": torch.nn.functional.pad(batch.negatives_ids, (0, 3), value=PAD),
    })  # fmt: skip
    moved = set()
    for task in TASKS[name]:
        plain, padded = (sum(method.loss(task, drawn(b)).values()).item() for b in (batch, longer))
        if plain != pytest.approx(padded, rel=1e-9):
            moved.add(task)
    assert moved == method.padded_tasks


def test_the_order_of_the_pictures_changes_the_memory(name, preset):
    method = build(name, preset)
    batch = ten_pairs(method)
    memory = method.encode(batch.before, batch.after)
    turned = method.encode(batch.after, batch.before)
    same = [
        torch.allclose(a, b, atol=1e-4) for a, b in zip(memory, turned, strict=True) if a.is_floating_point()
    ]
    assert not any(same)


@torch.no_grad()
def test_decoding_with_and_without_a_cache_agrees(name, preset):
    method = build(name, preset)
    batch = ten_pairs(method)
    ids, scores, _ = sentences(method, batch)
    said = torch.full((len(ids), 1), BOS)
    for position in range(1, ids.shape[1] + 1):
        asked = torch.nn.functional.pad(said, (0, 1), value=MASK)
        anew = method.caption_logits(batch.before, batch.after, asked)[:, position].log_softmax(-1)
        assert_close(scores[:, position - 1], anew, atol=1e-4, rtol=0)
        said = torch.cat([said, anew.argmax(1, keepdim=True)], dim=1)
    assert torch.equal(said[:, 1:], ids)


@torch.no_grad()
def test_no_word_to_come_is_seen(name, preset):
    method = build(name, preset)
    batch = ten_pairs(method)
    clean = method.caption_logits(batch.before, batch.after, batch.ids)
    for position in range(1, batch.ids.shape[1]):
        other = batch.ids.clone()
        other[:, position:] = MASK
        logits = method.caption_logits(batch.before, batch.after, other)
        assert torch.equal(logits[:, :position], clean[:, :position])
        assert not torch.equal(logits[:, position:], clean[:, position:])


@torch.no_grad()
def test_scores_attention_and_no_change_are_what_they_say(name, preset):
    method = build(name, preset)
    batch = ten_pairs(method)
    _, scores, attention = sentences(method, batch)
    assert_close(scores.exp().sum(-1), torch.ones(10, 8))
    assert attention.shape == (10, 2, 3, 3) and attention.min() >= 0
    assert (attention.sum((1, 2, 3)) <= 1 + 1e-5).all() and (attention.sum((2, 3)) > 0).all()
    judged = method.no_change(method.encode(batch.before, batch.after))
    assert judged.shape == (10,) and (judged > 0).all() and (judged < 1).all()
