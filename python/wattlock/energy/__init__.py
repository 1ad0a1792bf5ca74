"""Device cards, and the joules that they make of cycles or of time."""
