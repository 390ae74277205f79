"""From scores to one report: JSON, tables, page."""
