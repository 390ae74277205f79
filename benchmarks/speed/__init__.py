"""How long things take, and in how much memory."""
