"""Read and write predictions, references, similarities and attention maps."""
