"""Building blocks of the methods: plain modules, each with its equation, and none that knows a data set."""
