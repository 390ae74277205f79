"""Files of the three methods' authors: the same words as the plain network that they were written from."""

import json
import pickle
import sys
import types

import pytest
import torch
from support.authors_networks import (
    PCL_WORDS,
    SCORER_WORDS,
    clip4idc_logits,
    clip4idc_shapes,
    clip4idc_tokens,
    pcl_logits,
    pcl_sentences,
    pcl_state,
    random_state,
    scorer_logits,
    scorer_sentences,
    scorer_states,
)
from support.tiny_clip4idc import PIECES, SIZES, VISION, pictures, tiny
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.validation import decode_memory
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.weights.clip_weights import load_clip
from whatchanged.training.weights.pcl_weights import load_pcl, pcl_words
from whatchanged.training.weights.scorer_weights import load_scorer, scorer_words
from whatchanged.vocabulary import BOS, CLS, EOS, MASK, UNK

GRID, FEATURES, HEADS, LENGTH = (3, 3), 24, 4, 12


@pytest.fixture
def folder(tmp_path):
    """A folder with the authors' vocabularies."""
    (tmp_path / "dict.json").write_text(json.dumps(PCL_WORDS))
    (tmp_path / "transformer_vocab.json").write_text(json.dumps(SCORER_WORDS))
    return tmp_path


def pair(pairs=4, seed=8):
    generator = torch.Generator().manual_seed(seed)
    return tuple(3 * torch.randn(pairs, 9, FEATURES, generator=generator) for _ in range(2))


def pcl(vocabulary, **changes):
    settings = {"preset": "authors", "width": 16, "heads": HEADS, "ffn": 24, "cross_layers": 2}
    config = PCLConfig(**(settings | {"max_length": LENGTH} | changes))
    return PCL(config, StoredFeatures(*GRID, FEATURES), vocabulary).eval()


def scorer(vocabulary, **changes):
    settings = {"width": 16, "word_width": 6, "heads": HEADS, "layers": 2, "decoder_layers": 2}
    config = ScorerConfig(preset="authors", **(settings | {"max_length": LENGTH} | changes))
    return SCORER(config, StoredFeatures(*GRID, FEATURES), vocabulary).eval()


def sentences(method, before, after):
    memory = method.encode(before, after)
    rows = decode_memory(method, memory, len(before), before.device)
    return [method.vocabulary.text(row.ids) for row in rows]


@torch.no_grad()
def test_pcl_fine_tuned_says_the_same(folder):
    state, file = pcl_state(), folder / "checkpoint_best.pt"
    torch.save({f"module.{name}": tensor for name, tensor in state.items()}, file)
    method = pcl(pcl_words(file))
    report = load_pcl(method, file)
    assert report.learned == {"caption"} and not report.unused
    before, after = pair()
    entries = method.vocabulary.entries
    text = "the red cube <MASK>"
    ids = torch.tensor([[PCL_WORDS["<BOS>"], *(PCL_WORDS[word] for word in text.split())]]).expand(4, -1)
    ours = torch.tensor([[BOS, *(entries.index(word) for word in text.split())]]).expand(4, -1)
    logits, judged = pcl_logits(state, before, after, ids, HEADS)
    order = [PCL_WORDS[word] for word in entries]
    assert_close(method.caption_logits(before, after, ours), logits[..., order], atol=1e-4, rtol=1e-4)
    assert_close(
        method.no_change(method.encode(before, after)), judged.softmax(-1)[:, 0], atol=1e-5, rtol=1e-4
    )
    said = pcl_sentences(state, before, after, HEADS, LENGTH)
    assert sentences(method, before, after) == said and len(set(said)) > 1


@torch.no_grad()
def test_pcl_pretrained_has_its_own_heads(folder):
    state, file = pcl_state(pretraining=True), folder / "checkpoint_7.pt"
    torch.save(
        {"step": 7, "model_state_dict": state, "optimizer_state_dict": {"state": {0: {"step": 1}}}}, file
    )
    method = pcl(pcl_words(file))
    judge = method.distractor.weight.clone()
    report = load_pcl(method, file)
    assert report.learned == {"mlm", "mvcl", "fda"} and not report.unused
    assert torch.equal(method.regressor.net[0].weight, state["feat_regress.net.0.weight"])
    assert torch.equal(method.pooler.weight, state["pooler.0.weight"])
    assert torch.equal(method.distractor.weight, judge)


