"""How pictures become the grids that a method reads, and what the drawn world teaches about each cell."""
