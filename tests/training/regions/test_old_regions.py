"""Runs and bundles of regions as version 0.2 wrote them: a vision of a PCL that did not learn."""

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.drawn_regions import write_set

from whatchanged.captioner.bundle import open_bundle
from whatchanged.datasets import open_dataset
from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.regions.runtime import RegionModel
from whatchanged.training.export import export_run
from whatchanged.training.regions.judge import RegionJudge
from whatchanged.training.regions.store import RegionFiles, store_regions
from whatchanged.training.run import start_from
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights.bundle_weights import read_bundle

FIXTURE = Path(__file__).parents[2] / "fixtures" / "regions-0.2"
SAID = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
"""What the networks said of ten drawn pairs."""


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old") / "regions"
    shutil.copytree(FIXTURE, folder)
    for packed in sorted(folder.rglob("*.gz")):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    path = write_set(folder / "set")
    store_regions(open_dataset(path), path, folder / "regions", quiet=True, regions=3)
    return path, RegionFiles(folder / "regions")


def check_what_it_says(judge, files):
    blank = judge.blank_example()
    for number, wanted in enumerate(SAID):
        found = files.read(*(f"images/{number}_{side}.png" for side in ("before", "after")))
        example = replace(blank, before=found.before, after=found.after, measured=found.numbers)
        with torch.inference_mode():
            said = judge.judge(judge.proposals(judge.collate([example])))
        torch.testing.assert_close(said.kinds[0], torch.tensor(wanted["kinds"]))
        assert float(said.verdict) == pytest.approx(wanted["verdict"], abs=1e-5)


def test_an_old_run_says_what_it_said_and_holds_its_networks_alone(old, drawn):
    recipe, judge, state = open_run(old / "run")
    assert recipe.method == RegionsConfig(regions=3, width=4, networks=2) and state.finished
    assert isinstance(judge, RegionJudge) and {name.partition(".")[0] for name in judge.state_dict()} == {
        "networks"
    }
    check_what_it_says(judge, drawn[1])


def test_a_run_starts_from_an_old_run_and_from_an_old_bundle(old, drawn):
    recipe, _, missing = read_bundle(open_bundle(old / "bundle"))
    assert not missing
    for source in ("run", "bundle"):
        torch.manual_seed(3)
        fresh = RegionJudge(recipe.method).eval()
        start_from(recipe, fresh, old / source, quiet=True)
        if source == "run":  # a bundle's weights have 16 bit
            check_what_it_says(fresh, drawn[1])
        else:
            own, wanted = fresh.state_dict(), open_run(old / "run")[1].state_dict()
            for name, tensor in own.items():
                torch.testing.assert_close(tensor, wanted[name], atol=1e-3, rtol=1e-3)


def test_an_old_run_is_exported_without_what_never_learned(old, drawn, tmp_path):
    was, now = open_bundle(old / "bundle"), export_run(old / "run", tmp_path / "bundle", "tiny", drawn[0])
    own = f"{was.card.statements.how} of their own"  # which it once did not ask for
    assert now.card.statements == replace(was.card.statements, how=own)
    assert now.card.no_change == was.card.no_change
    assert now.files["weights.safetensors"].size < was.files["weights.safetensors"].size
    assert RegionModel(was, threads=1).card.method == "pcl" and now.card.method == "regions"


def test_weights_of_a_method_on_regions_do_not_fit(old, tmp_path):
    run = shutil.copytree(old / "run", tmp_path / "run")
    shutil.copy(old / "screens-pcl.toml", run / "recipe.toml")
    with pytest.raises(RecipeError, match=r"Version 0\.2 reads it"):
        open_run(run)
    with pytest.raises(RecipeError, match=r"Version 0\.2 reads it"):
        start_from(load_recipe("screens-regions"), RegionJudge(RegionsConfig()), run, quiet=True)
