"""Carries studies out: hands plans to a probe, looks at what it measured, stops, resumes.

`probe` speaks with `wattlock-probe`; `shards` makes its plans; `session` is the loop over processes; `result` reads a
run back as estimates.
"""
