"""Prints a page to A4 and to Letter and says on how many sheets, as one JSON object.

Run by the tests in a process of its own: `python -m support.printed_pages CHROMIUM PAGE.html`.
"""

import json
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from support.report_browser import QUIET


def main() -> None:
    chromium, page = sys.argv[1], Path(sys.argv[2]).as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        json.dump({paper: printed_pages(browser, page, paper) for paper in ("A4", "Letter")}, sys.stdout)
        browser.close()


def printed_pages(browser: Browser, address: str, paper: str) -> int:
    """How many sheets of a paper the page takes."""
    page = browser.new_page()
    page.goto(address)
    pdf = page.pdf(format=paper)
    page.close()
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


if __name__ == "__main__":
    main()
