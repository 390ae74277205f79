"""What the methods learn: ``python -m benchmarks.learning`` trains the rows of the papers' tables, small."""
