"""A toy method with a recurrent decoder, in a package of its own."""
