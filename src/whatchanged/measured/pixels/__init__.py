"""Low-level analysis of two pictures: planes, the visibility gate, motion, layers and glyphs.

The modules of this package describe pixels. They do not yet decide which changes happened.
"""
