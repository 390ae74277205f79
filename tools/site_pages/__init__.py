"""Makes pages of the site from the program itself, so that they always agree with it.

commands      every command with its options and examples, from the application
recipe_keys   every key of a recipe, from the schema
metrics       every metric, and an example of a report's signature
models        the shipped models, from their cards
python_names  the public names, for mkdocstrings
pages         which page is made by which of these
links         links out of docs/
docstrings    how docstrings become Markdown
transcripts   commands on a page, run and compared with the output that the page shows
"""
