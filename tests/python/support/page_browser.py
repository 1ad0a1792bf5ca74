"""Opens the page of `wattlock page` in a browser and prints what it saw as JSON.

Run by the tests in a process of its own, so that a browser that hangs is ended by a time limit:
`python -m support.page_browser CHROMIUM ADDRESS measure|discharge|digests|look|elsewhere`.
"""

import json
import sys

from playwright.sync_api import Page, sync_playwright

from support.report_browser import OVERFLOW, QUIET

LONGEST_MS = 280_000
ELSEWHERE = "192.0.2.7"
"""A name of this machine that no browser takes for secure, as an address in a local network isn't."""
ISOLATED = "crossOriginIsolated"
DISCHARGED = """navigator.getBattery = async () => {
  const start = performance.now();
  const fallen = () => Math.floor((performance.now() - start) / 400) / 100;
  return { charging: false, get level() { return Math.max(0, 1 - fallen()); } };
}"""
"""A battery that falls by a percent in 0.4 s from the moment at which a page asks for it."""
DIGESTS = """async () => {
  const { instrument } = await import('./instrument.js');
  const bytes = await (await fetch('instrument.wasm')).arrayBuffer();
  let text = '';
  const write = (lines) => { text += new TextDecoder().decode(lines); };
  const said = [];
  const { ask } = await instrument(bytes, () => performance.now() * 1e6, write, (words) => said.push(words));
  const code = await ask({ verb: 'digests' });
  return { code, lines: text.trim().split('\\n'), said };
}"""


def main() -> None:
    chromium, address, what = sys.argv[1:4]
    if what == "elsewhere":
        address = address.replace("127.0.0.1", ELSEWHERE)
    rules = [f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET, *rules])
        page = browser.new_context(viewport={"width": 390, "height": 844}, ignore_https_errors=True).new_page()
        page.set_default_timeout(LONGEST_MS)
        complaints: list[str] = []
        if what == "discharge":
            page.add_init_script(DISCHARGED)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        seen = page.evaluate(DIGESTS) if what == "digests" else visited(page, what)
        json.dump({**seen, "isolated": page.evaluate(ISOLATED), "complaints": complaints}, sys.stdout)
        browser.close()


def visited(page: Page, what: str) -> dict[str, object]:
    """What the page shows once it has looked at its clock, and once it was measured where it is to be."""
    page.locator("#state:not(:empty)").wait_for()
    if what in {"measure", "discharge"}:
        page.click("#start")
        page.locator("#start:disabled").wait_for()
        page.locator("#start:enabled").wait_for()
    texts = ("#device", "#notes", "#state", "#result", "#words")
    return {text.lstrip("#"): page.locator(text).inner_text() for text in texts} | {
        "overflow_px": page.evaluate(OVERFLOW),
        "home": page.locator("#home a").evaluate("link => link.offsetParent && link.href"),
    }


if __name__ == "__main__":
    main()
