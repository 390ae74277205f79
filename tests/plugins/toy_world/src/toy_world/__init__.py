"""A world of one colored square on a plain ground: what a plug-in of whatchanged needs, and no more."""
