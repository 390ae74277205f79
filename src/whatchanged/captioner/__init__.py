"""From two pictures to a sentence with NumPy and ONNX Runtime.

A model is a folder (``bundle``) with a card (``card``). Methods and worlds appear here as names on that card
only.
"""
