import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_pcl import VOCABULARY, caption_ids, random_batch, random_ids, tiny

from whatchanged.training.methods.pcl_objectives import IGNORED, corrupt_patches, corrupt_words
from whatchanged.training.vision.base import TokenPair, Tokens
from whatchanged.vocabulary import BOS, EOS, MASK, PAD


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def plain(pairs, count):
    """Tokens that nothing but their number matters of."""
    tokens = Tokens(torch.zeros(pairs, count, 1), torch.arange(count).expand(pairs, -1))
    return TokenPair(tokens, tokens)


def near(share, probability, trials):
    return abs(share - probability) < 4 * math.sqrt(probability * (1 - probability) / trials)


@pytest.fixture(scope="module")
def eight_words():
    """Many draws for one sentence of eight words, eight different ids."""
    row = torch.tensor([BOS, *range(6, 14), EOS, PAD, PAD])
    ids = row.expand(40_000, -1)
    return ids, *corrupt_words(ids, len(VOCABULARY), seeded(0))


def test_shares_of_labelled_positions(eight_words):
    ids, _, labels = eight_words
    shares, trials = (labels != IGNORED).double().mean(0).tolist(), len(ids)
    assert near(shares[1], 0.15 + 0.85**8, trials)  # the first word is forced where none was drawn
    assert all(near(share, 0.15, trials) for share in shares[2:10])
    assert shares[0] == shares[10] == shares[11] == 0.0


def test_of_the_chosen_words_80_10_10_are_masked_swapped_kept(eight_words):
    ids, inputs, labels = eight_words
    word = slice(2, 9)  # the first is forced too often
    chosen = (labels != IGNORED)[:, word]
    seen, true = inputs[:, word][chosen], ids[:, word][chosen]
    trials, stray = len(seen), 0.1 / len(VOCABULARY)  # a swap may draw MASK, or the word itself
    masked, kept = (seen == MASK).double().mean().item(), (seen == true).double().mean().item()
    assert near(masked, 0.8 + stray, trials)
    assert near(kept, 0.1 + stray, trials)
    swaps = Counter(seen[(seen != MASK) & (seen != true)].tolist())
    assert set(swaps) == set(range(len(VOCABULARY))) - {MASK}
    assert max(swaps.values()) < 1.6 * min(swaps[i] for i in range(5))


def test_the_forced_word_and_the_end_always_become_masks(eight_words):
    _, inputs, labels = eight_words
    assert set(inputs[labels[:, 9] == EOS][:, 9].tolist()) == {MASK}
    alone = ((labels != IGNORED)[:, 1:9].sum(1) == 1) & (labels[:, 1] != IGNORED)
    # Forced in 0.85^8 of the sentences, by chance (and then masked in 81 %) in 0.15 * 0.85^7.
    forced, chance = 0.85**8, 0.15 * 0.85**7
    expected = (forced + chance * (0.8 + 0.1 / len(VOCABULARY))) / (forced + chance)
    assert near((inputs[alone][:, 1] == MASK).double().mean().item(), expected, int(alone.sum()))


def test_the_end_is_drawn_apart_from_the_words(eight_words):
    _, _, labels = eight_words
    end, some = labels[:, 9] == EOS, (labels[:, 2:9] != IGNORED).any(1)
    assert near(end[some].double().mean().item(), 0.15, int(some.sum()))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**31), pairs=st.integers(1, 6), length=st.integers(6, 20))
def test_labels_restore_the_caption_and_specials_stay(seed, pairs, length):
    ids = random_ids(seeded(seed), pairs, length=length)
    inputs, labels = corrupt_words(ids, len(VOCABULARY), seeded(seed + 1))
    labelled = labels != IGNORED
    assert torch.equal(torch.where(labelled, labels, inputs), ids)
    assert not labelled[(ids == PAD) | (ids == BOS)].any()
    assert (labelled & (ids != EOS)).any(1).all()
    longer = torch.nn.functional.pad(ids, (0, 3), value=PAD)
    more_inputs, more_labels = corrupt_words(longer, len(VOCABULARY), seeded(seed + 1))
    assert torch.equal(more_inputs[:, :length], inputs) and torch.equal(more_labels[:, :length], labels)


def test_an_empty_caption_has_its_end_masked():
    inputs, labels = corrupt_words(torch.tensor([[BOS, EOS, PAD, PAD]]), len(VOCABULARY), seeded(0))
    assert inputs.tolist() == [[BOS, MASK, PAD, PAD]]
    assert labels.tolist() == [[IGNORED, EOS, IGNORED, IGNORED]]


def test_a_long_caption_is_cut_to_37_words():
    ids = caption_ids(" ".join(["w01"] * 60), 40)
    assert (ids[0], ids[38], ids[39]) == (BOS, EOS, PAD) and ids[1:38] == VOCABULARY.word_ids("w01") * 37


def test_patches_are_hidden_in_one_picture_by_binomial_counts():
    before, after = corrupt_patches(plain(20_000, 49), seeded(3))
    counts = torch.stack([before.sum(1), after.sum(1)])
    assert (counts.min(0).values == 0).all() and (counts.max(0).values > 0).all()
    assert near((counts[0] > 0).double().mean().item(), 0.5, 20_000)
    total = counts.sum(0).double()
    assert abs(total.mean().item() - 49 * 0.15 - 0.85**49) < 4 * math.sqrt(49 * 0.15 * 0.85 / 20_000)
    assert abs(total.var().item() / (49 * 0.15 * 0.85) - 1) < 0.05
    hit = (before | after).double().mean(0)
    assert hit.min() > 0.135 and hit.max() < 0.165


def test_the_forced_patch_is_any_patch():
    before, after = corrupt_patches(plain(8_000, 2), seeded(4))
    hidden = before | after
    only = hidden[hidden.sum(1) == 1].double().mean(0)
    assert near(only[0].item(), 0.5, 8_000 * 0.9)


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_hiding_leaves_stored_features_alone_and_hides_them_whole(preset):
    model = tiny(preset)
    batch = random_batch(model)
    stored = batch.before.clone(), batch.after.clone()
    batch.before.requires_grad_(), batch.after.requires_grad_()
    model.loss("mvcl", batch)["mvcl"].backward()
    assert torch.equal(batch.before, stored[0]) and torch.equal(batch.after, stored[1])
    hidden = corrupt_patches(model.tokens(batch), seeded(2))
    # Hidden features are data for the loss, and unseen by the network: no gradient reaches them.
    for picture, mask in zip((batch.before, batch.after), hidden, strict=True):
        assert (picture.grad[mask] == 0).all() and (picture.grad[~mask] != 0).any()


def test_corruption_follows_its_generator():
    model = tiny("paper")
    batch = random_batch(model)
    losses = [model.loss("mlm", random_batch(model, draw=draw))["mlm"].item() for draw in (5, 5, 6)]
    assert losses[0] == losses[1] != losses[2]
    assert batch.generator is not None
