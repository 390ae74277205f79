"""What every method must do, run over the table of methods and their presets."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tiny_pool import HEIGHT, VISION, WIDTH
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.recipes.building import find_method
from whatchanged.recipes.methods import METHODS
from whatchanged.recipes.schema import PatchesConfig
from whatchanged.training.batches import Batch
from whatchanged.training.export.calibration import judge
from whatchanged.training.methods import build_method, initialise_from
from whatchanged.training.objects.pool import open_shards, pairing
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import BOS, MASK, PAD, Vocabulary

PCL_TASKS = ("mlm", "mvcl", "fda", "caption")
PCL_STAGES = (("mlm", "mvcl", "fda"), ("caption",), ("mlm",))
PCL_SIZES = {"width": 24, "heads": 4, "ffn": 32, "cross_layers": 2, "max_length": 14, "negatives": 2}
SIZES = {
    "pcl": PCL_SIZES,
    "pcl-cross-task": {**PCL_SIZES, "classes": 3},
    "scorer": {"width": 24, "word_width": 10, "heads": 4, "max_length": 14, "reason_weight": 0.01},
    "clip4idc": {
        "width": 24, "heads": 2, "ffn": 32, "intra_layers": 2, "inter_layers": 1, "text_width": 16,
        "text_heads": 4, "text_ffn": 32, "text_layers": 2, "context": 18, "joint_width": 12,
        "decoder_width": 16, "decoder_heads": 4, "decoder_ffn": 32, "decoder_layers": 2, "max_words": 13,
        "max_length": 14,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A method of the table, its settings, and a way of seeing with tasks of its own."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    vision: Callable[[], nn.Module] = lambda: StoredFeatures(3, 3, 6)
    tasks: tuple[str, ...] = PCL_TASKS
    stages: tuple[tuple[str, ...], ...] = PCL_STAGES
    after: dict[str, str] = field(default_factory=dict)  # tasks that learn only once another has been learned


CASES = {
    "pcl-paper": Case("pcl", {"preset": "paper"}),
    "pcl-authors": Case("pcl", {"preset": "authors"}),
    "pcl-shipped": Case(
        "pcl",
        {"every_word": True},
        lambda: ObjectVision(VISION),
        ("detection", "matching", *PCL_TASKS),
        (
            ("detection",),
            ("matching",),
            ("mlm", "mvcl", "fda", "matching"),
            ("caption", "matching"),
            ("detection", "mlm"),
        ),
        after={"mvcl": "detection"},  # the patches of a backbone that has learned nothing are all alike
    ),
    "pcl-cross-task-paper": Case(
        "pcl-cross-task",
        {"preset": "paper"},
        tasks=(*PCL_TASKS, "fgvc"),
        stages=(*PCL_STAGES, ("mlm", "fgvc")),
    ),
    "pcl-cross-task-authors": Case(
        "pcl-cross-task", {"preset": "authors"}, tasks=(*PCL_TASKS, "fgvc"), stages=(("mvcl", "fgvc"),),
    ),
    "scorer-paper": Case("scorer", {"preset": "paper"}, tasks=("caption",), stages=()),
    "scorer-authors": Case("scorer", {"preset": "authors"}, tasks=("caption",), stages=()),
    "scorer-repaired": Case(
        "scorer",
        {"preset": "authors", "repaired": ("train_reasoning", "mean_sentence")},
        tasks=("caption",),
        stages=(),
    ),
    "scorer-rr": Case(
        "scorer",
        {"preset": "authors", "view_weight": 0.0, "reason_weight": 0.0},
        tasks=("caption",),
        stages=(),
    ),
    "scorer-subtraction": Case(
        "scorer",
        {"difference": "subtract", "view_weight": 0.0, "reason_weight": 0.0},
        tasks=("caption",),
        stages=(),
    ),
    "scorer-pixels": Case(
        "scorer",
        {"preset": "paper"},
        lambda: ObjectVision(replace(VISION, keep=0, matching=False, scene_context=False)),
        tasks=("caption",),
        stages=(("detection", "caption"),),
    ),
    "clip4idc-paper": Case(
        "clip4idc", {"preset": "paper", "decoder_width": 20}, tasks=("retrieval", "caption"),
        stages=(("retrieval",), ("retrieval", "caption")),
    ),
    "clip4idc-authors": Case(
        "clip4idc", {"preset": "authors"},
        lambda: PatchVision(PatchesConfig(image_width=WIDTH, image_height=HEIGHT, patch=32)),
        tasks=("retrieval", "caption"), stages=(("retrieval",), ("retrieval", "caption")),
    ),
    "clip4idc-words": Case(
        "clip4idc", {"preset": "authors", "train_words": True}, lambda: ObjectVision(VISION),
        tasks=("caption",), stages=(("retrieval", "matching"), ("retrieval",)),
    ),
    "clip4idc-free": Case(
        "clip4idc", {"preset": "authors", "freeze": False}, tasks=("retrieval", "caption"),
        stages=(("retrieval",), ("caption",)),
    ),
    "clip4idc-ft1": Case(
        "clip4idc", {"preset": "paper", "variant": "ft1"}, tasks=("caption",), stages=()
    ),
    "clip4idc-ft2": Case(
        "clip4idc", {"preset": "paper", "variant": "ft2"}, tasks=("caption",), stages=()
    ),
}  # fmt: skip
CAPTIONS = (
    "the red cube moved", "the ball is gone", "a new thing appeared left of the ball", "nothing changed",
    "the cube became blue", "no change was made", "the blue ball moved right", "the thing is gone",
    "a red ball appeared", "the scene is the same",
)  # fmt: skip
SAME = ("nothing changed", "no change was made", "the scene is the same")
VOCABULARY = Vocabulary.from_captions(CAPTIONS)


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request):
    return request.param


def test_every_method_has_its_case():
    assert {case.name for case in CASES.values()} == set(METHODS)


def build(case, seed=0, vocabulary=VOCABULARY):
    torch.manual_seed(seed)
    config = find_method(case.name, "here")(name=case.name, **{**SIZES[case.name], **case.settings})
    return build_method(config, case.vision(), vocabulary).eval()


def sights(vision, folder):
    """Ten pairs as the vision reads them, (before, after, truth): random features, or drawn pictures."""
    rng = np.random.default_rng(0)
    if isinstance(vision, StoredFeatures):
        return [(*rng.standard_normal((2, 9, 6), dtype=np.float32), None) for _ in CAPTIONS]
    shards = [shard for shard in open_shards(folder) for _ in range(len(shard))]
    places = [(shard, i % len(shard)) for i, shard in enumerate(shards)]
    return [(s.pictures[i, 0], s.pictures[i, 1], pairing(s, i, 0, 1, s.change(i))) for s, i in places]


@pytest.fixture
def ten_examples(tiny_pool):
    """Makes ten captioned pairs as a method sees them."""

    def make(method):
        examples = []
        for index, (before, after, truth) in enumerate(sights(method.vision, tiny_pool)):
            caption = CAPTIONS[index]
            false = tuple(CAPTIONS[(index + step) % len(CAPTIONS)] for step in (3, 5))
            changed, labels = "no" not in caption and "same" not in caption, (index % 3, index * 2 % 3)
            record = SimpleNamespace(dataset="toy", changed=changed, kind="pair_caption", labels=labels)
            examples.append(
                SimpleNamespace(
                    record=record,
                    caption=caption,
                    before=before,
                    after=after,
                    negatives=false,
                    truth=truth,
                    partner=None,
                )
            )
        return examples

    return make


@pytest.fixture
def ten_pairs(ten_examples):
    """Makes one batch of them."""
    return lambda method: method.collate(ten_examples(method))


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


def test_its_attention_has_a_name(case):
    assert "heads" in build(case).attention_description


def test_each_parameter_is_in_one_group_and_in_the_checkpoint(case):
    method = build(case)
    grouped = [id(p) for group in method.parameter_groups() for p in group["params"]]
    assert len(grouped) == len(set(grouped)) and set(grouped) == {id(p) for p in method.parameters()}
    assert {n for n, _ in method.named_parameters()} <= set(method.state_dict())


def test_a_stage_trains_all_but_what_it_declares(case, ten_pairs):
    for stage in (*case.stages, *((task,) for task in case.tasks)):
        method = build(case)
        for task in stage:
            sum(method.loss(task, drawn(ten_pairs(method))).values()).backward()
        without = {n for n, p in method.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0}
        assert without == method.parameters_without_gradient(stage)


def test_saved_and_loaded_it_says_the_same(case, ten_pairs):
    method, other = build(case), build(case, seed=1)
    batch, file = ten_pairs(method), io.BytesIO()
    torch.save(method.state_dict(), file)
    file.seek(0)
    assert not torch.equal(sentences(other, batch)[1], sentences(method, batch)[1])
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(sentences(other, batch)[0], sentences(method, batch)[0])
    assert torch.equal(sentences(other, batch)[1], sentences(method, batch)[1])


def test_losses_are_finite_and_fall_on_ten_repeated_pairs(case, ten_pairs):
    for task in case.tasks:
        method = build(case)
        batch = ten_pairs(method)
        if task in case.after:
            learn(method, case.after[task], batch, rate=3e-3, steps=90)
        losses = learn(method, task, batch, steps=60 if task in case.after else 45)
        assert np.isfinite(losses).all()
        assert np.mean(losses[-5:]) < 0.97 * losses[0]


def learn(method, task, batch, steps, rate=1e-3):
    """The losses of some steps on the same batch."""
    losses = []
    optimizer = torch.optim.Adam(method.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = sum(method.loss(task, drawn(batch)).values())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_longer_padding_changes_nothing_but_where_declared(case, ten_pairs):
    method, tolerance = build(case), 2e-6
    batch = ten_pairs(method)
    if isinstance(method.vision, StoredFeatures):
        method, tolerance = method.double(), 1e-9
        batch = Batch(**{**vars(batch), "before": batch.before.double(), "after": batch.after.double()})
    texts = {name: getattr(batch, name) for name in ("ids", "negatives_ids")}
    padded = {
        name: torch.nn.functional.pad(ids, (0, 3), value=PAD)
        for name, ids in texts.items()
        if ids is not None
    }
    longer = Batch(**{**vars(batch), **padded})
    moved = set()
    for task in case.tasks:
        plain, padded = (sum(method.loss(task, drawn(b)).values()).item() for b in (batch, longer))
        if plain != pytest.approx(padded, rel=tolerance):
            moved.add(task)
    assert moved == method.padding_sensitive_tasks


def test_the_order_of_the_pictures_changes_the_memory(case, ten_pairs):
    method = build(case)
    batch = ten_pairs(method)
    memory = method.encode(batch.before, batch.after)
    turned = method.encode(batch.after, batch.before)
    same = [
        torch.allclose(a, b, atol=1e-4)
        for a, b in zip(memory, turned, strict=True)
        if a is not None and a.is_floating_point()
    ]
    assert same and not any(same)


@torch.no_grad()
def test_decoding_with_and_without_a_cache_agrees(case, ten_pairs):
    method = build(case)
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
def test_no_word_to_come_is_seen(case, ten_pairs):
    method = build(case)
    batch = ten_pairs(method)
    clean = method.caption_logits(batch.before, batch.after, batch.ids)
    for position in range(1, batch.ids.shape[1] - 1):
        other = batch.ids.clone()
        other[:, position:] = MASK
        logits = method.caption_logits(batch.before, batch.after, other)
        assert torch.equal(logits[:, :position], clean[:, :position])
        assert not torch.equal(logits[:, position:], clean[:, position:])


@torch.no_grad()
def test_scores_attention_and_no_change_are_what_they_say(case, ten_examples):
    method = build(case)
    examples = ten_examples(method)
    batch = method.collate(examples)
    _, scores, attention = sentences(method, batch)
    assert_close(scores.exp().sum(-1), torch.ones(10, 8))
    assert attention.shape == (10, 2, method.vision.rows, method.vision.columns) and attention.min() >= 0
    assert (attention.sum((1, 2, 3)) <= 1 + 1e-5).all() and (attention.sum((2, 3)) > 0).all()
    judged, by_head = judge(method, examples, SAME)
    assert judged.shape == (10,) and (judged > 0).all() and (judged < 1).all()
    assert by_head == case.name.startswith("pcl")


def test_a_word_keeps_its_rows_wherever_it_stands(case):
    """Which tensors have a row for each word is seen from their shapes, as the other vocabulary is longer."""
    words = Vocabulary.from_captions(
        ["a zebra sees the quagga", *CAPTIONS[1:8], "aardvarks moved over there"]
    )
    old, new = build(case), build(case, 1, words)
    before, fresh = old.state_dict(), {name: t.clone() for name, t in new.state_dict().items()}
    tables = [name for name, tensor in fresh.items() if tensor.shape != before[name].shape]
    shared = set(words.entries) & set(VOCABULARY.entries)
    assert len(tables) >= 2 and len(words) > len(VOCABULARY) > len(shared) > 6
    said = initialise_from(new, old, "old")
    assert f"; {len(shared)} of {len(words)} words were known" in said
    for name in tables:
        for number, word in enumerate(words.entries):
            known = word in shared
            wanted = before[name][VOCABULARY.entries.index(word)] if known else fresh[name][number]
            assert torch.equal(new.state_dict()[name][number], wanted), (name, word)


@pytest.mark.parametrize(
    ("one", "other"),
    [("scorer-paper", "pcl-paper"), ("clip4idc-paper", "pcl-paper"), ("pcl-paper", "clip4idc-ft1")],
)
def test_another_methods_weights_are_refused(one, other):
    """CLIP4IDC and PCL both have a tensor pair.entry_norm.weight, which are not the same thing."""
    with pytest.raises(RecipeError, match=r"RUN: these are weights of .*none of them fits"):
        initialise_from(build(CASES[one]), build(CASES[other]), "RUN")


def test_another_method_hands_on_what_sees_pictures():
    old, new = build(CASES["pcl-shipped"]), build(CASES["clip4idc-words"], 1)
    fresh = {name: tensor.clone() for name, tensor in new.state_dict().items()}
    assert initialise_from(new, old, "old").endswith("of pcl only its vision")
    for name, tensor in new.state_dict().items():
        seen = name.startswith("vision.")
        assert torch.equal(tensor, old.state_dict()[name] if seen else fresh[name]), name


def test_pcl_and_pcl_on_birds_begin_from_each_other():
    pcl, birds = CASES["pcl-paper"], CASES["pcl-cross-task-paper"]
    for one, other in ((pcl, birds), (birds, pcl)):
        new, old = build(one), build(other, 1)
        assert "words were known" in initialise_from(new, old, "old")
        assert torch.equal(new.cross.blocks[0].ffn[0].weight, old.cross.blocks[0].ffn[0].weight)
