"""Rules that find the changes between two pictures, pair and classify them, and put them into words."""
