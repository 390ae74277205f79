"""A toy method in a package of its own."""
