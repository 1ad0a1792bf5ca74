"""Frames in, figures out: the charts, the tables and the self-contained HTML page of a run."""

from wattlock.report.evidence import EvidenceMix, NothingToDraw
from wattlock.report.facts import DeviceFacts, InputFacts, RunFacts, SelfCheck
from wattlock.report.page import write_report

__all__ = [
    "DeviceFacts",
    "EvidenceMix",
    "InputFacts",
    "NothingToDraw",
    "RunFacts",
    "SelfCheck",
    "write_report",
]
