"""From scores to a report: tables, JSON, page."""
