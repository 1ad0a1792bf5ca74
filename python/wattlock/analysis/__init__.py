"""Estimates, intervals, sentinels and rankings: pure functions on frames of batches.

The street: batches of one process → `within.summarise` (one row a cell and process) → `estimate.estimate` (one row a
cell, with its interval) → `ranking.rank` (tie groups). `sentinels.judge` says whether the run is to be believed.
"""
