"""Visits a page as its readers do, wide and narrow, light and dark, and prints what it saw as one JSON array.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.report_browser CHROMIUM PAGE.html [AXE.js]`.
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
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
VERDICTS = "[...document.querySelectorAll('.checks tr')].map((row) => row.cells[1])"
VERDICT_EDGE = f"Math.max(...{VERDICTS}.map((cell) => cell.getBoundingClientRect().right))"
STILL_MS, LONGEST_MS = 400, 4_000
TOP = "document.querySelector(location.hash).getBoundingClientRect().top"
LINKS = "(links) => [...document.querySelectorAll(links)].map((link) => link.hash)"
AT_END = "scrollY + innerHeight >= document.documentElement.scrollHeight - 1"
QUESTIONS = (
    "AES-128 1,500",
    "aes128 1500",
    "aes-128 1.5 kB",
    "1500 b AES 128",
    "16 KiB rc4",
    "14",
    "decrypt cbc encrypt",
    "nothing-like-it",
    "key set-up blowfish",
)
SHOWN = """() => [...document.querySelectorAll('#case-table tbody tr:not([hidden])')].map(
  (row) => Number([...row.cells].at(-2).textContent)).sort((a, b) => a - b)"""
SIDEWAYS = """(box) => {
  box.scrollLeft = 150;
  const edge = box.getBoundingClientRect().left;
  const edges = ['thead th', 'tbody th[scope=row]'].map((cell) => box.querySelector(cell).getBoundingClientRect().left);
  return [box.scrollLeft, ...edges.map((left) => left - edge)];
}"""
OUTLINED = """() => {
  const box = document.activeElement.closest('.scroll');
  if (box !== document.activeElement) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(box);
  return [box.getAttribute('aria-label'), outlineStyle, parseFloat(outlineWidth)];
}"""
OPEN_FOLDS = "[...document.querySelectorAll('details')].map((fold) => fold.open)"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
MOST_TABS = 400
CHART_OVERFLOW = (
    "Math.max(...[...document.querySelectorAll('figure:has(.chart)')].map((box) => box.scrollWidth - box.clientWidth))"
)
INK = "getComputedStyle(document.querySelector('.chart .role-axis-title text')).fill"


def main() -> None:
    chromium, page = sys.argv[1], Path(sys.argv[2]).as_uri()
    axe = Path(sys.argv[3]).read_text(encoding="utf-8") if len(sys.argv) > 3 else None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, page, width, scheme, axe) for width in (1440, 390) for scheme in ("light", "dark")]
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


def visit(browser: Browser, address: str, width: int, scheme: str, axe: str | None) -> dict[str, object]:
    """What one reader sees: figures after scrolling through, overflow, console, requests, focus, filter and order."""
    seen: dict[str, object] = {"width": width, "scheme": scheme, "first_screen": first_screen(browser, address, width)}
    page, complaints, requests = opened(browser, address, width, scheme, 20_000)
    seen |= {
        "paint_ms": page.evaluate(PAINT),
        "figures": page.locator("figure[data-name]").count(),
        "charts": page.locator("figure > svg.chart[role=img]").count(),
        "overflow_px": page.evaluate(OVERFLOW),
        "verdict_edge_px": page.evaluate(VERDICT_EDGE),
        "axis_ink": page.evaluate(INK),
        "chart_overflow_px": page.evaluate(CHART_OVERFLOW),
    }
    seen["violations"] = [] if axe is None else violations(page, axe)
    before = page.evaluate(OPEN_FOLDS)
    page.emulate_media(media="print")
    seen["printed"] = [title.strip() for title in page.locator("h2:visible").all_text_contents()]
    page.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    seen["folds_kept"] = page.evaluate(OPEN_FOLDS) == before
    seen |= by_keyboard(page) | filtered(page)
    for _ in range(2):
        page.get_by_role("button", name="Cycles per byte", exact=True).click()
    cost = page.locator("#case-table thead th", has_text="Cycles per byte").evaluate("(cell) => cell.cellIndex")
    seen["most_expensive_first"] = page.locator("#case-table tbody tr").first.locator("th").text_content()
    seen["last_cost"] = page.locator("#case-table tbody tr").last.locator("td").nth(cost - 1).text_content()
    boxes = ("#ranking details[open] .scroll", ".scroll:has(#case-table)")
    seen["frozen"] = [page.locator(box).first.evaluate(SIDEWAYS) for box in boxes]
    seen |= {"complaints": complaints, "requests": requests}
    links = page.evaluate(LINKS, "nav a")
    page.context.close()
    seen["landed"] = landed(browser, address, width, scheme, links)
    return seen


def first_screen(browser: Browser, address: str, width: int) -> dict[str, float]:
    """Where the answer and its figure end before any script has run, and how small its letters are, in pixels."""
    height = 900 if width > 600 else 844
    context = browser.new_context(viewport={"width": width, "height": height}, java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    picture = page.locator(".main-figure .bars:visible")
    ends = [page.locator(part).bounding_box() for part in ("#answer .lead", ".main-figure")]
    box, shown = picture.bounding_box(), picture.count()
    drawn_px, smallest_px = float(picture.get_attribute("width") or 0), 11.5
    context.close()
    if box is None or None in ends:
        raise SystemExit("the first screen has no figure")
    end = max(part["y"] + part["height"] for part in ends if part is not None)
    return {"height": height, "end": end, "pictures": shown, "letters_px": smallest_px * box["width"] / drawn_px}


def violations(page: Page, axe: str) -> list[list[str]]:
    """What axe finds; the page's policy forbids scripts from elsewhere, this one is handed over by the browser."""
    page.evaluate(axe)
    run = "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"
    return [[one["impact"], one["id"], one["nodes"][0]["html"][:200]] for one in page.evaluate(run)]


