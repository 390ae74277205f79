"""From two pictures to a sentence with NumPy and ONNX Runtime; methods and worlds are only data here."""
