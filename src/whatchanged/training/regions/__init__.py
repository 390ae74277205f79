"""For models of screens alone: the stored regions of drawn pairs, and the networks that judge them."""
