"""Blocks of networks: each a plain module with its equation, none with knowledge of a data set."""
