"""The frozen tokens of a trained run as the vision of a comparison's methods."""

from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from tiny_pool import HEIGHT, VISION, WIDTH, draw

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.data.sources import Sources
from whatchanged.training.objects.checked_rows import CheckedRows
from whatchanged.training.objects.pool import open_shards
from whatchanged.training.objects.pool_source import ORDERED, PoolSource
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.vocabulary import Vocabulary

KEEP, COLUMNS, ROWS = 6, WIDTH // 8, HEIGHT // 8


SCRIPT = "compare_tokens"


@pytest.fixture(scope="module")
def vision():
    torch.manual_seed(0)
    return ObjectVision(VISION).eval()


@pytest.fixture(scope="module")
def packed(vision):
    """Tokens of two batches of three pictures, most salient first."""
    torch.manual_seed(1)
    with torch.inference_mode():
        return vision.to_tokens(torch.randn(3, 3, HEIGHT, WIDTH)), vision.to_tokens(
            torch.randn(3, 3, HEIGHT, WIDTH)
        )


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    return open_shards(draw(tmp_path_factory.mktemp("pool") / "tiny"))


@pytest.fixture
def pairs(pool):
    """Official pairs of all ten triples, the stored tokens saying which triple and picture they are of."""
    marks = [10 * np.arange(5)[:, None, None] + 100 * s.number + np.arange(3) for s in pool]
    tokens = [np.broadcast_to(m[..., None, None], (*m.shape, KEEP, 4)).astype(np.float16) for m in marks]
    tokens = [CheckedRows(Path("tokens"), rows, None, "") for rows in tokens]
    return PoolSource(pool, tokens, 0, 10, ORDERED["official"], "full", True)


def shared_vision(bench, vision, pairs):
    return bench.SharedVision(vision, Sources(pairs, pairs, Vocabulary.from_captions(["a"])), pairs, None)


def marks(example):
    return int(example.before[0, 0]), int(example.after[0, 0])


@pytest.mark.parametrize("matched", [False, True])
def test_nothing_of_it_is_trained_counted_or_saved(bench, vision, packed, matched):
    tokens = bench.FrozenObjectTokens(vision, matched, packed)
    assert not list(tokens.parameters()) and not tokens.state_dict()
    assert not tokens.parameters_without_gradient(["caption"])
    matched = tokens.add_match_features(tokens.tokens(*packed)).before.features
    assert matched.shape == (3, KEEP, tokens.width) and not matched.requires_grad


def test_plain_tokens_stand_in_reading_order_and_say_where_they_lie(bench, vision, packed):
    tokens = bench.FrozenObjectTokens(vision, False, packed)
    pair = tokens.add_match_features(tokens.tokens(*packed))
    found = pair.after.features * tokens.deviation + tokens.mean
    with torch.inference_mode():
        raw = vision.tokens(*packed).after
    for b in range(3):
        order = sorted(range(KEEP), key=lambda n: int(raw.cells[b, n]))
        for rank, n in enumerate(order):
            row, column = divmod(int(raw.cells[b, n]), COLUMNS)
            lies = [2 * row / ROWS - 1, 2 * column / COLUMNS - 1]
            own = [*raw.features[b, n].tolist(), *lies, *raw.ground_positions[b, n].tolist()]
            assert np.allclose(found[b, rank], [*own, float(raw.salience[b, n])], atol=1e-5)
    assert pair.before.cells.tolist() == [list(range(KEEP))] * 3


def test_matched_tokens_are_the_visions_own_in_another_order_cut_at_the_most(bench, vision, packed):
    tokens = bench.FrozenObjectTokens(vision, True, packed)
    ours = tokens.add_match_features(tokens.tokens(*packed)).before.features
    with torch.inference_mode():
        raw = vision.tokens(*packed)
        theirs = (vision.add_match_features(raw).before.features - tokens.mean) / tokens.deviation
    order = raw.before.cells.argsort(dim=1)
    wanted = theirs.gather(1, order[..., None].expand_as(theirs))
    wanted[..., tokens.raw_width :].clamp_(-5, 5)
    assert torch.allclose(ours, wanted, atol=1e-3)


@pytest.mark.parametrize("matched", [False, True])
def test_features_of_the_sample_have_mean_0_and_deviation_1(bench, vision, packed, matched):
    tokens = bench.FrozenObjectTokens(vision, matched, packed)
    pair = tokens.tokens(*packed)
    seen = torch.cat([pair.before.features, pair.after.features]).flatten(0, 1)
    known = tokens.deviation[: tokens.raw_width] > bench.LEAST_DEVIATION
    assert known.sum() > 10 and torch.allclose(seen.mean(0), torch.zeros(tokens.raw_width), atol=1e-3)
    assert torch.allclose(seen.std(0)[known], torch.ones(int(known.sum())), atol=1e-3)


@pytest.mark.parametrize("matched", [False, True])
def test_of_a_hidden_token_nothing_own_is_left(bench, vision, packed, matched):
    tokens = bench.FrozenObjectTokens(vision, matched, packed)
    hidden = torch.zeros(3, KEEP, dtype=torch.bool)
    hidden[1:, 2] = True
    pair = tokens.tokens(*packed)
    shown = pair.before.features
    before = tokens.add_match_features(pair, (hidden, None)).before.features[..., : tokens.raw_width]
    assert torch.equal(before[1, 2], before[2, 2]) and not torch.equal(shown[1, 2], shown[2, 2])
    assert torch.allclose(before[0], shown[0], atol=1e-4)


def test_scenes_hold_both_pairs_and_exchange_the_unchanged_views(bench, pairs):
    rng, results = np.random.default_rng(0), set()
    scenes = bench.Scenes(pairs, True)
    assert len(scenes) == 10
    for _ in range(20):
        first = scenes.example(6, rng)  # shard 1, triple 1
        assert first.record.changed and not first.partner.record.changed
        assert first.caption == pairs.captions(12, rng)[0] != first.partner.caption
        results.add((*marks(first), *marks(first.partner)))
    assert results == {(110, 111, 110, 112), (112, 111, 112, 110)}
    plain = bench.Scenes(pairs, False)
    assert {marks(plain.example(6, rng)) for _ in range(9)} == {(110, 111)}


def test_only_recipes_of_scenes_get_scenes(bench, pairs, vision):
    shared = shared_vision(bench, vision, pairs)
    data = load_recipe("scorer-table6-5-scorer-cbr").data
    scenes = shared.sources(data).train
    assert isinstance(scenes, bench.Scenes) and scenes.exchange
    assert shared.sources(replace(data, examples="captions")).train is pairs


def test_a_run_that_matches_nothing_is_refused(bench, monkeypatch):
    recipe = load_recipe("pcl-tiny")
    vision = ObjectVision(replace(VISION, matching=False, scene_context=False))
    blind = type("Method", (), {"vision": vision})()
    monkeypatch.setattr(bench, "open_trained", lambda _: (recipe, blind, frozenset()))
    with pytest.raises(RecipeError, match="matches no tokens"):
        bench.open_shared(Path("run"), recipe, Path("kept"), torch.device("cpu"))


def test_the_sample_is_the_first_shards_official_pairs(bench, pairs, vision):
    asked = []
    with mock.patch.object(bench, "FrozenObjectTokens", lambda *given: asked.append(given)):
        shared_vision(bench, vision, pairs).tokens(True)
    before, after = asked[0][2]
    assert before[:, 0, 0].tolist() == [0, 10, 20, 30, 40] * 2
    assert after[:, 0, 0].tolist() == [1, 11, 21, 31, 41, 2, 12, 22, 32, 42]
