"""The visions, which turn pictures into the tokens that a method reads: stored features, patches, or a
backbone.
"""
