"""A world of drawn birds: species, birds, and sentences about them; `synth.birds` draws them.

It exists to run PCL's cross-task training from end to end. It says nothing about real birds.
"""
