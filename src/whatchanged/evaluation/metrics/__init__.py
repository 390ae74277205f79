"""What each pair scores, a metric a file; corpus numbers follow from totals over pairs."""
