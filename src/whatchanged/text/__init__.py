"""What is written in a pair of pictures: lines found, read by a recogniser, quoted where it is sure.

Nothing here is imported before text is asked for; the recogniser's network comes with the extra ``text``.
"""
