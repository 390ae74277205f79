"""Damaged and hostile files against everything that reads strangers' files: ``python tests/fuzz``."""
