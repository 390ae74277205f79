"""The wing of the shipped CLEVR models: object tokens, matching, scene truth, drawn pictures."""
