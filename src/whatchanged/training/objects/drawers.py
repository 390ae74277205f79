"""The drawer that ``whatchanged synth clevr-pool`` calls; `worlds/clevr/world.py` names it."""

from whatchanged.synth.clevr.drawers import counted_scenes, on_cores
from whatchanged.synth.clevr.sampling import Views
from whatchanged.training.objects.pool import draw_pool
from whatchanged.worlds import Drawing


def clevr_pool(drawing: Drawing, views: Views, doubles: float) -> str:
    """Draws a pool of triples for training. The last shard is always full, so the pool may be larger than
    requested.
    """
    remark = on_cores(drawing.device)
    scenes = draw_pool(
        drawing.out,
        drawing.scenes,
        drawing.seed,
        drawing.size,
        drawing.workers,
        drawing.advance,
        views,
        doubles,
    )
    return counted_scenes(scenes) + remark
