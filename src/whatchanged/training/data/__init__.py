"""Provides the examples that a run reads, from data sets, drawn pools and stored features. Also makes false
captions.
"""
