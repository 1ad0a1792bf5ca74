"""How the database of a lab came to be what it is, a step a file in `versions`."""
