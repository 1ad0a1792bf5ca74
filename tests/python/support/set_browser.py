"""Visits the first page of a published set as its readers do and prints what it saw as one JSON array.

Run by the tests in a process of its own: `python -m support.set_browser CHROMIUM PAGE.html AXE.js`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened, violations

LONGEST_MS = 30_000


def main() -> None:
    chromium, address, axe = sys.argv[1], Path(sys.argv[2]).as_uri(), Path(sys.argv[3]).read_text(encoding="utf-8")
    seen = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        for width in (1440, 390):
            for scheme in ("light", "dark"):
                page, complaints, requests = opened(browser, address, width, scheme, LONGEST_MS)
                seen.append(
                    {
                        "overflow_px": page.evaluate(OVERFLOW),
                        "violations": violations(page, axe),
                        "complaints": complaints,
                        "requests": len(requests),
                        "paper": page.evaluate("getComputedStyle(document.body).backgroundColor"),
                    }
                )
                page.context.close()
        browser.close()
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
