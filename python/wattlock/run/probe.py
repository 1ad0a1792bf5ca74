"""The probe as a program: found, asked for its catalogue, started for one shard at a time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from wattlock.errors import ProbeError
from wattlock.run.contract import GO_ON, Contract
from wattlock.run.hearing import Limits, hear
from wattlock.study import CatalogueRow

NAME = "wattlock-probe"

ASKED_S, ANSWER_S = 300.0, 60.0
"""The catalogue proves nothing and takes a second; a scenario of the air is simulated for some."""

MOST_ANSWER_B, ANSWER_B = 16 * 2**20, 2**16
"""The whole catalogue has about 1 MB, an answer of the air some kB."""


def find() -> Path:
    """The probe: named by `WATTLOCK_PROBE`, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    return located(NAME, "WATTLOCK_PROBE")


def located(name: str, variable: str) -> Path:
    """A program: named by an environment variable, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    named = os.environ.get(variable)
    beside = Path(sys.executable).with_name(name)
    for candidate in (named,) if named else (beside, shutil.which(name)):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    place = f"{variable}={named}" if named else f"{beside} and PATH"
    raise ProbeError(f"{place}: no program {name}", hint=f"`make setup` builds it; {variable} names another one")


def sha256(probe: Path) -> str:
    """The probe's SHA-256: a run is measured by one build."""
    with probe.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ask(probe: Path, *words: str, most_s: float = ASKED_S) -> Any:
    """What a verb of the probe answers as JSON.

    * `most_s`: the time that it may take.

    Raises ProbeError where it fails, or takes longer.
    """
    return _answered(probe, words, b"", Limits(most_s, most_s, most_s, MOST_ANSWER_B), json.loads)


def rows(probe: Path, *words: str, needs: Sequence[str], most_s: float = ASKED_S) -> list[dict[str, Any]]:
    """What a verb of the probe answers as rows that have at least the columns `needs`.

    Raises ProbeError where it answers something else.
    """
    answer: Any = ask(probe, *words, most_s=most_s)
    if isinstance(answer, list) and all(isinstance(row, dict) and row.keys() >= set(needs) for row in answer):
        return answer
    raise _no_rows(probe, words[0])


def _no_rows(probe: Path, verb: str) -> ProbeError:
    return ProbeError(f"{probe} {verb}: its answer is no list of rows", hint="`make setup` builds it anew")


def answers(probe: Path, verb: str, lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """What a verb of the probe answers to lines of JSON, line by line, from one process.

    A line that can't be answered has its failure among them. Raises ProbeError where there is another answer than JSON.
    """
    given = [_line(line) for line in lines]
    most_s = ASKED_S + ANSWER_S * len(given)
    limits = Limits(most_s, most_s, most_s, MOST_ANSWER_B + len(given) * ANSWER_B)
    found: list[Any] = _answered(
        probe, [verb], b"".join(given), limits, lambda said: [json.loads(one) for one in said.splitlines()]
    )
    return found


def _answered(probe: Path, words: Sequence[str], text: bytes, limits: Limits, read: Callable[[bytes], Any]) -> Any:
    said: list[bytes] = []
    code, complaints = hear([probe, *words], text, limits, said.append, who=f"{probe} {words[0]}")
    try:
        return read(b"".join(said))
    except (ValueError, RecursionError):
        complaint = _last_line(complaints).removeprefix("error: ")
        told = f"{words[0]}: {complaint}" if complaint else f"{probe} {words[0]}: exit code {code}, and no JSON"
        raise ProbeError(told, hint=_hint(complaints) or "`make setup` builds it anew") from None


def _line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def ended_early(probe: Path, verb: str, came: int, asked: int) -> ProbeError:
    """The error for a probe that left lines without an answer."""
    return ProbeError(f"{probe} {verb}: {came} answers to {asked} lines", hint="`make setup` builds it anew")


def catalogue(
    probe: Path, ids: Sequence[str] = (), libraries: Mapping[str, Path] | None = None
) -> tuple[dict[str, list[CatalogueRow]], dict[str, str | None]]:
    """The catalogue's rows by id, one a provider, and for each id that it doesn't know the one that looks most like it.

    * `ids`: only these; none asks for all that are listed. `libraries`: path of a user's own library by its name.
    """
    words = [word for name, path in (libraries or {}).items() for word in ("--library", f"{name}={path}")]
    answer = ask(probe, "catalogue", "--format", "json", *words, *(["--cipher", *ids] if ids else []))
    if not isinstance(answer, list) or not all(_is_row(row) for row in answer):
        raise _no_rows(probe, "catalogue")
    rows: dict[str, list[CatalogueRow]] = {}
    for row in answer:
        if "error" not in row:
            rows.setdefault(row["id"], []).append(row)
    return rows, {row["id"]: row["nearest"] for row in answer if "error" in row}


def _is_row(row: object) -> bool:
    """Whether this is a row of the catalogue, or says that an id is not known."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return False
    if "error" in row:
        return isinstance(row.get("nearest"), str | None)
    types: dict[str, Any] = get_type_hints(CatalogueRow)
    return all(name in row and isinstance(row[name], types[name]) for name in CatalogueRow.__required_keys__)


def measure(probe: Path, plan: Iterable[Mapping[str, Any]], process: int, take: Callable[[bytes], None]) -> None:
    """Runs one probe process on a plan and hands over its record lines as they come, whole lines only.

    * `take`: receives one or more lines, each judged before; what it raises ends the probe.

    Raises Broken where the probe writes what it was not asked for, Refused where it takes more than that can need, and
    ProbeError where it dies or ends with an error; the lines before it were handed over.
    """
    lines = list(plan)
    contract = Contract(lines)

    def judged(chunk: bytes) -> None:
        if data := contract.take(chunk):
            take(data)

    text = b"".join(map(_line, lines))
    who = f"the probe in process {process}"
    code, complaints = hear([probe, "measure"], text, contract.limits, judged, who=who)
    if code:
        raise _died(process, code, complaints)
    contract.ended()


def _died(process: int, code: int, complaints: bytes) -> ProbeError:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    said = _last_line(complaints).removeprefix("error: ")
    return ProbeError(
        f"the probe {how} in process {process}" + (f": {said}" if said else ""),
        hint=_hint(complaints) or GO_ON,
    )


def _last_line(complaints: bytes) -> str:
    lines = [line for line in complaints.decode(errors="replace").splitlines() if not line.startswith("hint:")]
    return lines[-1].strip() if lines else ""


def _hint(complaints: bytes) -> str:
    """What the probe itself says would mend it; empty where it says nothing."""
    hints = [line for line in complaints.decode(errors="replace").splitlines() if line.startswith("hint:")]
    return hints[-1].removeprefix("hint:").strip() if hints else ""
