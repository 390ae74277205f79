"""A world of drawn birds: species, birds, sentences about them, pictures, and data sets.

It exists to run PCL's cross-task training from end to end. It says nothing about real birds.
"""
