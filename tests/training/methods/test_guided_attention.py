"""The attention that guided attention trains is the attention that captioning shows, word by word."""

from dataclasses import replace
from unittest import mock

import pytest
import torch
from support import tiny_clip4idc
from support.tiny_objects import known
from support.tiny_pool import VISION
from torch.testing import assert_close

from whatchanged.recipes.tables import find_method
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.build import build_method
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.vocabulary import PAD, Vocabulary

CAPTIONS = ("the red cube moved", "the ball is gone", "a new thing appeared left of the ball")
METHODS = {
    "pcl": {"width": 24, "heads": 4, "ffn": 32, "max_length": 14, "every_word": True},
    "scorer": {"width": 24, "word_width": 10, "heads": 4, "max_length": 14},
    "clip4idc": {**tiny_clip4idc.SIZES, "heads": 2, "decoder_ffn": 32},
}


@pytest.fixture(params=METHODS)
def method(request):
    """A method that reads frozen tokens, in evaluation mode."""
    torch.manual_seed(0)
    aligned = request.param == "scorer"
    vision = ObjectVision(replace(VISION, frozen=True, guided_attention=True, aligned=aligned))
    settings = find_method(request.param, "here")(**METHODS[request.param])
    return build_method(settings, vision, Vocabulary.from_captions(CAPTIONS)).eval()


@pytest.fixture
def batch(method, tiny_pool):
    before, after, truths = known(tiny_pool)
    record = PairRecord("toy", "1", "1", "train", "pair_caption", "a", "b", ("x",), changed=True)
    pairs = zip(CAPTIONS, before.numpy(), after.numpy(), truths, strict=True)
    return method.collate([Example(record, c, b, a, truth=truth) for c, b, a, truth in pairs])


def test_it_is_what_each_step_shows(method, batch):
    with mock.patch.object(method.vision, "attention_terms", return_value={}) as asked, torch.no_grad():
        method.loss("caption", batch)
    pair, truth, looked, words = asked.call_args.args
    assert truth is batch.truth
    assert torch.equal(words, batch.ids[:, 1:] != PAD)
    with torch.no_grad():
        memory = method.encode(batch.before, batch.after)
        cache = method.first_cache(memory)
        for position in range(1, batch.ids.shape[1]):
            _, shown, cache = method.step(memory, batch.ids[:, position - 1], position, cache)
            wanted = shown.flatten(2).gather(2, pair.cells)  # (B, 2, N)
            real = words[:, position - 1]
            assert_close(looked[real, position - 1], wanted[real], atol=1e-5, rtol=0)


def test_it_teaches_only_where_it_is_switched_on(method, batch):
    assert "pointing" in method.loss("caption", batch)
    method.vision.guided_attention = False
    assert "pointing" not in method.loss("caption", batch)
