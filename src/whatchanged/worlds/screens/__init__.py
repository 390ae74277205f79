"""Screens as a world: web pages, application windows, plots and typeset documents, and what changed in them.

``kinds`` and ``elements`` are its words, ``truth`` is what is known of a drawn pair. ``templates`` are the
wordings and ``slots`` what stands in them; ``writing`` makes sentences of them and ``reading`` reads these.
``judging`` holds sentences against the truth, slot by slot with ``checking``. ``world`` is the contract of
``whatchanged.worlds``. What draws the pictures lies in ``synth.screens``.
"""
