"""Many questions at once: grids over link scenarios and over advice, answered by several workers into one table."""
