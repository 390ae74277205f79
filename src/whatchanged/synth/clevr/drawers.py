"""What ``whatchanged synth`` calls to draw data sets of the CLEVR world; `worlds/clevr/world.py` names it."""

from whatchanged.errors import OutputError

# The renderer needs Numba: where it is missing, this says so before anything is drawn.
from whatchanged.synth.clevr.compiling import machine_code  # noqa: F401
from whatchanged.synth.clevr.sampling import Views
from whatchanged.synth.clevr.twin import write_twin
from whatchanged.worlds import Drawing

DEVICES = ("auto", "cpu", "cuda")


def clevr_change(drawing: Drawing) -> str:
    """A data set in CLEVR-Change's layout, with its cameras."""
    return _draw_data_set(drawing, "jittered")


def clevr_dc(drawing: Drawing) -> str:
    """The same layout, with cameras anywhere around the scene, as in CLEVR-DC."""
    return _draw_data_set(drawing, "around")


def clevr_low(drawing: Drawing) -> str:
    """The same layout, with later cameras near the first one but lower."""
    return _draw_data_set(drawing, "low")


def on_cores(device: str) -> str:
    """A remark for who asks for a GPU: scenes are drawn on CPU cores. Raises OutputError for other words."""
    kind, _, number = device.partition(":")
    if kind not in DEVICES or (number and not (kind == "cuda" and number.isdecimal())):
        raise OutputError(f"--device {device}: wanted auto, cpu, cuda or cuda:NUMBER.")
    return (
        f" (on CPU cores: --device {device} draws nothing faster, --workers does)" if kind == "cuda" else ""
    )


def counted_scenes(scenes: int) -> str:
    """How many scenes and pairs were drawn, in words."""
    return f"{scenes:,} scenes, {2 * scenes:,} pairs"


def _draw_data_set(drawing: Drawing, views: Views) -> str:
    remark = on_cores(drawing.device)
    write_twin(
        drawing.out, drawing.scenes, drawing.seed, drawing.size, drawing.workers, drawing.advance, views
    )
    return counted_scenes(drawing.scenes) + remark
