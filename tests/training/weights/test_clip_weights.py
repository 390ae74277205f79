"""CLIP's weights in three layouts into CLIP4IDC. transformers' CLIPModel says what CLIP computes; its random
tensors, renamed, stand for the other two layouts."""

import io
import pickle
import warnings
import zipfile
from collections import OrderedDict

import pytest
import torch
from safetensors.torch import save_file
from support.tiny_clip4idc import PIECES, SIZES, WORDS, random_batch, tiny
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.recipes import PatchesConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.methods.clip4idc import CLIP4IDC, NEW
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.vision.patches import PatchVision
from whatchanged.training.weights.clip_archive import read_tensors
from whatchanged.training.weights.clip_weights import load_clip, to_openai

ROWS = len(PIECES) - 4


@pytest.fixture(scope="module")
def clip():
    """A random CLIP with patches of 8 on squares of 16, and its side as wide as the pair's."""
    face = pytest.importorskip(
        "transformers", reason="transformers is not installed; it says what CLIP computes"
    )
    text = {
        "vocab_size": ROWS,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 18,
        "bos_token_id": ROWS - 2,
        "eos_token_id": ROWS - 1,
    }
    sight = {
        "hidden_size": 24,
        "intermediate_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "image_size": 24,
        "patch_size": 8,
    }
    torch.manual_seed(3)
    model = face.CLIPModel(face.CLIPConfig(text_config=text, vision_config=sight, projection_dim=12)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def square(vocabulary=PIECES, **settings):
    """A tiny CLIP4IDC on squares of 24 pixels, nine patches."""
    vision = PatchVision(PatchesConfig(image_width=24, image_height=24, patch=8))
    return CLIP4IDC(CLIP4IDCConfig(**{**SIZES, **settings}), vision, vocabulary).eval()


def openai(state):
    """Hugging Face's tensors under OpenAI's names, by the published description of both."""
    results = {"logit_scale": state["logit_scale"]}
    for side, target, width in (
        ("vision_model", "visual.transformer", 24),
        ("text_model", "transformer", 16),
    ):
        for i in range(3 if side == "vision_model" else 2):
            old, new = f"{side}.encoder.layers.{i}.", f"{target}.resblocks.{i}."
            for kind in ("weight", "bias"):
                for a, b in (
                    ("layer_norm1", "ln_1"),
                    ("layer_norm2", "ln_2"),
                    ("mlp.fc1", "mlp.c_fc"),
                    ("mlp.fc2", "mlp.c_proj"),
                    ("self_attn.out_proj", "attn.out_proj"),
                ):
                    results[f"{new}{b}.{kind}"] = state[f"{old}{a}.{kind}"]
                packed = torch.empty(3 * width, *([width] if kind == "weight" else []))
                for start, part in enumerate("qkv"):
                    rows = slice(start * width, (start + 1) * width)
                    packed[rows] = state[f"{old}self_attn.{part}_proj.{kind}"]
                results[f"{new}attn.in_proj_{kind}"] = packed
    vision, text = "vision_model.embeddings.", "text_model.embeddings."
    results["visual.conv1.weight"] = state[vision + "patch_embedding.weight"]
    results["visual.class_embedding"] = state[vision + "class_embedding"]
    results["visual.positional_embedding"] = state[vision + "position_embedding.weight"]
    results["token_embedding.weight"] = state[text + "token_embedding.weight"]
    results["positional_embedding"] = state[text + "position_embedding.weight"]
    norms = {
        "vision_model.pre_layrnorm": "visual.ln_pre",
        "vision_model.post_layernorm": "visual.ln_post",
        "text_model.final_layer_norm": "ln_final",
    }
    for a, b in norms.items():
        for kind in ("weight", "bias"):
            results[f"{b}.{kind}"] = state[f"{a}.{kind}"]
    results["visual.proj"] = state["visual_projection.weight"].T
    results["text_projection"] = state["text_projection.weight"].T
    return results


class Shell(nn.Module):
    def forward(self) -> int:
        return 0


def scripted(state, path):
    """The tensors as OpenAI's archive holds them: a scripted module of modules, with numbers beside."""
    root = Shell()
    for name, tensor in {
        **state,
        "input_resolution": torch.tensor(24),
        "vocab_size": torch.tensor(9),
    }.items():
        *parents, leaf = name.split(".")
        module = root
        for parent in parents:
            if parent not in dict(module.named_children()):
                module.add_module(parent, Shell())
            module = getattr(module, parent)
        module.register_buffer(leaf, tensor.contiguous())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(root), str(path))


