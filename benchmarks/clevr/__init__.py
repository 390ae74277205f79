"""What the shipped CLEVR models say of scenes, of other pictures and of worse ones."""
