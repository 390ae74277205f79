"""Drawn CLEVR scenes: sampled at random, and rendered fast enough for training. Pictures resemble Blender's."""

from whatchanged.synth.clevr.draw import apply_look, render
from whatchanged.synth.clevr.light import PLAIN, PictureLook, look_for

__all__ = ["PLAIN", "PictureLook", "apply_look", "look_for", "render"]
