"""Web pages and their components, drawn by Chromium under the stylesheets of published libraries."""
