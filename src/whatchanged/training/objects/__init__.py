"""Parts that only the shipped CLEVR models need: object tokens, matching, scene truth, drawn pictures."""
