"""The groups of options in a command's help. Common options appear above all groups, without a group."""

PAIRS = "Which pairs"
WRITTEN = "What is written"
SCORES = "How scores are computed"
RUNS = "By a run of train, or from stored features"
POOLS = "Tokens of pools"
PLAN = "What a recipe will need"
COMPUTED = "Where and how it is computed"
