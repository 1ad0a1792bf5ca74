"""Measures on a fleet as a person does, from the login to the comparisons, in a narrow window; prints what it saw.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.fleet_browser CHROMIUM AXE.js ADDRESS TOKEN ONLY SLOWEST`; SLOWEST is the target that is watched.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened, violations

LONGEST_S = 400
FOLLOWED = """() => {
  window.changes = 0;
  window.isTheSame = true;
  new MutationObserver(() => { window.changes += 1; }).observe(document.getElementById("live"), {childList: true});
}"""
FOCUSED = "document.activeElement.getAttribute('aria-label')"
ROWS = """[...document.querySelectorAll("#jobs tbody tr")].map((row) => ({
  target: row.cells[1].textContent, state: row.cells[2].textContent, settled: row.cells[5].textContent}))"""
STATES = "document.querySelector('#jobs p').textContent"
SIDES = "[...document.querySelectorAll('main > ul.links li .chip')].map((side) => side.textContent.trim())"


def main() -> None:
    chromium, axe, address, token, only, slowest = sys.argv[1:]
    script = Path(axe).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page, complaints, requests = opened(browser, f"{address}/queue", 390, "dark", 60_000)
        seen: dict[str, object] = {"asked": page.title()}
        page.focus("input[name=token]")
        page.keyboard.type(token)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        seen |= queued(page, only)
        seen |= followed(page, script, slowest)
        seen["compared"] = list(compared(page, script))
        seen |= {"complaints": complaints, "requests": sorted({one.split("?")[0] for one in requests})}
        browser.close()
    json.dump(seen, sys.stdout)


def queued(page: Page, only: str) -> dict[str, object]:
    """The form, filled in: every target that there is."""
    page.get_by_role("link", name="Queue", exact=True).click()
    page.get_by_label("Only").fill(only)
    boxes = page.get_by_role("group", name="Targets").get_by_role("checkbox").all()
    for box in boxes:
        box.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Measure", exact=True).click()
    page.evaluate(FOLLOWED)
    return {"targets": len(boxes)}


def followed(page: Page, axe: str, slowest: str) -> dict[str, object]:
    """What the page shows while the jobs are under way; nobody loads it again. A button keeps the focus meanwhile."""
    button = page.get_by_role("row", name=slowest).get_by_role("button")
    button.focus()
    label, states, settled = page.evaluate(FOCUSED), set(), set()
    kept: list[bool] = []
    seen: dict[str, object] = {}
    due = time.monotonic() + LONGEST_S
    while time.monotonic() < due:
        rows = page.evaluate(ROWS)
        states |= {row["state"] for row in rows}
        settled |= {row["settled"] for row in rows}
        if any(row["target"] == slowest and row["state"] in {"queued", "under way"} for row in rows):
            kept.append(page.evaluate(FOCUSED) == label)
        if not seen and "under way" in states:
            seen = {"violations": violations(page, axe), "overflow_px": page.evaluate(OVERFLOW)}
            button.focus()
        if page.evaluate(STATES).startswith("0 waiting"):
            break
        page.wait_for_timeout(200)
    # The button may end between two looks; then its row has none that could have the focus.
    seen |= {"states": sorted(states), "settled": sorted(settled), "kept_focus": kept[:-2]}
    ended = {"violations": violations(page, axe), "overflow_px": page.evaluate(OVERFLOW), "rows": page.evaluate(ROWS)}
    return {"live": seen, "ended": ended, "changes": page.evaluate("changes"), "same": page.evaluate("isTheSame")}


def compared(page: Page, axe: str) -> Iterator[dict[str, object]]:
    """The comparisons that the page of the queue links to, one a kind of evidence."""
    links = page.locator("a[href^='/compare?']").all()
    addresses = list(dict.fromkeys(str(link.get_attribute("href")) for link in links))
    for address in addresses:
        with page.expect_navigation():
            page.locator(f'a[href="{address}"]').first.click()
        yield {
            "title": page.title(),
            "sides": page.evaluate(SIDES),
            "refused": page.locator(".refused").count(),
            "overflow_px": page.evaluate(OVERFLOW),
            "violations": violations(page, axe),
        }
        page.go_back()


if __name__ == "__main__":
    main()
