"""Carries studies out: hands plans to a probe, looks at what it measured, stops, resumes.

`begin` plans a run or goes on with one; `shards` makes the plans of its processes; `session` carries out the policies;
`result` reads a run back as estimates.
"""
