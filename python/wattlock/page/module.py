"""The instrument as a WebAssembly module: `make page` builds it, a wheel carries it."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path

from wattlock.errors import ProbeError

VARIABLE, NAME = "WATTLOCK_PAGE_MODULE", "instrument.wasm"
MAGIC = b"\0asm\x01\0\0\0"
"""What a module of version 1 begins with (WebAssembly Core Specification 2.0, 5.5.16)."""


class Module:
    """The module's bytes and their hash, by which a run is bound to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = path.read_bytes()
        if not self.bytes.startswith(MAGIC):
            raise ProbeError(f"{path}: is no WebAssembly module", hint=_HINT)

    @cached_property
    def sha256(self) -> str:
        """In hexadecimal."""
        return hashlib.sha256(self.bytes).hexdigest()


_HINT = f"in wattlock's source `make page` builds it; {VARIABLE} names another one"


def find() -> Module:
    """The module: named by `WATTLOCK_PAGE_MODULE`, in the package's data, or where `make page` puts it.

    Raises ProbeError where it is nowhere.
    """
    package = Path(__file__).parents[1]
    named = os.environ.get(VARIABLE)
    places = (
        [Path(named)] if named else [package / "data" / "page" / NAME, package.parents[1] / "build" / "page" / NAME]
    )
    for place in places:
        if place.is_file():
            return Module(place)
    raise ProbeError(f"no module of the instrument in {' and '.join(map(str, places))}", hint=_HINT)
