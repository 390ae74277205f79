"""Typeset documents: set by Typst, drawn by itself or by PDFium."""
