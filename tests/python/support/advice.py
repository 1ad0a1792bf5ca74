"""What the tests of advice ask by default: a message of 64 octets a second from an nRF52840."""

from datetime import date
from typing import Any

from wattlock.advise import Advice, advise, checked

TODAY = date(2026, 1, 1)
BASE: dict[str, Any] = {"flow": [{"message": "64B", "every": "1s"}], "device": {"card": "nrf52840"}}


def ask(changes: dict[str, Any] | None = None, *, allow_assumed: bool = False, **tables: Any) -> Advice:
    return advise(checked("test", BASE | tables, changes), allow_assumed=allow_assumed, today=TODAY)
