"""Visits the page of a comparison as its readers do and prints what it saw as one JSON array.

Run by the tests in a process of its own: `python -m support.compare_browser CHROMIUM PAGE.html AXE.js`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from support.report_browser import AT_END, OVERFLOW, QUIET, TOP, opened, violations

LONGEST_MS, SETTLED_MS, MOST_TABS = 30_000, 700, 60
SIZES = ((1440, "light"), (1440, "dark"), (390, "light"), (390, "dark"))
SEEN = "[...document.querySelectorAll('{}')].filter((one) => one.checkVisibility())"
FIRST_FIGURE = "document.querySelector('.main-figure figure').getBoundingClientRect().bottom"
LARGEST_OUT = """() => Math.max(...[...document.querySelectorAll('svg.ratios')].filter((svg) => svg.checkVisibility())
  .flatMap((svg) => [...svg.querySelectorAll('text')].map((words) => {
    const [inner, outer] = [words.getBoundingClientRect(), svg.getBoundingClientRect()];
    return Math.max(outer.left - inner.left, inner.right - outer.right);
  })))"""
FROZEN = """() => {
  const box = document.querySelector('#case-table').closest('.scroll');
  box.scrollLeft = 150;
  const [first, edge] = [box.querySelector('tbody th'), box].map((one) => one.getBoundingClientRect().left);
  return [box.scrollLeft, first - edge];
}"""


def main() -> None:
    chromium, page, axe = sys.argv[1], Path(sys.argv[2]).as_uri(), Path(sys.argv[3]).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, page, width, scheme, axe) for width, scheme in SIZES]
        browser.close()
    json.dump(seen, sys.stdout)


def visit(browser: Browser, address: str, width: int, scheme: str, axe: str) -> dict[str, object]:
    """What one reader sees."""
    page, complaints, requests = opened(browser, address, width, scheme, LONGEST_MS)
    seen: dict[str, object] = {"width": width, "scheme": scheme}
    seen |= {"overflow_px": page.evaluate(OVERFLOW), "first_figure_px": page.evaluate(FIRST_FIGURE)}
    seen |= {
        "pictures": page.evaluate(f"{SEEN.format('svg.ratios')}.length"),
        "words_out_px": page.evaluate(LARGEST_OUT),
    }
    seen["figures"] = page.locator("figure").count()
    seen["violations"] = violations(page, axe)
    seen |= filtered(page) | {"frozen": page.evaluate(FROZEN)}
    seen["landed"] = landed(page)
    page.emulate_media(media="print")
    seen["printed_table"] = page.locator("#case-table").is_visible()
    seen["printed_pictures"] = page.evaluate(f"{SEEN.format('svg.ratios')}.length")
    seen |= {"complaints": complaints, "requests": requests}
    page.context.close()
    return seen


def filtered(page: Page) -> dict[str, object]:
    """Tabs to the filter, types, and chooses a verdict; what is left of figures and rows."""
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.textContent")
    for _ in range(MOST_TABS):
        if page.evaluate("document.activeElement.id") == "filter":
            break
        page.keyboard.press("Tab")
    focus = page.evaluate("document.activeElement.id")
    page.keyboard.type("rc4 1,500")
    groups = f"{SEEN.format('figure[data-group]')}.map((one) => one.dataset.group)"
    rows = f"{SEEN.format('#case-table tbody tr')}.map((row) => row.cells[0].textContent)"
    typed = page.evaluate(groups), page.evaluate(rows)
    page.fill("#filter", "")
    page.select_option("#state", "undecided")
    chosen = page.evaluate(groups), page.evaluate(rows)
    page.select_option("#state", "")
    return {"first_focus": first, "focus": focus, "typed": typed, "chosen": chosen, "all": page.evaluate(groups)}


def landed(page: Page) -> list[tuple[str, float, bool]]:
    """How far from the top the links land, and whether the page ends there."""
    found = []
    for link in page.evaluate("[...document.querySelectorAll('nav a')].map((link) => link.hash)"):
        page.evaluate("(hash) => document.querySelector(`a[href='${hash}']`).click()", link)
        page.wait_for_timeout(SETTLED_MS)
        found.append((link, page.evaluate(TOP), page.evaluate(AT_END)))
    return found


if __name__ == "__main__":
    main()
