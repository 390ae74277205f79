"""Typeset documents: Typst sets them, and Typst or PDFium draws them."""
