"""Frames in, figures out: the charts, the tables and the self-contained HTML page of a run.

What only prints is imported without the packages that draw: `page` and the figures have those.
"""

from wattlock.report.evidence import EvidenceMix, NothingToDraw
from wattlock.report.facts import DeviceFacts, InputFacts, RunFacts, SelfCheck

__all__ = [
    "DeviceFacts",
    "EvidenceMix",
    "InputFacts",
    "NothingToDraw",
    "RunFacts",
    "SelfCheck",
]
