"""What ``whatchanged synth`` calls to draw data sets of the CLEVR world; `worlds/clevr/world.py` names it."""

# A CPU's renderer needs Numba: where it is missing, this says so before anything is drawn.
from whatchanged.synth.clevr.compiling import machine_code  # noqa: F401
from whatchanged.synth.clevr.twin import write_twin
from whatchanged.training.device import choose_device
from whatchanged.training.objects.pool import draw_pool
from whatchanged.worlds import Drawing
from whatchanged.worlds.clevr.sampling import Views


def clevr_change(drawing: Drawing) -> str:
    """A data set in CLEVR-Change's layout, with its cameras."""
    return _draw_data_set(drawing, "jittered")


def clevr_dc(drawing: Drawing) -> str:
    """The same layout, with cameras anywhere around the scene, as in CLEVR-DC."""
    return _draw_data_set(drawing, "around")


def clevr_low(drawing: Drawing) -> str:
    """The same layout, with later cameras near the first one but lower."""
    return _draw_data_set(drawing, "low")


def clevr_pool(drawing: Drawing, views: Views, doubles: float) -> str:
    """A pool of triples to train on. The last shard is drawn whole, so it may hold more than was asked."""
    scenes = draw_pool(
        drawing.out,
        drawing.scenes,
        drawing.seed,
        drawing.size,
        drawing.workers,
        str(choose_device(drawing.device)),
        drawing.advance,
        views,
        doubles,
    )
    return _counted(scenes)


def _draw_data_set(drawing: Drawing, views: Views) -> str:
    write_twin(
        drawing.out,
        drawing.scenes,
        drawing.seed,
        drawing.size,
        drawing.workers,
        str(choose_device(drawing.device)),
        drawing.advance,
        views,
    )
    return _counted(drawing.scenes)


def _counted(scenes: int) -> str:
    return f"{scenes:,} scenes, {2 * scenes:,} pairs"
