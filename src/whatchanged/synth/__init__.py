"""Draw pictures together with their truth; only ``whatchanged synth``, drawn pools and tests use it."""
