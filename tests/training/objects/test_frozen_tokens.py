"""What a finished vision does to its tokens: one scale for every number, and matched tokens side by side."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_objects import build, pictures
from torch.testing import assert_close

from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.build import build_method
from whatchanged.training.export.graphs import compare, write_graphs
from whatchanged.training.objects.frozen_tokens import LARGEST, Standardised, match_order
from whatchanged.training.vision.base import StandardisedVision
from whatchanged.vocabulary import Vocabulary


def frozen(**changes):
    torch.manual_seed(0)
    return build(frozen=True, **changes)


def by_hand(scores):
    """The order of one pair's tokens, found one at a time. scores: rows before, columns after, last
    nowhere."""
    tokens = len(scores) - 1
    best_after = [max(range(tokens + 1), key=lambda j, i=i: scores[i][j]) for i in range(tokens)]
    best_before = [max(range(tokens + 1), key=lambda i, j=j: scores[i][j]) for j in range(tokens)]
    placed = {i: j for i, j in enumerate(best_after) if j < tokens and best_before[j] == i}
    left = iter([j for j in range(tokens) if j not in placed.values()])
    return [placed[i] if i in placed else next(left) for i in range(tokens)]


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_matched_tokens_stand_side_by_side_and_the_others_fill_the_gaps(tokens, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = (
        torch.randperm((tokens + 1) ** 2 * 3, generator=generator).view(3, tokens + 1, tokens + 1).float()
    )
    found = match_order(scores).tolist()
    assert found == [by_hand(one.tolist()) for one in scores]
    assert all(sorted(order) == list(range(tokens)) for order in found)


def test_what_matches_nowhere_takes_a_free_place():
    """Before: a, b, c. After: c, a, d. b went, d came: d stands where b stood."""
    sure, not_at_all = 0.0, -9.0
    scores = torch.full((1, 4, 4), not_at_all)
    scores[0, 0, 1] = scores[0, 2, 0] = scores[0, 1, 3] = scores[0, 3, 2] = sure
    assert match_order(scores).tolist() == [[1, 2, 0]]


def test_aligned_tokens_are_the_same_tokens_in_another_order():
    vision, plain = frozen(aligned=True), frozen()
    plain.load_state_dict(vision.state_dict())
    pair, other = (v.tokens(pictures(2, 1), pictures(2, 2)) for v in (vision, plain))
    assert torch.equal(pair.before.features, other.before.features)
    assert pair.aligned and pair.after.aligned and not other.aligned
    for b in range(2):
        order = [other.after.cells[b].tolist().index(cell) for cell in pair.after.cells[b].tolist()]
        assert sorted(order) == list(range(6))
        for name in ("features", "ground_positions", "salience"):
            assert torch.equal(getattr(pair.after, name)[b], getattr(other.after, name)[b, order]), name


def test_a_picture_beside_itself_is_in_order():
    """Each token of a picture matches itself best."""
    before = pictures(3)
    pair = frozen(aligned=True).tokens(before, before)
    assert torch.equal(pair.before.cells, pair.after.cells)


def test_every_number_has_mean_0_and_deviation_1_over_what_was_measured():
    vision = frozen()
    before, after = pictures(8, 1), pictures(8, 2)
    vision.measure(before, after)
    raw = build()
    raw.load_state_dict(vision.state_dict(), strict=False)
    wanted = torch.cat([side.features for side in raw.add_match_features(raw.tokens(before, after))])
    found = torch.cat([side.features for side in vision.add_match_features(vision.tokens(before, after))])
    flat = wanted.flatten(0, 1)
    scaled = (wanted - flat.mean(0)) / flat.std(0).clamp_min(0.01)
    assert_close(found, scaled.clamp(-LARGEST, LARGEST), atol=1e-4, rtol=0)
    assert not torch.equal(found, wanted)


def test_extreme_numbers_are_cut():
    scale = Standardised(2)
    scale.measure(torch.tensor([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    found = scale(torch.tensor([[[2.0, 5.0], [4.0, 6.0], [-100.0, 5.01]]]))
    assert_close(found[0], torch.tensor([[0.0, 0.0], [1.0, LARGEST], [-LARGEST, 1.0]]), atol=1e-3, rtol=0)


def test_nothing_of_a_frozen_vision_learns():
    vision = frozen()
    assert vision.standardises and isinstance(vision, StandardisedVision) and not vision.tasks
    names = {name for name, _ in vision.named_parameters()}
    assert vision.token_parameters() == vision.parameters_without_gradient(["caption"]) == names
    assert not any(parameter.requires_grad for parameter in vision.parameters())
    assert not build().standardises


def test_a_vision_that_is_not_frozen_keeps_its_scale():
    vision = build()
    before = {name: tensor.clone() for name, tensor in vision.state_dict().items()}
    vision.measure(pictures(2, 1), pictures(2, 2))
    assert all(torch.equal(tensor, before[name]) for name, tensor in vision.state_dict().items())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_graphs_of_aligned_tokens_write_the_same_words_for_any_number_of_pairs(tmp_path):
    """Traced on two pairs, run on five."""
    settings = ScorerConfig(width=24, word_width=10, heads=4, max_length=14, preset="authors")
    vocabulary = Vocabulary.from_captions(["the red cube moved", "no change was made"])
    torch.manual_seed(0)
    method = build_method(settings, frozen(aligned=True), vocabulary).eval()
    before, after = (
        np.random.default_rng(seed).standard_normal((5, 3, 64, 96), np.float32) for seed in (1, 2)
    )
    write_graphs(method, (before[:2], after[:2]), tmp_path)
    assert compare(method, tmp_path, before, after) < 1e-3
