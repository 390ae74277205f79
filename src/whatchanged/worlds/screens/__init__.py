"""Screens as a world: web pages, application windows, plots and typeset documents, and what changed in them.

``kinds`` and ``elements`` are its words, ``truth`` is what is known of a drawn pair, ``language`` writes
sentences about it and reads them, ``judging`` holds them against the truth; ``world`` is the contract of
``whatchanged.worlds``. What draws the pictures lies in ``drawing`` and is imported when something is drawn.
"""
