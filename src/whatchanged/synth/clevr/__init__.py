"""The twin's renderer: CLEVR scenes to pictures that look like Blender's, fast enough to train on."""

from whatchanged.synth.clevr.draw import apply_look, render
from whatchanged.synth.clevr.light import PLAIN, PictureLook, look_for

__all__ = ["PLAIN", "PictureLook", "apply_look", "look_for", "render"]
