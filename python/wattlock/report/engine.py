"""The engine of the pages' charts: joining its parts takes a second, so it is kept in this user's cache."""

import os
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from wattlock.store.disk import cache_folder, write_whole

EXPORTED = "window.vegaEmbed=vegaEmbed;"


def bundle() -> str:
    """Vega, Vega-Lite and their embedder as one script, of the version that came with vl-convert."""
    with suppress(OSError, RuntimeError, ImportError):  # no home, nothing to be read there, no such package
        if kept := _kept(cache_folder()):
            return kept
    import vl_convert

    made = str(vl_convert.javascript_bundle(EXPORTED))
    with suppress(OSError, RuntimeError):
        cache_folder().mkdir(parents=True, exist_ok=True)
        write_whole(cache_folder() / f"{_name()}-{sha256(made.encode()).hexdigest()}.js", [made.encode()])
    return made


def _kept(folder: Path) -> str | None:
    """What was kept: this user's own file, whole by the hash in its name."""
    for path in folder.glob(f"{_name()}-*.js"):
        octets = path.read_bytes()
        is_whole = path.stem.rpartition("-")[2] == sha256(octets).hexdigest()
        if is_whole and path.stat().st_uid == os.getuid():
            return octets.decode()
    return None


def _name() -> str:
    return f"vega-{version('vl-convert-python')}"
