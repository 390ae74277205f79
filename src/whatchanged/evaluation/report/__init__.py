"""Reports: one report holds all scores, and is written as JSON, as tables and as a page."""
