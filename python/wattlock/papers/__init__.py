"""The five papers: what they say, and a judge for each claim."""
