"""A pool of ten triples, two of each type of change, drawn small."""

from unittest import mock

from whatchanged.recipes import ObjectsConfig
from whatchanged.training.objects import pool

SEED, SHARD, SHARDS = 3, 5, 2
WIDTH, HEIGHT = 96, 64
VISION = ObjectsConfig(
    image_width=WIDTH,
    image_height=HEIGHT,
    channels=(4, 6, 8),
    blocks=1,
    keep=6,
    matching=True,
    scene_context=True,
)


def draw(folder):
    """Draw the pool into ``folder`` in this process."""
    with mock.patch.object(pool, "SHARD", SHARD):
        pool.write_description(folder, SEED, WIDTH, HEIGHT)
        for number in range(SHARDS):
            pool.draw_shard(folder, SEED, (WIDTH, HEIGHT), number)
    return folder
