"""A world of drawn birds: species, birds, what is said of them, their pictures, and data sets of all three.

It is there to run PCL's cross-task training end to end. It makes no claim about real birds.
"""
