"""What kind of implementation code is, by the path that it takes: what may fairly be compared with what."""

from __future__ import annotations

PLAIN = "plain software"
"""Tables, or operations on words, one block after the other: what libraries were when the papers were written."""

CONSTANT_TIME = "constant-time software"
"""Bit planes or permutations in place of tables: its time depends on no key and no data."""

VECTOR = "vector instructions"
"""Many blocks at once."""

HARDWARE = "cipher instructions"
"""The processor's own, or a unit beside it."""

KINDS = {
    **dict.fromkeys(("tables", "portable"), PLAIN),
    **dict.fromkeys(("fixsliced", "bitsliced", "ssse3"), CONSTANT_TIME),
    **dict.fromkeys(("sse2", "avx2", "avx512", "neon"), VECTOR),
    **dict.fromkeys(("aesni", "vaes256", "vaes512", "armv8", "hardware"), HARDWARE),
}
"""By path, as it stands in the catalogue and in records."""


def kind_of(path: str | None) -> str | None:
    """The kind of code that takes this path; None where the provider doesn't say which it takes."""
    return None if path is None else KINDS[path]
