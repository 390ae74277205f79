"""What a run reads: data sets, drawn pools and stored features as numbered examples; false captions."""
