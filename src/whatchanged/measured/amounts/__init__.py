"""What can be measured of a change whose place is known: each attribute by its own small measurement."""
