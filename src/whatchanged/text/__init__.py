"""Read the text in a pair of pictures: find lines, recognise them, and quote text that is read with
certainty.

Nothing here is imported before text is to be read; the recogniser's network comes with the extra ``text``.
"""
