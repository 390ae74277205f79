"""Measurements of a change whose position is known. Each module measures one attribute."""