@pytest.fixture(params=["openai", "open_clip", "open_clip with text.", "hugging face"])
def layout(request, clip, tmp_path):
    state, path = dict(clip.state_dict()), tmp_path / "weights"
    if request.param == "openai":
        scripted(openai(state), path)
    elif request.param == "hugging face":
        save_file({n: t.contiguous() for n, t in state.items()}, path)
    else:
        text = "text." if "text." in request.param else ""
        plain = ("visual.", "logit_scale")
        named = {n if n.startswith(plain) else text + n: t for n, t in openai(state).items()}
        torch.save(named, path)
    return path


@torch.no_grad()
def clips_answers(clip, before, after, ids):
    """CLIP's own rows of each picture (2, B, 1 + N, J), and its vectors of the captions (B, J)."""
    rows = []
    for picture in (before, after):
        hidden = clip.vision_model(pixel_values=picture).last_hidden_state
        rows.append(clip.visual_projection(clip.vision_model.post_layernorm(hidden)))
    found = clip.get_text_features(input_ids=ids)
    return torch.stack(rows), getattr(found, "pooler_output", found)


@torch.no_grad()
def test_every_layout_computes_what_clip_computes(layout, clip):
    """FT1's picture tower is CLIP's; so are the inter blocks where both pictures are one and say no side."""
    before, after = (torch.randn(4, 3, 24, 24, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    method, baseline = square(preset="paper"), square(preset="paper", variant="ft1")
    ids = random_batch(tiny(vocabulary=PIECES)).ids
    table = torch.tensor(PIECES.table_rows)
    rows, vectors = clips_answers(clip, before, after, table[ids])
    report = load_clip(baseline, layout)
    assert not report.missing and not report.mismatched
    assert_close(baseline.pair(baseline.read(before, after)), torch.cat([*rows], dim=1), atol=2e-5, rtol=1e-4)
    report = load_clip(method, layout)
    assert report.unused == ("logit_scale",) and not report.missing and not report.mismatched
    assert_close(method.embed_texts(ids), vectors, atol=2e-5, rtol=1e-4)
    method.pair.sides.zero_()
    method.pair.side_positions.zero_()
    once = torch.cat([rows[0], rows[0]], dim=1)
    assert_close(method.pair(method.read(before, before)), once, atol=2e-5, rtol=1e-4)
    assert not torch.allclose(method.pair(method.read(before, after)), torch.cat([*rows], dim=1), atol=1e-2)


def test_every_layout_fills_the_same_tensors_and_leaves_the_new_ones(layout, clip):
    method, untouched = square(), square()
    untouched.load_state_dict(method.state_dict())
    report = load_clip(method, layout)
    assert not (report.unused or report.missing or report.mismatched)
    for name, tensor in method.named_parameters():
        new = name.startswith(("captioner.", *NEW))
        assert torch.equal(tensor, untouched.state_dict()[name]) == new, name
    assert method.log_scale.item() == pytest.approx(clip.logit_scale.item())


def test_ft2_takes_the_word_vectors_as_its_own(layout, clip):
    method = square(preset="paper", variant="ft2")
    report = load_clip(method, layout)
    assert not report.missing and not report.mismatched
    table = clip.text_model.embeddings.token_embedding.weight
    assert torch.equal(method.captioner.words.weight, table)
    assert {name.partition(".")[0] for name in report.unused} >= {
        "transformer",
        "ln_final",
        "text_projection",
    }


def test_what_is_missing_or_of_another_shape_is_named_and_refused(clip, tmp_path):
    state, path = openai(dict(clip.state_dict())), tmp_path / "w"
    state["visual.proj"] = state["visual.proj"].T.contiguous()  # 12 x 24: the wrong way round
    del state["ln_final.bias"]
    state["stranger"] = torch.zeros(1)
    torch.save(state, path)
    method = square()
    start = {n: t.clone() for n, t in method.state_dict().items()}
    with pytest.raises(RecipeError) as refused:
        load_clip(method, path)
    for words in (
        "1 missing: text.exit_norm.bias",
        "pair.project.weight (got (24, 12), wanted (12, 24))",
        "1 unused: stranger",
    ):
        assert words in str(refused.value)
    assert all(torch.equal(tensor, start[name]) for name, tensor in method.state_dict().items())


def test_words_cannot_take_clips_table_and_the_cure_is_said(clip, tmp_path):
    torch.save(openai(dict(clip.state_dict())), tmp_path / "w")

    with pytest.raises(RecipeError, match=r"needs CLIP's byte pairs: --set data\.merges="):
        load_clip(square(vocabulary=WORDS), tmp_path / "w")


def test_names_of_no_layout_are_left_alone():
    odd = {"visual.conv1.weight": torch.zeros(1), "x.y": torch.ones(1), "a.position_ids": torch.zeros(1)}
    assert to_openai(odd).keys() == {"visual.conv1.weight", "x.y"}


def test_a_run_begins_from_a_file_and_says_what_it_used(clip, tiny_dataset, tmp_path, capsys):
    """Straight from the recipe: pieces, archive, training; another method is refused."""
    scripted(openai(dict(clip.state_dict())), tmp_path / "clip.pt")
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\nt h\nth e</w>\nn o</w>\n")
    sizes = [f"method.{name}={value}" for name, value in SIZES.items() if not name.startswith("max_")]
    recipe = load_recipe(
        "clip4idc-tiny",
        [
            *sizes,
            "method.max_words=18",
            "method.max_length=19",
            "vision.image_width=24",
            "vision.image_height=24",
            "vision.patch=8",
            f"data.path={tiny_dataset}",
            f"data.merges={merges}",
            "stage.retrieval.steps=1",
            "stage.caption.steps=1",
            "stage.retrieval.rates={ clip = 0 }",
            "stage.caption.rates={ clip = 0 }",
            "stage.retrieval.log_every=1",
        ],
    )
    assert run_recipe(recipe, tmp_path / "run", device="cpu", init=tmp_path / "clip.pt").finished
    assert "tensors used" in capsys.readouterr().err
    _, method, _ = open_run(tmp_path / "run", "last")
    assert method.vocabulary == PIECES
    assert torch.equal(method.pair.class_token, clip.vision_model.embeddings.class_embedding)
    with pytest.raises(RecipeError, match="the vocabulary that its ids are of must lie beside it"):
        pcl = load_recipe(
            "pcl-tiny", [f"data.path={tiny_dataset}", f"data.features={tiny_dataset / 'features'}"]
        )
        run_recipe(pcl, tmp_path / "other", device="cpu", init=tmp_path / "clip.pt")


@pytest.mark.parametrize("kind", ["scripted", "state"])
def test_a_tensor_larger_than_its_storage_is_refused(tmp_path, kind):
    """Few bytes that would be read as 4 GB: every number is the same one of the storage."""
    path = tmp_path / "weights.pt"
    huge = torch.zeros(4, dtype=torch.float16).as_strided((1000, 1000, 1000), (0, 0, 0))
    if kind == "state":
        torch.save({"visual.proj": huge}, path)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("w/constants.pkl", b"")
            archive.writestr("w/data.pkl", hostile_names())
            archive.writestr("w/data/0", bytes(8))
    assert path.stat().st_size < 10_000
    with pytest.raises(RecipeError, match="repeats the numbers of its storage"):
        read_tensors(path)


@pytest.mark.parametrize("opcode", [b"r\xff\xff\xff\x4f", b"p1342177279\n"])
def test_an_object_of_a_number_beyond_the_pickle_is_refused(tmp_path, opcode):
    """Python makes room for as many objects: 20 GB for the five bytes of the first."""
    path = tmp_path / "weights.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w/constants.pkl", b"")
        archive.writestr("w/data.pkl", b"\x80\x02c__torch__\nInner\n" + opcode + b")\x81.")
    with pytest.raises(RecipeError, match="numbers an object 1,342,177,279"):
        read_tensors(path)


class Storage:
    """What the pickle of an archive calls by its number."""


def hostile_names():
    """A pickle of one module with one tensor of a billion numbers on a storage of four."""
    file = io.BytesIO()

    class Named(pickle.Pickler):
        def persistent_id(self, value):
            return ("storage", torch.HalfStorage, "0", "cpu", 4) if isinstance(value, Storage) else None

    class Tensor:
        def __reduce__(self):
            size, stride = (1000, 1000, 1000), (0, 0, 0)
            return torch._utils._rebuild_tensor_v2, (Storage(), 0, size, stride, False, OrderedDict())

    Named(file, 2).dump(Tensor())
    return file.getvalue()
