"""Runs of schema 1, of before November 2026, read as those of today: the same facts under other names."""

import json

import polars as pl

VERSION = 1

_NAMES = {
    b'"kind":"cell"': b'"kind":"case"',
    b'"role":"cell"': b'"role":"case"',
    b'"cell":': b'"case":',
    b'"cells":': b'"cases":',
    b'"follows":"skip_cell"': b'"follows":"skip_case"',
    b'"role":"copy"': b'"role":"aa_test"',
    b'"role":"known_effect"': b'"role":"injected_slowdown"',
}
"""Without spaces. Within a string a quote has a backslash before it: no string holds any of these."""

_BATCH, _HEADER = b'{"kind":"batch",', b'{"kind":"header",'
_PATHS = {
    **{
        name: name
        for name in ("tables", "fixsliced", "aesni", "vaes256", "vaes512", "ssse3", "avx2", "avx512", "portable")
    },
    "soft": "fixsliced",
    "scalar": "portable",
    "armv8-aes": "armv8",
    "vaes": "vaes256",
}
_NO_PART = {"", "not told", "as built, not told", "sse2 or portable"}
_PARTS = {"key set up for each message": "one-shot"}


def lines(data: bytes) -> bytes:
    """Lines of a plan or of records, in today's names; one that can't be read so stays, for its reader to name."""
    data = b"\n".join(map(_compact, data.split(b"\n")))
    for old, new in _NAMES.items():
        data = data.replace(old, new)
    return b"\n".join(map(_with_paths, data.split(b"\n")))


def _compact(line: bytes) -> bytes:
    """Without spaces. Those of batches are many, and no program but the probe wrote any."""
    if line.startswith(_BATCH):
        return line
    try:
        return json.dumps(json.loads(line), separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return line


def _with_paths(line: bytes) -> bytes:
    if not line.startswith(_HEADER):
        return line
    try:
        header = json.loads(line)
        for case in header["cases"]:
            case["path"], case["of"] = _path_and_part(case.pop("backend", ""))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return line
    return json.dumps(header, separators=(",", ":")).encode()


def _path_and_part(backend: str) -> tuple[str | None, str | None]:
    """The words of schema 1 as data: `aesni, default provider` is the path `aesni` of the part `default`."""
    first, _, rest = backend.partition(", ")
    path = _PATHS.get(first)
    part = (rest if path else backend).removesuffix(" provider")
    return path, None if part in _NO_PART else _PARTS.get(part, part)


def batches(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The batches of a sealed run, in today's names."""
    return frame.rename({"cell": "case"}, strict=False)
