"""Running a trained backbone over a pool once, so that later stages read its tokens instead of pictures."""

import os
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track

from whatchanged.errors import RecipeError
from whatchanged.training.pool import Shard, open_shards
from whatchanged.training.run import choose_device, open_run
from whatchanged.training.variation import vary
from whatchanged.training.vision import PixelVision

BATCH = 100


def store_tokens(
    run: Path, pool: Path, out: Path, variants: int, device: str = "auto", quiet: bool = False
) -> int:
    """Write ``out``/NNNNN.tokens.npy for every shard of a pool that has none yet; returns how many it wrote.

    Each is (n, variants, 3, N, F + 4) float16, see ``PixelVision.pack``. The first variant is the picture as
    drawn, the others are varied anew. Raises RecipeError where the run learned nothing to see with.
    """
    recipe, method, _ = open_run(run, "last")
    if not isinstance(method.vision, PixelVision):
        raise RecipeError(f"{run}: {recipe.name} reads stored features itself; it has no backbone to run.")
    where = choose_device(device)
    vision = method.vision.to(where).eval()
    out.mkdir(parents=True, exist_ok=True)
    shards = [s for s in open_shards(pool) if not (out / f"{s.number:05d}.tokens.npy").exists()]
    for shard in track(shards, "tokens", disable=quiet):
        tokens = np.stack([_tokens(vision, shard, number, where) for number in range(variants)], axis=1)
        beside = out / f".{shard.number:05d}.{os.getpid()}"
        with beside.open("wb") as file:
            np.save(file, tokens)
        beside.replace(out / f"{shard.number:05d}.tokens.npy")
    return len(shards)


@torch.inference_mode()
def _tokens(vision: PixelVision, shard: Shard, variant: int, device: torch.device) -> NDArray[np.float16]:
    """One variant of a shard's pictures: (n, 3, N, F + 4)."""
    generator = torch.Generator(device).manual_seed(shard.number * 1000 + variant)
    pictures = torch.from_numpy(np.array(shard.pictures)).flatten(0, 1)
    packed = []
    for batch in torch.split(pictures, BATCH):
        light = batch.to(device).permute(0, 3, 1, 2).float() / 255
        light = vary(light, generator) if variant else light
        light = (light - vision.mean) / vision.std
        seen = vision.pack(light.contiguous(memory_format=torch.channels_last))
        packed.append(seen.cpu().numpy().astype(np.float16))
    return np.concatenate(packed).reshape(len(shard), 3, *packed[0].shape[1:])
