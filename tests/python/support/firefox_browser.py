"""Opens the page of `wattlock page` in Firefox by WebDriver BiDi and prints what it saw as JSON.

Run by the tests in a process of its own: `python -m support.firefox_browser FIREFOX ADDRESS [measure]`. Without
`measure` it looks at the page and has the module make its digests; with it the page is measured to the end.

Source: W3C, WebDriver BiDi, 7.1.1 (session.new), 7.3 (browsingContext), 7.6 (script).
"""

import json
import re
import subprocess
import sys
import tempfile
from typing import Any

from websockets.sync.client import ClientConnection, connect

from support.page_browser import DIGESTS

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
LARGEST_B = 2**24
READY = """async () => {
  const $ = (id) => document.getElementById(id);
  while (!$('state').textContent) await new Promise((done) => setTimeout(done, 200));
  return { state: $('state').textContent, isolated: crossOriginIsolated };
}"""

MEASURED = """async () => {
  const $ = (id) => document.getElementById(id);
  $('start').click();
  do await new Promise((done) => setTimeout(done, 500)); while ($('start').disabled);
  return { state: $('state').textContent, words: $('words').textContent };
}"""


class Session:
    """A session of commands, one at a time."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection, self.number = connection, 0
        self.ask("session.new", capabilities={})

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of a command; events are passed over."""
        self.number += 1
        self.connection.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.connection.recv())
            if said.get("id") == self.number:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['error']}: {said['message']}")
                return said["result"]

    def evaluated(self, context: str, function: str) -> Any:
        """What an asynchronous function of the page gives, as JSON holds it."""
        text = f"async () => JSON.stringify(await ({function})())"
        answer = self.ask(
            "script.callFunction",
            functionDeclaration=text,
            awaitPromise=True,
            target={"context": context},
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])


def main() -> None:
    firefox, address = sys.argv[1:3]
    then = MEASURED if "measure" in sys.argv[3:] else DIGESTS
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [firefox, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as program:
            try:
                lines = iter(program.stderr or ())
                place = next(found[1] for line in lines if (found := LISTENS.search(line)))
                with connect(f"{place}/session", max_size=LARGEST_B, open_timeout=60) as connection:
                    session = Session(connection)
                    context = session.ask("browsingContext.create", type="tab")["context"]
                    session.ask("browsingContext.navigate", context=context, url=address, wait="complete")
                    seen = session.evaluated(context, READY) | session.evaluated(context, then)
                    json.dump(seen, sys.stdout)
            finally:
                program.kill()


if __name__ == "__main__":
    main()
