"""The screens world: web pages, application windows, plots and typeset documents, and what changed in them.

``kinds`` and ``elements`` define its vocabulary, ``truth`` what is known of a drawn pair. ``templates`` holds
the wordings and ``slots`` fills their gaps. ``writing`` makes sentences from them, and ``reading`` parses
such sentences. ``judging`` compares sentences with the truth; ``checking`` compares single slots. ``world``
implements the contract of ``whatchanged.worlds``. The pictures are drawn by ``synth.screens``.
"""
