"""Judges selftests of static probes, as `.ci/try-probes` calls it: `tools/selftests.py NAME=FILE ...`.

Each FILE is what `wattlock-probe selftest --format json` printed there. Every row must be right or, without a cipher, a
library's that a static probe doesn't open; and what one processor proves all of them must.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]

CLOSED = Path(__file__).parents[1] / "crates" / "providers" / "src" / "closed.rs"
"""Names the libraries that a static probe doesn't open."""


def closed_libraries() -> list[str]:
    """The providers that a static probe names and doesn't open."""
    names = re.search(r"NAMES: \[&str; \d+\] =\s*\[(.*?)\];", CLOSED.read_text(encoding="utf-8"), re.DOTALL)
    if names is None:
        raise SystemExit(f"error: {CLOSED.name} has no list of names")
    return re.findall(r'"([^"]+)"', names[1])


def mistakes(selftests: Mapping[str, Rows], closed: Sequence[str]) -> list[str]:
    """What is wrong, a sentence each; none where all is well.

    * `selftests`: the rows by processor; `closed`: the libraries of which an absent row is right.
    """
    found = []
    proven = {
        name: {(row["cipher"], row["provider"]) for row in rows if row["cipher"]} for name, rows in selftests.items()
    }
    of_any = set().union(*proven.values())
    for name, rows in selftests.items():
        absent = Counter(row["provider"] for row in rows if row["result"] == "absent")
        if absent != Counter(closed):
            found.append(f"{name}: absent are {', '.join(sorted(absent.elements()))}, not {', '.join(sorted(closed))}")
        wrong = [row for row in rows if row["result"] not in ("right", "absent")]
        found += [f"{name}: {row['cipher']} of {row['provider']} is {row['result']}: {row['detail']}" for row in wrong]
        found += [f"{name}: no row of {cipher} of {provider}" for cipher, provider in sorted(of_any - proven[name])]
        if not proven[name]:
            found.append(f"{name}: no cipher")
    return found


def main(arguments: Sequence[str]) -> int:
    """Prints a line a processor, then what is wrong; gives 1 where something is."""
    named = [argument.rpartition("=")[::2] for argument in arguments]  # a processor may be called rv64,v=true
    selftests: dict[str, Rows] = {name: json.loads(Path(file).read_text(encoding="utf-8")) for name, file in named}
    for name, rows in selftests.items():
        counts = Counter(row["result"] for row in rows)
        paths = Counter(row["path"] for row in rows if row["path"])
        shown = ", ".join(f"{count} {path}" for path, count in sorted(paths.items()))
        print(f"{name}: {counts['right']} right, {counts['wrong']} wrong, {counts['absent']} absent ({shown})")  # noqa: T201
    found = mistakes(selftests, closed_libraries())
    for sentence in found:
        print(f"error: {sentence}", file=sys.stderr)  # noqa: T201
    return 1 if found or not selftests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
