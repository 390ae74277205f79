"""The CLEVR world: scenes and changes as data, what a camera sees of them, and the sentences about them."""
