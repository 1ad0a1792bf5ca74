"""`plan.jsonl`: what a run is meant to measure; the study in its first line, then one line an input and one a case.

The last line is the sum of those before it: a plan that was changed is refused while its run is not sealed yet too.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wattlock.errors import StoreError
from wattlock.store import bounds, planned, schema_1
from wattlock.store.bounds import NotARecord
from wattlock.store.schema import SCHEMA, check_version
from wattlock.study import Case, InputFile, Study

NAME = "plan.jsonl"
MOST_B = 2**24
_CASE_FIELDS = fields(Case)


def run_id(study_id: str, created: datetime, seed: int) -> str:
    """The name of a run: study, minute in UTC, last 16 bits of the seed, as `first-look-20261121-0216-3f9a`."""
    return f"{study_id}-{created.astimezone(UTC):%Y%m%d-%H%M}-{seed & 0xFFFF:04x}"


def plan_lines(
    study: Study,
    cases: Sequence[Case],
    inputs: Sequence[InputFile] = (),
    *,
    id: str,  # noqa: A002 - the record's own name for it
    created: datetime,
    seed: int,
    probe_sha256: str,
    device: str | None,
) -> list[dict[str, Any]]:
    """The lines of a plan.

    * `cases`: as planned, those of the study and those that watch over it.
    * `inputs`: the user's files; their size and SHA-256 stand in the plan, never their path.
    * `created`: with its time zone; `device`: the card asked for, None without one.
    """
    first = {
        "kind": "study",
        "schema": SCHEMA,
        "id": id,
        "created": created.astimezone(UTC).isoformat(timespec="seconds"),
        "wattlock": _version(),
        "seed": seed,
        "probe_sha256": probe_sha256,
        "device": device,
        "study": study.model_dump(mode="json"),
    }
    given = ({"kind": "input", "data": one.label, "size_B": one.size_B, "sha256": one.sha256} for one in inputs)
    return [first, *given, *({"kind": "case", **asdict(case)} for case in cases)]


def encode(lines: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    """The lines of a plan as they stand in its file, and their sum."""
    digest = hashlib.sha256()
    for line in lines:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        digest.update(text)
        yield text
    yield _sum(digest.hexdigest())


def _sum(digest: str) -> bytes:
    return b'{"kind":"sum","sha256":"%s"}\n' % digest.encode()


def is_summed(text: bytes) -> bool:
    """Whether the last line of a plan is the sum of those before it."""
    end = text.rfind(b"\n", 0, -1) + 1
    return text[end:] == _sum(hashlib.sha256(text[:end]).hexdigest())


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's plan, unknown fields included.

    Raises StoreError where the folder is no run, its plan is damaged, too large or not as its schema has it, or of a
    schema version that is not known.
    """
    try:
        text = bounds.read(folder / NAME, MOST_B)
        bounds.weigh(text)
    except (FileNotFoundError, NotADirectoryError):
        what = f"is not a run: it has no {NAME}" if folder.exists() else "there is no such folder"
        raise StoreError(f"run {folder}: {what}", hint="`wattlock run first-look` makes a run under runs/") from None
    except NotARecord as error:
        raise _damaged(folder, error.index + 1, str(error)) from None
    except OSError as error:
        what = f"run {folder}: {NAME} can't be read: {error.strerror}"
        raise StoreError(what, hint="check its permissions") from error
    lines = [_line(folder, number, line) for number, line in enumerate(text.splitlines(), 1)]
    if not lines or lines[0].get("kind") != "study":
        raise _damaged(folder, 1, "does not hold the study")
    check_version(str(folder), lines[0].get("schema"))
    if lines[0]["schema"] == schema_1.VERSION:
        lines = [json.loads(line) for line in schema_1.lines(text).splitlines()]
    if (found := planned.fault(lines)) is not None:
        raise StoreError(f"run {folder}: {NAME}: {found}", hint=CHANGED)
    if any(line["kind"] == "sum" for line in lines) and not is_summed(text):
        raise StoreError(f"run {folder}: {NAME} is not what was planned", hint=CHANGED)
    return [line for line in lines if line["kind"] != "sum"]


def refuse_without_sum(folder: Path) -> None:
    """Raises StoreError where the plan of a run has no sum that speaks for it."""
    if not is_summed(bounds.read(folder / NAME, MOST_B)):
        raise StoreError(f"run {folder}: {NAME} has no sum, and the run is not sealed", hint=CHANGED)


def cases_of(folder: Path, lines: Iterable[dict[str, Any]]) -> list[Case]:
    """The cases of a plan."""
    try:
        planned = [line for line in lines if line["kind"] == "case"]
        # A plan of before a factor existed has the factor's usual value.
        return [
            Case(**{one.name: line[one.name] for one in _CASE_FIELDS if one.name in line or one.default is MISSING})
            for line in planned
        ]
    except KeyError as error:
        raise StoreError(f"run {folder}: a case of {NAME} has no {error}", hint="the file was changed") from None


def _version() -> str | None:
    """The version of this package; None where it runs from its sources without being installed."""
    try:
        return version("wattlock")
    except PackageNotFoundError:
        return None


def _line(folder: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line.decode())
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or "kind" not in parsed:
        raise _damaged(folder, number, "is no plan line")
    return parsed


def _damaged(folder: Path, number: int, what: str) -> StoreError:
    return StoreError(f"run {folder}: line {number} of {NAME} {what}", hint=CHANGED)


CHANGED = "the file was changed; take it from a copy"
