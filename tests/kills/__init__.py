"""Commands that are stopped at random moments: ``python tests/kills``."""
