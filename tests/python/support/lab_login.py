"""Logs in to a lab as a person does, by keyboard, and prints what it saw as JSON.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.lab_login CHROMIUM AXE.js ADDRESS TOKEN`.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from support.report_browser import OVERFLOW, QUIET, opened, violations

REFUSED = "[...document.querySelectorAll('[role=alert]')].map((told) => told.textContent)"


def main() -> None:
    chromium, axe, address, token = sys.argv[1:]
    script = Path(axe).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page, _, _ = opened(browser, f"{address}/runs", 390, "dark", 20_000)
        seen: dict[str, object] = {"asked": page.title()}
        for name, typed in (("refused", "no token"), ("in", token)):
            page.focus("input[name=token]")
            page.keyboard.type(typed)
            with page.expect_navigation():
                page.keyboard.press("Enter")
            seen[name] = page.title()
            seen[f"{name}_alerts"] = page.evaluate(REFUSED)
            seen[f"{name}_overflow_px"] = page.evaluate(OVERFLOW)
            seen[f"{name}_violations"] = violations(page, script)
        for name, path in (("door", "/measure-this-device"), ("log", "/log"), ("tokens", "/tokens")):
            page.goto(address + path)
            seen |= {name: page.title(), f"{name}_overflow_px": page.evaluate(OVERFLOW)}
            seen[f"{name}_violations"] = violations(page, script)
        seen["cookies_of_scripts"] = page.evaluate("document.cookie")
        browser.close()
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
