"""The metrics, one a file, as sums over pairs."""
