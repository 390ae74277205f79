"""For models of screens alone: regions that may have changed, as tokens, and the networks that judge them."""
