"""What draws pictures with their truth, for ``whatchanged synth``, drawn pools and tests alone."""
