"""What to choose and why; so far how each cipher stands."""
