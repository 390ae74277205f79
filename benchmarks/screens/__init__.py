"""What is told of screens: real pairs, drawn ones, plots, groups; and what draws these."""
