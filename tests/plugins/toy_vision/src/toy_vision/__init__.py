"""A vision for the world of one square, and a source that paints squares as they are read."""