def by_keyboard(page: Page) -> dict[str, object]:
    """Tabs from the top to the filter, and on to the end: the boxes of tables that were reached, with their outline."""
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Tab")
    first, reached, is_filter_reached = page.evaluate("document.activeElement.textContent"), [], False
    for _ in range(MOST_TABS):
        box = page.evaluate(OUTLINED)
        reached += [box] if box else []
        is_filter_reached |= page.evaluate("document.activeElement.id") == "filter"
        if page.evaluate("document.activeElement.closest('pre')") and is_filter_reached:
            break
        page.keyboard.press("Tab")
    boxes = page.locator(".scroll:visible").evaluate_all("(boxes) => boxes.map((box) => box.ariaLabel)")
    return {"first_focus": first, "filter_reached": is_filter_reached, "tables": boxes, "tables_reached": reached}


def filtered(page: Page) -> dict[str, object]:
    """The numbers of the cases that each question leaves, and what the page says of a question and of a state."""
    left = {}
    for question in QUESTIONS:
        page.fill("#filter", question)
        left[question] = page.evaluate(SHOWN)
    page.fill("#filter", "rc4 decrypt 1,500")
    seen: dict[str, object] = {"left": left, "shown": page.locator("#shown").text_content()}
    seen["rows"] = page.locator("#case-table tbody tr:visible").count()
    page.fill("#filter", "")
    page.select_option("#state", "failed")
    seen["failed_rows"] = page.locator("#case-table tbody tr:visible").count()
    page.select_option("#state", "")
    return seen


def landed(browser: Browser, address: str, width: int, scheme: str, links: list[str]) -> list[tuple[str, float, bool]]:
    """How far from the top links land, and whether the page ends there: with no figure drawn before.

    Not every browser holds what is in sight where it is when something above it grows: here it may not.
    """
    page, *_ = opened(browser, address, width, scheme, 60_000)
    page.evaluate("document.documentElement.style.overflowAnchor = document.body.style.overflowAnchor = 'none'")
    found = []
    for link in links:
        page.evaluate("(hash) => document.querySelector(`a[href='${hash}']`).click()", link)
        top, waited_ms = None, 0
        while waited_ms < LONGEST_MS and top != (top := page.evaluate(TOP)):
            page.wait_for_timeout(STILL_MS)
            waited_ms += STILL_MS
        found.append((link, page.evaluate(TOP), page.evaluate(AT_END)))
    page.context.close()
    return found


if __name__ == "__main__":
    main()
