"""The CLEVR world: scenes and changes as data, what a camera sees, and the language that tells of them."""
