"""The renderer of drawn CLEVR scenes: its pictures resemble Blender's, and it is fast enough for training."""

from whatchanged.synth.clevr.draw import apply_look, render
from whatchanged.synth.clevr.light import PLAIN, PictureLook, look_for

__all__ = ["PLAIN", "PictureLook", "apply_look", "look_for", "render"]
