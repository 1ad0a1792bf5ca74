"""Results in, figures out: the charts, the tables and the self-contained HTML page of a run and of a comparison.

What only prints is imported without the packages that draw: `page` and the figures have those.
"""

from wattlock.report.evidence import EvidenceMix, NothingToDraw

__all__ = ["EvidenceMix", "NothingToDraw"]
