"""Drawn CLEVR scenes: sampled at random, rendered like Blender's pictures, and fast enough for training."""

from whatchanged.synth.clevr.draw import apply_look, render
from whatchanged.synth.clevr.light import PLAIN, PictureLook, look_for

__all__ = ["PLAIN", "PictureLook", "apply_look", "look_for", "render"]
