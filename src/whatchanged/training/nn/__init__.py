"""What the methods are built of: plain modules, each with its equation, none with knowledge of a data set."""
