"""Visits a decision record as its readers do, wide and narrow, light and dark, and on paper; prints one JSON array.

Run by the tests in a process of its own: `python -m support.decision_browser CHROMIUM PAGE.html AXE.js`.
"""

import json
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened

TOP = "document.querySelector(location.hash).getBoundingClientRect().top"
AT_END = "scrollY + innerHeight >= document.documentElement.scrollHeight - 1"
LINKS = "[...document.querySelectorAll('nav a')].map((link) => link.hash)"
SIDEWAYS = """() => {
  const box = [...document.querySelectorAll('.scroll')].find((one) => one.scrollWidth > one.clientWidth + 60);
  if (!box) return [];
  box.scrollLeft = 60;
  return ['thead th', 'tbody th[scope=row]'].map(
    (one) => box.querySelector(one).getBoundingClientRect().left - box.getBoundingClientRect().left);
}"""
FOCUS = """() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  return [at.getAttribute('aria-label') ?? at.textContent, style.outlineStyle === 'solid' && style.outlineWidth];
}"""
MOST_TABS = 250


def main() -> None:
    chromium, page = sys.argv[1], Path(sys.argv[2]).as_uri()
    axe = Path(sys.argv[3]).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        seen = [visit(browser, page, width, scheme, axe) for width in (1440, 390) for scheme in ("light", "dark")]
        browser.close()
    json.dump(seen, sys.stdout)


def visit(browser: Browser, address: str, width: int, scheme: str, axe: str) -> dict[str, object]:
    """What one reader sees."""
    page, complaints, requests = opened(browser, address, width, scheme, 20_000)
    seen: dict[str, object] = {
        "width": width,
        "scheme": scheme,
        "overflow_px": page.evaluate(OVERFLOW),
        "figures_end_px": page.evaluate(
            "Math.max(...[...document.querySelectorAll('figure')].map((one) => one.getBoundingClientRect().bottom))"
        ),
        "landed": landed(page),
        "frozen": page.evaluate(SIDEWAYS),
        "focused": focused(page),
    }
    # The page's policy forbids scripts from elsewhere; this one is handed over by the browser's own tool.
    page.evaluate(axe)
    run = "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"
    seen["violations"] = [[one["impact"], one["id"], one["nodes"][0]["html"][:200]] for one in page.evaluate(run)]
    seen |= on_paper(page)
    seen |= {"complaints": complaints, "requests": requests}
    page.context.close()
    return seen


def landed(page: Page) -> list[tuple[str, float, bool]]:
    """How far from the top each link of the page lands, and whether the page ends there."""
    found = []
    for link in page.evaluate(LINKS):
        page.evaluate("(hash) => document.querySelector(`a[href='${hash}']`).click()", link)
        page.wait_for_timeout(50)
        found.append((link, page.evaluate(TOP), page.evaluate(AT_END)))
    return found


def focused(page: Page) -> list[list[str]]:
    """What the keyboard stops at, from the top: its name, and its outline's width where it has one."""
    page.reload()
    found: list[list[str]] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if found and stop[0] == found[0][0]:
            break
        found.append(stop)
    return found


def on_paper(page: Page) -> dict[str, object]:
    """How many pages of A4 a print has, and which parts stand on them."""
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    page.emulate_media(media="print")
    shown = "[...document.querySelectorAll('section h2')].filter((one) => one.checkVisibility())"
    return {
        "pages": len(re.findall(rb"/Type\s*/Page\b", printed)),
        "on_paper": page.evaluate(f"{shown}.map((one) => one.textContent)"),
        "left_out": page.evaluate("document.querySelector('.on-paper').innerText"),
    }


if __name__ == "__main__":
    main()
