"""How unlike the pictures of its world a picture is."""

import numpy as np
import pytest
import torch
from support import tiny_pool as pools
from support.tiny_run import BACKBONE, make_run

from whatchanged.captioner.colors import NAMES, NO_COLOR, color_distance, color_numbers
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError, DatasetError, RecipeError
from whatchanged.recipes import BackboneConfig, PatchesConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export import export_run, in_distribution
from whatchanged.training.export import pictures as picture_export
from whatchanged.training.export.in_distribution import (
    encode_and_judge,
    fit,
    fit_colors,
    fit_in_distribution,
    statistics,
)
from whatchanged.training.objects.pool import open_shards
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.vision.backbone import BackboneVision
from whatchanged.training.vision.patches import PatchVision

SETTINGS = [
    "vision.kind=objects",
    *BACKBONE,
    "vision.keep=6",
    "vision.matching=true",
    "stage.pretrain.steps=3",
    "stage.caption.steps=3",
    "stage.caption.evaluate_every=0",
]


@pytest.fixture(scope="module")
def vision():
    torch.manual_seed(0)
    return ObjectVision(pools.VISION).eval()


@pytest.fixture(scope="module")
def run(tiny_dataset, tmp_path_factory):
    """Barely trained on noise: what it says means nothing, but it has a backbone."""
    folder = tmp_path_factory.mktemp("familiar") / "run"
    settings = [*SETTINGS, f"data.path={tiny_dataset}"]
    start = make_run(folder.with_name("start"), "pcl-tiny", settings)
    run_recipe(load_recipe("pcl-tiny", settings), folder, quiet=True, device="cpu", init=start)
    return folder


def test_statistics_are_the_mean_and_the_deviation_over_the_cells():
    features = np.random.default_rng(0).normal(size=(3, 5, 4, 6))
    wanted = np.concatenate([features.mean((2, 3)), features.std((2, 3))], axis=1)
    assert np.allclose(statistics(torch.from_numpy(features)).numpy(), wanted)


def test_the_distance_is_mahalanobis_distance():
    """With many more pictures than numbers hardly anything is shrunken: the plain formula must come out."""
    rng = np.random.default_rng(1)
    seen = rng.normal(size=(20_000, 6)) @ (np.eye(6) + 0.2 * rng.normal(size=(6, 6))) + 3
    distance = fit(seen)
    covariance = np.cov(seen.T)
    features = rng.normal(size=(4, 3, 5, 5))
    off = statistics(torch.from_numpy(features)).numpy() - seen.mean(0)
    plain = np.sqrt(np.einsum("ij,jk,ik->i", off, np.linalg.inv(covariance), off) / 6)
    found = distance(torch.from_numpy(features).float()).numpy()
    assert found == pytest.approx(plain, rel=0.05)


def test_what_it_was_fitted_on_is_at_distance_one_on_average():
    seen = np.random.default_rng(2).normal(size=(5000, 8)) * 7 - 2
    distance = fit(seen)
    rows = (torch.from_numpy(seen).float() - distance.mean) @ distance.whiten
    assert rows.square().sum(1).mean().item() == pytest.approx(1, abs=0.02)


def test_numbers_that_never_vary_and_few_pictures_do_no_harm():
    seen = np.random.default_rng(3).normal(size=(5, 8))
    seen[:, 2] = 4.0
    distance = fit(seen)
    assert torch.isfinite(distance.whiten).all() and (distance.whiten[2] != 0).any()


def test_the_threshold_lets_almost_all_familiar_pictures_pass_and_none_of_noise(vision, tiny_pool):
    distance, known = fit_in_distribution(vision, tiny_pool)
    pictures = np.concatenate([shard.pictures.reshape(-1, 64, 96, 3) for shard in open_shards(tiny_pool)])
    noise = np.random.default_rng(0).integers(0, 256, (8, 64, 96, 3), dtype=np.uint8)
    with torch.inference_mode():
        drawn, strange = (
            distance(vision.features(vision.normalise(torch.from_numpy(p)))) for p in (pictures, noise)
        )
    assert (drawn < 1.5 * known.threshold).all() and (strange > 1.5 * known.threshold).all()
    assert (
        "15 drawn pictures, augmented 1.5 times" in known.how and "99.9 % quantile of 15 others" in known.how
    )


def test_the_pictures_chosen_are_of_all_three_views(monkeypatch):
    """Every sixth place would be a default view."""
    monkeypatch.setattr(in_distribution, "PICTURES", 50)
    chosen = in_distribution._some([(None, i, k) for i in range(100) for k in range(3)])
    assert len(chosen) == len(set(chosen)) == 50
    assert min(sum(k == view for _, _, k in chosen) for view in range(3)) >= 8


def test_the_same_pool_gives_the_same_distance(vision, tiny_pool):
    (first, known), (second, again) = (fit_in_distribution(vision, tiny_pool) for _ in range(2))
    assert known == again and torch.equal(first.whiten, second.whiten)


