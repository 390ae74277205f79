"""Caption a pair of pictures with NumPy and ONNX Runtime.

A model is a folder (``bundle``) with a card (``card``). Methods and worlds appear here only as names on that
card.
"""
