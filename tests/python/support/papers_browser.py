"""Visits the page of the papers as its readers do and prints what it saw as one JSON array.

Run by the tests in a process of its own: `python -m support.papers_browser CHROMIUM PAGE.html [AXE.js]`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from support.report_browser import LINKS, OVERFLOW, PAINT, QUIET, landed, opened, violations

STEP = 6
"""Every so manyth claim is gone to."""
SIDEWAYS = """() => {
  const box = document.querySelector('#verdict-table').closest('.scroll');
  box.scrollLeft = 200;
  const moved = box.scrollLeft;
  const edges = ['thead th', 'tbody th[scope=row]'].map((one) => box.querySelector(one).getBoundingClientRect().left);
  return [moved, ...edges.map((edge) => edge - box.getBoundingClientRect().left)];
}"""
MOST_TABS = 60
GROUPS = (
    "[...document.querySelectorAll('#verdict-table tbody')].map((group) => "
    "[...group.querySelectorAll('[data-verdict]')].map((row) => {}))"
)
VERDICTS = GROUPS.format("row.cells[1].textContent")
EFFECTS = GROUPS.format("row.cells[2].dataset.v ?? null")
SHOWN = "[...document.querySelectorAll('#verdict-table [data-verdict]')].filter((row) => row.checkVisibility())"
CARDS = "[...document.querySelectorAll('.headline')].map((card) => card.getBoundingClientRect())"


def main() -> None:
    chromium, page = sys.argv[1], Path(sys.argv[2]).as_uri()
    axe = Path(sys.argv[3]).read_text(encoding="utf-8") if len(sys.argv) > 3 else None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, page, width, scheme, axe) for width, scheme in ((1440, "light"), (390, "dark"))]
        browser.close()
    json.dump(seen, sys.stdout)


def visit(browser: Browser, address: str, width: int, scheme: str, axe: str | None) -> dict[str, object]:
    """What one reader sees."""
    page, complaints, requests = opened(browser, address, width, scheme, 60_000)
    seen: dict[str, object] = {"width": width, "paint_ms": page.evaluate(PAINT), "as_judged": page.evaluate(VERDICTS)}
    seen["cards_end_px"] = page.evaluate(f"Math.max(...{CARDS}.map((box) => box.bottom))")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen |= {
        "charts": page.locator("svg.chart[role=img]").count(),
        "drawings": page.locator("svg.drawing[role=img]").count(),
        "overflow_px": page.evaluate(OVERFLOW),
        "unfolded": page.locator("details.claim[open]").count(),
        "claims": page.locator("details.claim").count(),
    }
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    seen["open_after_printing"] = page.locator("details.claim[open]").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    if axe is not None:
        seen["violations"] = violations(page, axe)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = false; })")
    seen |= by_keyboard(page) | filtered(page) | by_link(page)
    seen["frozen"] = page.evaluate(SIDEWAYS)
    seen |= {"complaints": complaints, "requests": requests}
    sections, claims = (page.evaluate(LINKS, part) for part in ("nav a", "#verdict-table a"))
    page.context.close()
    seen["landed"] = landed(browser, address, width, scheme, [*claims[::STEP], *sections])
    return seen


def by_keyboard(page: Page) -> dict[str, object]:
    """Tabs from the top to the verdicts' head and sorts by it."""
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.textContent")
    for _ in range(MOST_TABS):
        if (
            page.evaluate(
                "document.activeElement.closest('#verdict-table thead') && document.activeElement.textContent"
            )
            == "Verdict"
        ):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    sort = "document.querySelector('#verdict-table thead th:nth-child(2)').getAttribute('aria-sort')"
    upwards = page.evaluate(VERDICTS), page.evaluate(sort)
    page.keyboard.press("Enter")
    downwards = page.evaluate(VERDICTS), page.evaluate(sort)
    page.get_by_role("button", name="Effect", exact=True).click()
    return {
        "first_focus": first,
        "upwards": upwards,
        "downwards": downwards,
        "effects": page.evaluate(EFFECTS),
    }


def filtered(page: Page) -> dict[str, object]:
    """Ticks verdicts and papers off by the keyboard, and all of them on again."""
    told = ".claims-filter output"
    page.locator(".claims-filter input[value='not tested']").focus()
    page.keyboard.press("Space")
    without = page.evaluate(f"{SHOWN}.map((row) => row.dataset.verdict)"), page.locator(told).text_content()
    for box in page.locator(".claims-filter input[name=paper]:not([value=toldinas])").all():
        box.focus()
        page.keyboard.press("Space")
    of_paper = page.evaluate(f"{SHOWN}.map((row) => row.dataset.papers)")
    empty = page.locator("#verdict-table tbody:not([hidden]) .theme").count()
    page.locator(".claims-filter button").focus()
    page.keyboard.press("Enter")
    page.locator("#verdict-table [data-verdict][hidden]").first.wait_for(state="detached")
    return {"without": without, "of_paper": of_paper, "themes_of_paper": empty, "all": page.evaluate(f"{SHOWN}.length")}


def by_link(page: Page) -> dict[str, object]:
    """Follows a claim of the table to its reasons."""
    page.locator("#verdict-table tbody a").first.click()
    page.locator("details.claim[open]").first.wait_for(state="attached")
    return {"opened": page.evaluate("'#' + document.querySelector('details.claim[open]').id === location.hash")}


if __name__ == "__main__":
    main()
