"""The screens world: web pages, application windows, plots and typeset documents, and the changes in them.

``kinds`` and ``elements`` define the vocabulary. ``truth`` defines the known facts about a drawn pair.
``templates`` holds the wordings, and ``slots`` fills their gaps. ``writing`` makes sentences from them, and
``reading`` parses such sentences. ``judging`` compares sentences with the truth, and ``checking`` compares
single slots. ``world`` implements the contract of ``whatchanged.worlds``. ``synth.screens`` draws the
pictures.
"""