def test_a_backbone_of_larger_cells_reads_the_same_pictures(tiny_pool):
    """Four channels make cells of 16 pixels a side."""
    torch.manual_seed(0)
    config = BackboneConfig(image_width=96, image_height=64, channels=(4, 6, 8, 10), blocks=1)
    distance, known = fit_in_distribution(BackboneVision(config).eval(), tiny_pool)
    assert distance.mean.shape == (20,) and known.threshold > 0


def test_pools_and_models_that_cannot_serve(vision, tiny_pool, tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match="no pool"):
        fit_in_distribution(vision, tmp_path)
    other = BackboneVision(BackboneConfig(image_width=48, image_height=32)).eval()
    with pytest.raises(DatasetError, match="pictures are 96x64, the model reads 48x32"):
        fit_in_distribution(other, tiny_pool)
    monkeypatch.setattr(in_distribution, "LEAST_TRIPLES", 11)
    with pytest.raises(DatasetError, match="10 triples are too few"):
        fit_in_distribution(vision, tiny_pool)
    patches = PatchVision(PatchesConfig(image_width=96, image_height=64, patch=32))
    with pytest.raises(RecipeError, match="no backbone"):
        fit_in_distribution(patches, tiny_pool)


def test_the_bundle_finds_the_distance_that_torch_finds(run, tiny_pool, tmp_path, whatchanged):
    code, _, err = whatchanged("export", run, tmp_path / "wary", "--familiar", tiny_pool)
    assert code == 0, err
    captioner = load(tmp_path / "wary")
    _, method, _ = open_run(run)
    distance, known = fit_in_distribution(method.vision, tiny_pool)
    assert captioner.card.in_distribution == known
    assert known.how in (tmp_path / "wary" / "README.md").read_text()
    shard = open_shards(tiny_pool)[0]
    noise = np.random.default_rng(1).integers(0, 256, (64, 96, 3), dtype=np.uint8)
    pairs = [(shard.pictures[0, 0], shard.pictures[0, 1]), (noise, shard.pictures[1, 0])]
    with torch.inference_mode():
        before, after = (torch.from_numpy(np.stack(side)) for side in zip(*pairs, strict=True))
        _, wanted = encode_and_judge(method, before, after, distance)
    found = captioner.describe(*(list(side) for side in zip(*pairs, strict=True)))
    colors = [
        color_distance(color_numbers(np.stack(side)), known.colors) for side in zip(*pairs, strict=True)
    ]
    largest = np.maximum(wanted.numpy() / known.threshold, np.stack(colors, axis=1))
    assert np.array([d.ood_distance for d in found]) == pytest.approx(largest, rel=0.02)
    assert [d.unfamiliar for d in found] == [False, True]


def test_grey_pictures_of_the_same_scenes_are_out_of_the_range_of_colours(tiny_pool):
    shards = open_shards(tiny_pool)
    ranges, how = fit_colors(shards)
    assert list(ranges) == list(NAMES) and "30 drawn pictures" in how
    pictures = np.concatenate([shard.pictures.reshape(-1, 64, 96, 3) for shard in shards])
    grey = pictures.mean(-1, keepdims=True).repeat(3, -1).astype(np.uint8)
    assert (color_distance(color_numbers(pictures), ranges) <= 1.1).all()
    assert (color_distance(color_numbers(grey), ranges) > 1).all()
    assert fit_colors(shards) == (ranges, how)


def test_a_scene_of_grey_things_does_not_make_greyscale_familiar(tiny_pool, monkeypatch):
    """One drawn picture in ten has no colour: without it the range is the same, and grey is outside of it."""
    colourful = np.random.default_rng(0).integers(0, 256, (27, 8, 12, 3), np.uint8)
    grey = colourful[:3].mean(-1, keepdims=True).repeat(3, -1).astype(np.uint8)

    def ranges(pictures):
        monkeypatch.setattr(in_distribution, "_augmented", lambda *given: iter([torch.from_numpy(pictures)]))
        return fit_colors(open_shards(tiny_pool))[0]

    found = ranges(np.concatenate([colourful, grey]))
    assert found["vividness"] == ranges(colourful)["vividness"] > (NO_COLOR, NO_COLOR)
    assert (color_distance(color_numbers(grey), {"vividness": found["vividness"]}) > 1).all()
    assert ranges(grey)["vividness"][0] == NO_COLOR  # where all are grey, grey is familiar


def test_a_graph_that_finds_another_distance_is_refused(run, tiny_pool, tmp_path, monkeypatch):
    whole = picture_export.write_graphs

    def spoiled(method, pictures, folder, distance):
        distance.mean += 1
        whole(method, pictures, folder, distance)
        distance.mean -= 1

    monkeypatch.setattr(picture_export, "write_graphs", spoiled)
    with pytest.raises(
        BundleError, match="out-of-distribution distance of the exported encoder differs from torch's"
    ):
        export_run(run, tmp_path / "bundle", "b", in_distribution=tiny_pool)
    assert list(tmp_path.iterdir()) == []
