"""What changed between two pictures, by rules over what is seen: found, paired, named, put into words."""
