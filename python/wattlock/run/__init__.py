"""Carries studies out: hands plans to a probe, looks at what it measured, stops, resumes.

`begin` plans a run or goes on with one, and its session carries out the policies; `process` makes the plan of each
process and judges what it writes; `result` reads a run back as estimates.
"""
