"""What is seen of two pictures: planes, the gate of visibility, motion, layers, glyphs; no change yet."""
