"""The upper floor: what needs torch. Loops, methods, renderers and export; the extra is `train`."""
