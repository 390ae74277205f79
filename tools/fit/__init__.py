"""Fits constants of the package on drawn pictures, and writes them: ``python tools/fit NAME --help``."""
