"""Visits pages of runs that counted as their readers do and prints what it saw of each as one JSON array.

Run by the tests in a process of its own: `python -m support.counted_browser CHROMIUM AXE.js PAGE.html...`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from support.report_browser import AT_END, LINKS, OVERFLOW, QUIET, TOP, opened, violations

LONGEST_MS, SETTLED_MS, MOST_TABS = 30_000, 500, 300
SIZES = ((1440, "light"), (1440, "dark"), (390, "light"), (390, "dark"))
WORDS_OUT = """() => Math.max(0, ...[...document.querySelectorAll('svg')].filter((svg) => svg.checkVisibility())
  .flatMap((svg) => [...svg.querySelectorAll('text')].map((words) => {
    const [inner, outer] = [words.getBoundingClientRect(), svg.getBoundingClientRect()];
    return Math.max(outer.left - inner.left, inner.right - outer.right);
  })))"""
BOXES = "(boxes) => boxes.map((box) => box.ariaLabel)"
REACHED = "document.activeElement.matches('.scroll') ? document.activeElement.ariaLabel : null"


def main() -> None:
    chromium, axe, *pages = sys.argv[1:]
    script = Path(axe).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, Path(page), width, scheme, script) for page in pages for width, scheme in SIZES]
        browser.close()
    json.dump(seen, sys.stdout)


def visit(browser: Browser, file: Path, width: int, scheme: str, axe: str) -> dict[str, object]:
    """What one reader sees of a page."""
    page, complaints, requests = opened(browser, file.as_uri(), width, scheme, LONGEST_MS)
    seen: dict[str, object] = {"page": file.stem, "width": width, "scheme": scheme}
    seen |= {"overflow_px": page.evaluate(OVERFLOW), "words_out_px": page.evaluate(WORDS_OUT)}
    seen["pictures"] = page.locator(".main-figure svg:visible").count()
    seen["figures"] = page.locator(".main-figure figcaption").count()
    seen["violations"] = violations(page, axe)
    seen |= by_keyboard(page)
    seen["landed"] = landed(page)
    page.emulate_media(media="print")
    seen["printed"] = page.locator("h2:visible").all_text_contents()
    seen |= {"complaints": complaints, "requests": requests}
    page.context.close()
    return seen


def by_keyboard(page: Page) -> dict[str, object]:
    """Tabs from the top to the end: what has the focus first, and the boxes of tables that were reached."""
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.textContent")
    reached = []
    for _ in range(MOST_TABS):
        box = page.evaluate(REACHED)
        reached += [box] if box else []
        if page.evaluate("document.activeElement.matches('#method pre')"):
            break
        page.keyboard.press("Tab")
    return {
        "first_focus": first,
        "tables": page.locator(".scroll:visible").evaluate_all(BOXES),
        "reached": reached,
    }


def landed(page: Page) -> list[tuple[str, float, bool]]:
    """How far from the top the links land, and whether the page ends there."""
    found = []
    for link in page.evaluate(LINKS, "nav a"):
        page.evaluate("(hash) => document.querySelector(`a[href='${hash}']`).click()", link)
        page.wait_for_timeout(SETTLED_MS)
        found.append((link, page.evaluate(TOP), page.evaluate(AT_END)))
    return found


if __name__ == "__main__":
    main()
