"""Visits a page as its readers do, wide and narrow, light and dark, and prints what it saw as one JSON array.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.report_browser CHROMIUM PAGE.html`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DRAWN = "() => [...document.querySelectorAll('figure .chart')].every((chart) => chart.querySelector('svg path'))"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
VERDICTS = "[...document.querySelectorAll('.checks tr')].map((row) => row.cells[1])"
VERDICT_EDGE = f"Math.max(...{VERDICTS}.map((cell) => cell.getBoundingClientRect().right))"
INK = "getComputedStyle(document.querySelector('.chart svg .role-axis-title text')).fill"


def main() -> None:
    chromium, page = sys.argv[1], Path(sys.argv[2]).as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, page, width, scheme) for width in (1280, 360) for scheme in ("light", "dark")]
        browser.close()
    json.dump(seen, sys.stdout)


def opened(
    browser: Browser, address: str, width: int, scheme: str, longest_ms: int
) -> tuple[Page, list[str], list[str]]:
    """A page as one reader opens it, and two lists that grow: what it complains of, and what it fetches.

    * `width`: of the window, in pixels; `scheme`: light or dark; `longest_ms`: that anything may take.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(longest_ms)
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    return page, complaints, requests


def visit(browser: Browser, address: str, width: int, scheme: str) -> dict[str, object]:
    """What one reader sees: figures after scrolling through, overflow, console, requests, focus, filter and order."""
    page, complaints, requests = opened(browser, address, width, scheme, 20_000)
    early = page.locator(".chart svg").count()
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
    page.wait_for_function(DRAWN)
    seen: dict[str, object] = {
        "width": width,
        "scheme": scheme,
        "figures": page.locator("figure:has(.spec)").count(),
        "charts": page.locator(".chart svg").count(),
        "charts_before_scrolling": early,
        "overflow_px": page.evaluate(OVERFLOW),
        "verdict_edge_px": page.evaluate(VERDICT_EDGE),
        "axis_ink": page.evaluate(INK),
        "chart_overflow_px": page.evaluate(
            "Math.max(...[...document.querySelectorAll('.chart')].map((box) => box.scrollWidth - box.clientWidth))"
        ),
    }
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Tab")
    seen["first_focus"] = page.evaluate("document.activeElement.textContent")
    for _ in range(300):
        if page.evaluate("document.activeElement.id") == "filter":
            break
        page.keyboard.press("Tab")
    seen["focus"] = page.evaluate("document.activeElement.id")
    page.keyboard.type("rc4 decrypt 1,500")
    seen["shown"] = page.locator("#shown").text_content()
    seen["rows"] = page.locator("#case-table tbody tr:visible").count()
    page.fill("#filter", "")
    page.select_option("#state", "failed")
    seen["failed_rows"] = page.locator("#case-table tbody tr:visible").count()
    page.select_option("#state", "")
    for _ in range(2):
        page.get_by_role("button", name="Cycles per byte", exact=True).click()
    seen["most_expensive_first"] = page.locator("#case-table tbody tr").first.locator("th").text_content()
    seen["last_cost"] = page.locator("#case-table tbody tr").last.locator("td").nth(7).text_content()
    seen |= {"complaints": complaints, "requests": requests}
    page.context.close()
    return seen


if __name__ == "__main__":
    main()