def attributes():
    """The settings' class as the authors' code has it: pickle knows it by this name."""
    module = types.ModuleType("utils.attr_dict")
    module.AttrDict = type("AttrDict", (dict,), {"__module__": "utils.attr_dict"})
    return module


@torch.no_grad()
def test_scorer_says_the_same(folder, monkeypatch):
    detector, speaker = scorer_states()
    module = attributes()
    monkeypatch.setitem(sys.modules, "utils", types.ModuleType("utils"))
    monkeypatch.setitem(sys.modules, "utils.attr_dict", module)
    settings = module.AttrDict(model=module.AttrDict(att_head=4))
    settings.__dict__["__immutable__"] = False
    file = folder / "scorer_checkpoint_10000.pt"
    torch.save({"change_detector_state": detector, "speaker_state": speaker, "model_cfg": settings}, file)
    monkeypatch.undo()
    method = scorer(scorer_words(file))
    report = load_scorer(method, file)
    assert report.learned == {"caption"} and not report.unused
    before, after = pair()
    ids = torch.tensor([[2, 4, 6, 5]]).expand(4, -1)
    names = {number: word for word, number in SCORER_WORDS.items()}
    entries = method.vocabulary.entries
    ours = torch.tensor([[BOS, *(entries.index(names[int(number)]) for number in ids[0, 1:])]]).expand(4, -1)
    logits = scorer_logits(detector, speaker, before, after, ids, GRID, HEADS)
    difference, _ = method.difference(*method.tokens(method.pair(before, after)))
    own = method.decoder.output(method.decoder(ours, difference)[0])
    words = [SCORER_WORDS[word] for word in entries[6:]]
    assert_close(own[..., 6:], logits[..., words], atol=1e-4, rtol=1e-4)
    assert_close(own[..., EOS], logits[..., 3], atol=1e-4, rtol=1e-4)
    assert_close(
        own.logsumexp(-1), logits.logsumexp(-1), atol=1e-4, rtol=1e-4
    )  # two marks more count nothing
    said = scorer_sentences(detector, speaker, before, after, GRID, HEADS, LENGTH)
    assert sentences(method, before, after) == said and len(set(said)) > 1


CLIP_SIZES = {**SIZES, "joint_width": SIZES["decoder_width"]}  # the code has no layer between the two


def clip4idc_state():
    rows = len(PIECES) - 4
    shapes = clip4idc_shapes(CLIP_SIZES, rows, patches=6, patch=VISION.patch)
    return random_state(shapes, 5, scale=0.4)


@torch.no_grad()
def test_clip4idc_says_the_same(tmp_path):
    state, file = clip4idc_state(), tmp_path / "pytorch_model.bin.9"
    tied = {"decoder.embeddings.word_embeddings.weight": state["clip.token_embedding.weight"]}
    torch.save({**state, **tied}, file)
    method = tiny(vocabulary=PIECES, joint_width=16)
    report = load_clip(method, file)
    assert report.learned == {"retrieval", "caption"} and not report.unused
    before, after = pictures()
    tokens = clip4idc_tokens(state, before, after, CLIP_SIZES)
    assert_close(method.pair(method.read(before, after)), tokens, atol=1e-4, rtol=1e-4)
    theirs = [PIECES.table_rows[BOS], 3, 260, 7]
    ours = torch.tensor([[BOS, 9, 266, 13, EOS]]).expand(3, -1)
    logits = clip4idc_logits(state, tokens, torch.tensor([theirs]).expand(3, -1), CLIP_SIZES)
    spoken = [i for i in range(len(PIECES)) if i not in (0, UNK, CLS, MASK)]
    rows = [PIECES.table_rows[i] for i in spoken]
    own = method.caption_logits(before, after, ours)[:, 1:]
    assert_close(own[..., spoken], logits[..., rows], atol=1e-3, rtol=1e-3)
    said = torch.tensor([[PIECES.table_rows[BOS]]]).expand(3, -1)
    for _ in range(8):
        step = clip4idc_logits(state, tokens, said, CLIP_SIZES)[:, -1]
        step[:, 0] = -1e9  # a pad
        said = torch.cat([said, step.argmax(-1)[:, None]], dim=1)
    memory = method.encode(before, after)
    cache, word, ids = method.first_cache(memory), torch.full((3,), BOS), []
    for position in range(1, 9):
        scores, _, cache = method.step(memory, word, position, cache)
        word = scores.argmax(-1)
        ids.append(torch.tensor(PIECES.table_rows)[word])
    assert torch.equal(torch.stack(ids, dim=1), said[:, 1:])


