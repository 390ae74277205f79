"""Vision models of transformers from a local folder, against that library's own outputs."""

import json
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.errors import MissingExtra, RecipeError
from whatchanged.launch import Launch
from whatchanged.processes import pools_from
from whatchanged.training.features import transformers_models
from whatchanged.training.features.backbones import open_backbone
from whatchanged.training.features.store import store_features

transformers = pytest.importorskip("transformers", reason="transformers is not installed (extra backbones)")

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
SIDE = 28
SMALL = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2}
MEAN, STD = [0.48, 0.45, 0.4], [0.26, 0.25, 0.27]
FORM = {"do_normalize": True, "image_mean": MEAN, "image_std": STD, "rescale_factor": 1 / 255}
FORM |= {"do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}, "size": {"shortest_edge": 32}}


def clip():
    text = {**SMALL, "vocab_size": 40, "max_position_embeddings": 8, "bos_token_id": 1, "eos_token_id": 2}
    vision = {**SMALL, "image_size": SIDE, "patch_size": 7}
    return transformers.CLIPModel(
        transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    )


def clip_vision():
    return transformers.CLIPVisionModel(transformers.CLIPVisionConfig(**SMALL, image_size=SIDE, patch_size=7))


def dinov2():
    small = {key: value for key, value in SMALL.items() if key != "intermediate_size"}
    return transformers.Dinov2Model(transformers.Dinov2Config(**small, image_size=42, patch_size=7))


def dinov2_with_registers():
    small = {key: value for key, value in SMALL.items() if key != "intermediate_size"}
    return transformers.Dinov2WithRegistersModel(
        transformers.Dinov2WithRegistersConfig(**small, image_size=42, patch_size=7, num_register_tokens=4)
    )


def siglip():
    return transformers.SiglipVisionModel(
        transformers.SiglipVisionConfig(**SMALL, image_size=SIDE, patch_size=7)
    )


def resnet():
    return transformers.ResNetModel(
        transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    )


def save(model, folder, form=None):
    """The model as the library saves it, with the file of its image processor beside it."""
    model.eval().save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(FORM if form is None else form))
    return folder


@pytest.fixture
def pictures():
    return np.random.default_rng(3).integers(0, 256, (2, SIDE, SIDE, 3), np.uint8)


def normalised(pictures):
    """In plain numbers: (B, 3, H, W)."""
    scaled = (pictures / 255 - np.array(MEAN)) / np.array(STD)
    return torch.from_numpy(scaled.transpose(0, 3, 1, 2).astype(np.float32))


