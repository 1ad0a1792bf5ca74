"""Estimates, intervals, self-checks and rankings: pure functions on frames of batches.

The street: batches of one process → `within.summarise` (one row a case and process) → `estimate.estimate` (one row a
case, with its interval) → `ranking.rank` (tie groups). `self_checks.judge` says whether the run is to be believed.
"""