def test_a_file_of_retrieval_leaves_the_captioner_alone(tmp_path):
    state = {name: t for name, t in clip4idc_state().items() if not name.startswith("decoder.")}
    torch.save(state, tmp_path / "pytorch_model.bin.3")
    method = tiny(vocabulary=PIECES, joint_width=16)
    before = method.captioner.transform.weight.clone()
    assert load_clip(method, tmp_path / "pytorch_model.bin.3").learned == {"retrieval"}
    assert torch.equal(method.captioner.transform.weight, before)
    assert torch.equal(method.pair.sides[1], state["clip.visual.aft_embedding"])


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('the pickle ran')",)


def write(folder, state):
    torch.save(state, folder / "weights.pt")
    return folder / "weights.pt"


@pytest.mark.parametrize("where", ["beside", "settings"])
def test_a_hostile_file_is_refused_and_runs_nothing(folder, where):
    detector, speaker = scorer_states()
    evil = (
        {"model_cfg": Evil()} if where == "settings" else {"speaker_state": {**speaker, "logit.bias": Evil()}}
    )
    file = write(folder, {"change_detector_state": detector, "speaker_state": speaker, **evil})
    method = scorer(scorer_words(file))
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    with pytest.raises(RecipeError, match="no weights can be read here"):
        load_scorer(method, file)
    assert all(torch.equal(tensor, before[name]) for name, tensor in method.state_dict().items())
    (folder / "pickle.pt").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(RecipeError, match="no weights can be read here"):
        load_pcl(pcl(pcl_words(folder / "pickle.pt")), folder / "pickle.pt")


def test_other_sizes_are_named_with_what_to_type(folder):
    file = write(folder, pcl_state(ffn=32, cross=3))
    with pytest.raises(RecipeError, match=r"--set method\.ffn=32 --set method\.cross_layers=3$"):
        load_pcl(pcl(pcl_words(file)), file)
    detector, speaker = scorer_states(grid=(3, 4))
    file = write(folder, {"change_detector_state": detector, "speaker_state": speaker})
    with pytest.raises(
        RecipeError, match=r"vision\.columns 4 \(the recipe says 3\).*--set vision\.columns=4"
    ):
        load_scorer(scorer(scorer_words(file)), file)


def test_another_preset_another_file_and_a_tensor_less_are_named(folder):
    state = pcl_state()
    file = write(folder, state)
    with pytest.raises(RecipeError, match="the recipe computes as the paper says"):
        load_pcl(pcl(pcl_words(file), preset="paper"), file)
    with pytest.raises(RecipeError, match="no weights of SCORER's authors"):
        load_scorer(scorer(scorer_words(file)), file)
    lacking = write(
        folder, {name: t for name, t in state.items() if name != "encoder.layers.1.attn.out.bias"}
    )
    with pytest.raises(RecipeError, match=r"1 missing: cross\.blocks\.1\.attention\.out\.bias"):
        load_pcl(pcl(pcl_words(file)), lacking)
    odd = write(folder, {**state, "something.else": torch.zeros(2)})
    assert load_pcl(pcl(pcl_words(file)), odd).unused == ("something.else",)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (None, "must lie beside it, as dict.json or dict_cub_bird.json"),
        ("{", "no vocabulary can be read here"),
        ({**PCL_WORDS, "two words": len(PCL_WORDS)}, "'two words' is not a word"),
        ({word: i + 1 for word, i in PCL_WORDS.items()}, "ids from 0 on"),
        (SCORER_WORDS, "among them <PAD>"),
        (
            {**PCL_WORDS, "more": len(PCL_WORDS)},
            "its table has 15 rows, and the vocabulary beside it 16 words",
        ),
    ],
)
def test_the_vocabulary_must_be_that_of_the_weights(tmp_path, words, message):
    if words is not None:
        text = words if isinstance(words, str) else json.dumps(words)
        (tmp_path / "dict.json").write_text(text)
    file = write(tmp_path, pcl_state())
    with pytest.raises(RecipeError, match=message):
        load_pcl(pcl(pcl_words(file)), file)
