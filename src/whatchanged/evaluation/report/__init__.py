"""Reports: scores become one report, as JSON, tables and page."""