@pytest.mark.parametrize(
    ("make", "others"),
    [(clip, 1), (clip_vision, 1), (dinov2, 1), (dinov2_with_registers, 5), (siglip, 0)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_features_are_the_librarys_tokens_of_the_cells(make, others, pictures, tmp_path):
    torch.manual_seed(1)
    model = make()
    backbone = open_backbone("transformers", save(model, tmp_path))
    eyes = getattr(model, "vision_model", model)
    with torch.inference_mode():
        wanted = eyes(normalised(pictures), output_hidden_states=True)
        last = backbone.grid_features(torch.from_numpy(pictures))
        inner = open_backbone("transformers:-2", tmp_path).grid_features(torch.from_numpy(pictures))
    assert (backbone.rows, backbone.columns, backbone.width) == (4, 4, 16)
    torch.testing.assert_close(last, wanted.last_hidden_state[:, others:], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(inner, wanted.hidden_states[-2][:, others:], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(last, inner)


def test_a_network_of_maps_gives_its_map(pictures, tmp_path):
    model = resnet()
    backbone = open_backbone("transformers", save(model, tmp_path))
    with torch.inference_mode():
        wanted = model(normalised(pictures)).last_hidden_state
        features = backbone.grid_features(torch.from_numpy(pictures))
    torch.testing.assert_close(features, wanted.flatten(2).transpose(1, 2), rtol=1e-4, atol=1e-5)
    assert (backbone.rows, backbone.columns) == tuple(wanted.shape[2:])


def test_the_files_of_features_say_grid_normalisation_and_layer(pictures, tmp_path, whatchanged):
    for name, picture in zip("ab", pictures, strict=True):
        Image.fromarray(picture).save(tmp_path / f"{name}.png")
    (tmp_path / "pairs.csv").write_text("before,after,captions\na.png,b.png,it moved\n")
    (tmp_path / "model").mkdir()
    save(clip(), tmp_path / "model")
    given = ("--backbone", "transformers:1", "--weights", tmp_path / "model", "--npy", "--workers", "1")
    code, _, err = whatchanged("features", tmp_path / "pairs.csv", tmp_path / "grids", *given, "--quiet")
    assert code == 0, err
    (noted,) = (tmp_path / "grids").glob("*.json")
    about = json.loads(noted.read_text())
    assert (about["backbone"], about["layer"].split()[0]) == ("transformers:1", "hidden_states[1]")
    assert (about["image_size"], about["rows"], about["columns"], about["width"]) == ([SIDE, SIDE], 4, 4, 16)
    assert (about["mean"], about["std"]) == (MEAN, STD)
    assert len(about["sha256"]) == 64
    (second,) = (tmp_path / "grids").rglob("b*.npy")
    stored = np.load(second)
    with torch.inference_mode():
        wanted = open_backbone("transformers:1", tmp_path / "model").grid_features(
            torch.from_numpy(pictures[1:])
        )
    np.testing.assert_allclose(stored.reshape(16, 16).T, wanted[0].numpy(), rtol=1e-4, atol=1e-5)


def test_a_pickle_is_refused_and_never_opened(tmp_path):
    save(clip_vision(), tmp_path)

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"x": Evil()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(RecipeError, match=r"pytorch_model\.bin, a pickle"):
        open_backbone("transformers", tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(RecipeError, match="a pickle"):
        open_backbone("transformers", tmp_path)
    (tmp_path / "pytorch_model.bin").rename(tmp_path / "weights.x")
    index = {"weight_map": {"embeddings.class_embedding": "weights.x"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(RecipeError, match=r"the names of \.safetensors files in this folder"):
        open_backbone("transformers", tmp_path)
    assert not (tmp_path / "ran").exists()


def test_code_beside_the_weights_does_not_run(tmp_path):
    save(clip_vision(), tmp_path)
    (tmp_path / "evil.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\nclass Evil: pass\n")
    config = json.loads((tmp_path / "config.json").read_text())
    own = {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}
    for kind in (config["model_type"], "no_such_model"):
        (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": kind, "auto_map": own}))
        if kind == "no_such_model":
            with pytest.raises(RecipeError, match="transformers cannot load it"):
                open_backbone("transformers", tmp_path)
        else:
            assert open_backbone("transformers", tmp_path).width == 16
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_std": [0.0, 1, 1]}, "is not supported"),
        ({"rescale_factor": 1.0}, "instead of 1/255"),
        ({"crop_size": {"height": 10**9, "width": 28}}, "size ="),
        ({"image_mean": "x"}, "is not supported"),
    ],
)
def test_a_processor_that_cannot_be_followed_is_refused(change, message, tmp_path):
    save(clip_vision(), tmp_path, {**FORM, **change})
    with pytest.raises(RecipeError, match=message):
        open_backbone("transformers", tmp_path)


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    with pytest.raises(RecipeError, match=r"--weights FOLDER\. Nothing is downloaded"):
        open_backbone("transformers")
    with pytest.raises(RecipeError, match="name the folder"):
        open_backbone("transformers", tmp_path / "none")
    with pytest.raises(RecipeError, match=r"holds no model\.safetensors"):
        open_backbone("transformers", tmp_path)
    save(clip_vision(), tmp_path)
    with pytest.raises(RecipeError, match="the number of a layer"):
        open_backbone("transformers:last", tmp_path)
    with pytest.raises(RecipeError, match="gives no grid"):
        open_backbone("transformers:9", tmp_path)
    (tmp_path / "preprocessor_config.json").unlink()
    with pytest.raises(RecipeError, match=r"no preprocessor_config\.json"):
        open_backbone("transformers", tmp_path)
    monkeypatch.setattr(transformers_models, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[backbones\]"):
        open_backbone("transformers", tmp_path)


def test_weights_that_are_not_there_are_not_made_up(tmp_path):
    from safetensors.torch import load_file, save_file

    save(clip_vision(), tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    lost = next(name for name in tensors if "layers.1." in name)
    save_file({n: t for n, t in tensors.items() if n != lost}, tmp_path / "model.safetensors")
    with pytest.raises(RecipeError, match=r"its weights lack .*layers\.1\."):
        open_backbone("transformers", tmp_path)


def test_a_model_of_texts_is_refused(tmp_path):
    small = {**SMALL, "vocab_size": 20, "max_position_embeddings": 8}
    save(transformers.BertModel(transformers.BertConfig(**small)), tmp_path)
    with pytest.raises(RecipeError, match="gives no grid of features"):
        open_backbone("transformers", tmp_path)


@pytest.fixture
def store(pictures, tmp_path):
    """Stores the features of four pictures in two files, each a worker's: (pictures, files)."""
    for name, picture in zip("abcd", (*pictures, *pictures), strict=True):
        Image.fromarray(picture).save(tmp_path / f"{name}.png")
    (tmp_path / "pairs.csv").write_text("before,after,captions\na.png,b.png,x\nc.png,d.png,x\n")
    (tmp_path / "model").mkdir()
    model = save(clip_vision(), tmp_path / "model")
    found = open_dataset(tmp_path / "pairs.csv")

    def run():
        out, launch = tmp_path / "grids", Launch("cpu", 2, quiet=True)
        done = store_features(found, "transformers", out, model, shard=2, launch=launch)
        return done.pictures, done.written

    return run


def test_what_workers_are_given_opens_the_folder(store):
    """Pickled, as for a process of its own; importing these libraries is what such a process takes."""
    started = []

    def make(*given):
        start, arguments = pickle.loads(pickle.dumps(given))
        started.append(start)
        return ThreadPoolExecutor(1, initializer=start, initargs=arguments)

    with pools_from(make):
        assert store() == (4, 2)
    assert len(started) == 1


@pytest.mark.slow
def test_several_processes_open_the_folder_each(store):
    assert store() == (4, 2)
