"""``python -m whatchanged``: the command line."""

from whatchanged.cli import main

main()
