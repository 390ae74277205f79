"""The wing of the screens models: places that may have changed as tokens, judged by a small network."""
