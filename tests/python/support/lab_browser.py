"""Visits the pages of a lab as its readers do, wide and narrow, light and dark, and prints what it saw as JSON.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.lab_browser CHROMIUM AXE.js ADDRESS PATH...`; WATTLOCK_SCREENSHOTS names a folder for pictures.
"""

import json
import os
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened, violations

MOST_TABS = 60
FOCUSED = "[document.activeElement.tagName, document.activeElement.textContent.trim().slice(0, 40)]"
PICTURES = os.environ.get("WATTLOCK_SCREENSHOTS")


def main() -> None:
    chromium, axe, address, *paths = sys.argv[1:]
    script = Path(axe).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        # The lab's policy lets no script in but its own; axe is handed over by the browser.
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [
            visit(browser, address, path, width=width, scheme=scheme, axe=script)
            for path in paths
            for width in (1440, 390)
            for scheme in ("light", "dark")
        ]
        browser.close()
    json.dump(seen, sys.stdout)


def visit(browser: Browser, address: str, path: str, *, width: int, scheme: str, axe: str) -> dict[str, object]:
    """What one reader sees of one page."""
    page, complaints, requests = opened(browser, address + path, width, scheme, 20_000)
    page.wait_for_load_state("networkidle")
    if PICTURES:
        name = re.sub("[^a-z]+", "-", path)[:12] + str(sum(map(ord, path)))
        page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
    seen: dict[str, object] = {
        "path": path,
        "width": width,
        "title": page.title(),
        "overflow_px": page.evaluate(OVERFLOW),
        "violations": violations(page, axe),
    }
    page.keyboard.press("Tab")
    seen["first_focus"] = page.evaluate(FOCUSED)[1]
    focused = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        focused.append(page.evaluate(FOCUSED)[0])
    seen["focused"] = sorted(set(focused))
    seen |= {"complaints": complaints, "requests": requests}
    page.context.close()
    return seen


if __name__ == "__main__":
    main()
