"""Commands in folders that a stranger prepared: ``python tests/planted``."""
