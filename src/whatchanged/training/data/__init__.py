"""The examples that a run reads, from data sets, drawn pools and stored features; and false captions."""
