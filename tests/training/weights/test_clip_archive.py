import pickle
import warnings
import zipfile

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.training.weights.clip_archive import read_tensors


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Parameter(torch.randn(4, 3))
        self.register_buffer("turned", torch.arange(6).reshape(2, 3).T)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.proj


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = Inner()
        self.blocks = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))
        self.logit_scale = nn.Parameter(torch.tensor(2.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.logit_scale * self.blocks(self.visual(x))


@pytest.fixture
def scripted(tmp_path):
    """A TorchScript archive in half precision, as OpenAI publishes CLIP, and the tensors in it."""
    torch.manual_seed(0)
    model = Outer().half()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(model), str(tmp_path / "model.pt"))
    return tmp_path / "model.pt", dict(model.state_dict())


def test_a_script_archive_gives_its_tensors_and_runs_nothing(scripted, monkeypatch):
    path, tensors = scripted
    for door in ("load", "jit.load"):
        monkeypatch.setattr(f"torch.{door}", None)
    results = read_tensors(path)
    assert {name: results[name] for name in tensors}.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert results[name].dtype == (torch.float32 if tensor.is_floating_point() else tensor.dtype)
        assert_close(results[name], tensor, check_dtype=False, rtol=0, atol=0)


@pytest.mark.parametrize("form", ["safetensors", "state", "checkpoint"])
def test_other_files_give_the_same(form, scripted, tmp_path):
    tensors, path = scripted[1], tmp_path / form
    if form == "safetensors":
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    elif form == "state":
        torch.save(tensors, path)
    else:
        torch.save({"epoch": 3, "state_dict": {f"module.{n}": t for n, t in tensors.items()}}, path)
    assert {n: t.tolist() for n, t in read_tensors(path).items()} == {
        n: t.tolist() for n, t in tensors.items()
    }


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('the pickle ran')",)


def repacked(path, target, **changes):
    """The archive with some of its entries replaced."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            kind = info.filename.rpartition("/")[2]
            how = (
                changes.get("compress", zipfile.ZIP_STORED)
                if "/data/" in info.filename
                else zipfile.ZIP_STORED
            )
            new.writestr(info.filename, changes.get(kind, old.read(info)), how)
    return target


def test_a_pickle_with_other_wishes_is_refused_unread(scripted, tmp_path):
    target = repacked(scripted[0], tmp_path / "evil.pt", **{"data.pkl": pickle.dumps(Evil(), 2)})
    with pytest.raises(
        RecipeError, match=r"asks for (__builtin__|builtins)\.exec, which weights do not need"
    ):
        read_tensors(target)
    torch.save({"state_dict": Evil()}, tmp_path / "evil2.pt")
    with pytest.raises(RecipeError, match="no weights can be read here"):
        read_tensors(tmp_path / "evil2.pt")


@pytest.mark.parametrize(
    "change", [{"0": b"short"}, {"compress": zipfile.ZIP_DEFLATED}, {"data.pkl": b""}], ids=str
)
def test_bytes_that_are_not_the_tensors_are_refused(change, scripted, tmp_path):
    with pytest.raises(RecipeError, match="no weights can be read here"):
        read_tensors(repacked(scripted[0], tmp_path / "broken.pt", **change))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"{}"])
def test_a_file_that_is_none_of_these_is_named(content, tmp_path):
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(RecipeError, match=r"x\.pt: no weights can be read here .* Give OpenAI's"):
        read_tensors(tmp_path / "x.pt")
