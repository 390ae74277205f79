"""What the shipped CLEVR models alone need: object tokens, matching, scene truth, drawn pictures."""
