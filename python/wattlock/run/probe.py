"""The probe as a program: found, asked for its catalogue, started for one shard at a time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wattlock.errors import ProbeError
from wattlock.study import CatalogueRow

NAME = "wattlock-probe"
CHUNK_B = 1 << 16
GO_ON = "what was measured is kept; `wattlock run --resume` goes on"


def find() -> Path:
    """The probe: named by `WATTLOCK_PROBE`, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    named = os.environ.get("WATTLOCK_PROBE")
    beside = Path(sys.executable).with_name(NAME)
    for candidate in (named,) if named else (beside, shutil.which(NAME)):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    place = f"WATTLOCK_PROBE={named}" if named else f"{beside} and PATH"
    raise ProbeError(f"{place}: no program {NAME}", hint="`make setup` builds it; WATTLOCK_PROBE names another one")


def sha256(probe: Path) -> str:
    """The probe's SHA-256: a run is measured by one build."""
    with probe.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ask(probe: Path, *words: str) -> Any:
    """What a verb of the probe answers as JSON.

    Raises ProbeError where it fails.
    """
    try:
        done = subprocess.run([probe, *words], capture_output=True, check=False)
        return json.loads(done.stdout)
    except OSError as error:
        raise ProbeError(f"{probe}: {error.strerror}", hint="`make setup` builds it anew") from error
    except ValueError:
        said = _last_line(done.stderr).removeprefix("error: ")
        told = f"{words[0]}: {said}" if said else f"{probe} {words[0]}: exit code {done.returncode}"
        raise ProbeError(told, hint=_hint(done.stderr) or "`make setup` builds it anew") from None


def answers(probe: Path, verb: str, lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """What a verb of the probe answers to lines of JSON, line by line, from one process.

    A line that can't be answered has its failure among them. Raises ProbeError where there is another answer than JSON.
    """
    text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    try:
        done = subprocess.run([probe, verb], input=text, capture_output=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]
    except OSError as error:
        raise ProbeError(f"{probe}: {error.strerror}", hint="`make setup` builds it anew") from error
    except ValueError:
        said = _last_line(done.stderr) or f"exit code {done.returncode}"
        raise ProbeError(f"{probe} {verb}: {said}", hint="`make setup` builds it anew") from None


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
    answer: list[Any] = ask(probe, "catalogue", "--format", "json", *words, *(["--cipher", *ids] if ids else []))
    rows: dict[str, list[CatalogueRow]] = {}
    for row in answer:
        if "error" not in row:
            rows.setdefault(row["id"], []).append(row)
    return rows, {row["id"]: row["nearest"] for row in answer if "error" in row}


def measure(probe: Path, plan: Iterable[Mapping[str, Any]], process: int, take: Callable[[bytes], None]) -> None:
    """Runs one probe process on a plan and hands over its record lines as they come, whole lines only.

    * `take`: receives one or more lines; what it raises ends the probe.

    Raises ProbeError where the probe dies or ends with an error; the lines before it were handed over.
    """
    text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in plan)
    with tempfile.TemporaryFile() as complaints:
        try:
            # A session of its own: Ctrl-C is for this program, which then ends the probe itself.
            child = subprocess.Popen(
                [probe, "measure"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise ProbeError(f"{probe}: {error.strerror}", hint="`make setup` builds it anew") from error
        with child:
            try:
                _converse(child, text, take)
            except BaseException:
                child.kill()
                raise
        if child.returncode:
            complaints.seek(0)
            raise _died(process, child.returncode, complaints.read())


def _converse(child: subprocess.Popen[bytes], text: bytes, take: Callable[[bytes], None]) -> None:
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018, S101 - both are pipes by construction
    try:
        child.stdin.write(text)
        child.stdin.close()
    except BrokenPipeError:
        return  # it ended before it read its plan; its exit code says why
    rest = b""
    while chunk := os.read(child.stdout.fileno(), CHUNK_B):
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            take(lines + newline)


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
