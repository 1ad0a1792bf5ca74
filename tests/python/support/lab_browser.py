"""Visits the pages of a lab as its readers do, wide and narrow, light and dark, and prints what it saw as JSON.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.lab_browser CHROMIUM AXE.js ADDRESS PATH...`; WATTLOCK_SCREENSHOTS names a folder for pictures.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened, violations

MOST_TABS = 60
FOCUSED = "document.activeElement.textContent.trim().slice(0, 40)"
NOTED = "focused = new Set(); addEventListener('focusin', ({ target }) => focused.add(target.tagName))"
PICTURES = os.environ.get("WATTLOCK_SCREENSHOTS")


def main() -> None:
    chromium, axe, address, *paths = sys.argv[1:]
    script = Path(axe).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        # The lab's policy lets no script in but its own; axe is handed over by the browser.
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [one for path in paths for one in visits(browser, address, path, script)]
        browser.close()
    json.dump(seen, sys.stdout)


def visits(browser: Browser, address: str, path: str, axe: str) -> Iterator[dict[str, object]]:
    """What four readers see of a page; all open it before the first looks, so that they wait for it together."""
    readers = [(width, scheme) for width in (1440, 390) for scheme in ("light", "dark")]
    pages = [opened(browser, address + path, width, scheme, 20_000) for width, scheme in readers]
    for (width, scheme), (page, complaints, requests) in zip(readers, pages, strict=True):
        seen = visit(page, path, width=width, scheme=scheme, axe=axe)
        yield seen | {"complaints": complaints, "requests": requests}
        page.context.close()


def visit(page: Page, path: str, *, width: int, scheme: str, axe: str) -> dict[str, object]:
    """What one reader sees of it."""
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
    seen["first_focus"] = page.evaluate(FOCUSED)
    page.evaluate(NOTED)
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
    seen["focused"] = sorted(page.evaluate("[...focused]"))
    return seen


if __name__ == "__main__":
    main()
