"""Scores on validation data, of methods that say and embed what is written here."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from whatchanged.errors import RecipeError
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.validation import validate
from whatchanged.vocabulary import BOS, EOS, Vocabulary, padded

SENTENCES = [
    ("the cube moved", "the block moved"),
    ("the ball is gone",),
    ("no change was made", "nothing changed"),
]
SAID = ["the cube moved", "the cube is gone", "no change was made"]


class Pairs:
    def __len__(self):
        return len(SENTENCES)

    def example(self, index, rng):
        record = PairRecord(
            "d", str(index), "g", "val", "pair_caption", Path("a"), Path("b"), SENTENCES[index]
        )
        return Example(record, "", np.array([index]), np.array([index]))


class Parrot(nn.Module):
    """Says a fixed sentence for each pair, one word a step."""

    vocabulary = Vocabulary.from_captions(SAID)
    max_length = 12

    def collate(self, examples):
        numbers = torch.tensor([int(e.before[0]) for e in examples])
        batch = SimpleNamespace(before=numbers, after=numbers, ids=numbers)
        batch.to = lambda device: batch
        return batch

    def encode(self, before, after):
        assert not self.training and not torch.is_grad_enabled()
        return torch.tensor(padded([self.vocabulary.sentence(SAID[i]) for i in before], 8))

    def first_cache(self, memory):
        return {"ids": memory}

    def step(self, memory, previous, position, cache):
        assert (previous == BOS).all() == (position == 1)
        wanted = cache["ids"][:, min(position, 7)]
        wanted = torch.where(torch.tensor(position > 7), torch.tensor(EOS), wanted)
        return torch.nn.functional.one_hot(wanted, len(self.vocabulary)).log(), None, cache


def test_scores_are_those_of_the_greedy_captions():
    """Worked values: CIDEr 4.414852, 2.536194, 5.0 and ROUGE-L 1.0, 0.75, 1.0 for these three pairs."""
    parrot = Parrot().train()
    scores = validate(parrot, Pairs(), torch.device("cpu"))
    assert scores["CIDEr-D"] == pytest.approx(100 * (4.414852 + 2.536194 + 5.0) / 3, abs=1e-4)
    assert scores["ROUGE-L"] == pytest.approx(100 * (1 + 0.75 + 1) / 3, abs=1e-4)
    assert scores["distinct"] == 3
    assert parrot.training


class Embedder(nn.Module):
    """Embeds each pair as the axis of its number, and each caption as the axis that ``READ`` gives it."""

    READ = (0, 0, 2, 3)
    vocabulary = Vocabulary.from_captions(SAID)

    def collate(self, examples):
        numbers = torch.tensor([int(e.before[0]) for e in examples])
        batch = SimpleNamespace(before=numbers, after=numbers, ids=numbers)
        batch.to = lambda device: batch
        return batch

    def embed_pairs(self, before, after):
        assert not self.training and not torch.is_grad_enabled()
        return 5.0 * torch.eye(4)[before]

    def embed_texts(self, ids):
        return torch.eye(4)[torch.tensor(self.READ)[ids]]


class FourPairs(Pairs):
    def __init__(self, changed):
        self.changed = changed

    def __len__(self):
        return 4

    def example(self, index, rng):
        record = PairRecord(
            "d",
            str(index),
            "g",
            "val",
            "pair_caption",
            Path("a"),
            Path("b"),
            ("x",),
            changed=self.changed[index],
        )
        return Example(record, "x", np.array([index]), np.array([index]))


def test_retrieval_ranks_the_changed_pairs():
    """Sentence 1 reads 0, so pair 1 is one of three zeros for it, behind one larger; the rest are right."""
    embedder = Embedder().train()
    scores = validate(embedder, FourPairs([True] * 4), torch.device("cpu"), "R@1")
    assert scores["R@1"] == scores["text_to_pair/R@1"] == 75 and embedder.training
    assert scores["text_to_pair/MnR"] == pytest.approx((1 + 3 + 1 + 1) / 4)
    some = validate(embedder, FourPairs([True, False, True, None]), torch.device("cpu"), "R@1")
    assert some["R@1"] == 100
    with pytest.raises(RecipeError, match="no validation pair changed"):
        validate(embedder, FourPairs([False] * 4), torch.device("cpu"), "R@1")


class Constant(Embedder):
    """Embeds all pairs alike."""

    def embed_pairs(self, before, after):
        return torch.ones(len(before), 4)


def test_a_model_that_tells_nothing_apart_finds_one_in_n():
    assert validate(Constant(), FourPairs([True] * 4), torch.device("cpu"), "R@1")["R@1"] == 25


class Named(Embedder):
    """Reads in a caption the number that it is."""

    def collate(self, examples):
        batch = super().collate(examples)
        batch.ids = torch.tensor([int(e.caption) for e in examples])
        return batch

    def embed_texts(self, ids):
        return torch.eye(4)[ids]


class ManyCaptions(FourPairs):
    """Pair i has the captions i, i + 1 and i + 2; the last two name others."""

    def example(self, index, rng):
        example = super().example(index, rng)
        captions = tuple(str((index + k) % 4) for k in range(3))
        return replace(example, caption=captions[0], record=replace(example.record, captions=captions))


def test_every_caption_asks():
    scores = validate(Named(), ManyCaptions([True] * 4), torch.device("cpu"), "R@1")
    assert scores["R@1"] == pytest.approx(100 / 3)


def test_retrieval_needs_a_method_that_embeds():
    with pytest.raises(RecipeError, match="needs a method that embeds captions"):
        validate(Parrot(), Pairs(), torch.device("cpu"), "R@1")
