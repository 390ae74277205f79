"""A world of drawn birds: species, birds, and sentences about them. `synth.birds` draws the pictures.

This world exists to test PCL's cross-task training from end to end. It has nothing to do with real birds.
"""
