"""What the models of screens alone need: places that may have changed as tokens, judged by a small network."""
