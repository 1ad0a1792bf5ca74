"""A side of a transfer: the probe carries it out, its records become rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from wattlock.errors import InputError, ProbeError, TransferRefused, WattlockError
from wattlock.targets.toolbox import Toolbox
from wattlock.text import harmless

MEANING: dict[int, type[WattlockError]] = {
    2: InputError,
    3: InputError,
    4: TransferRefused,
    10: InputError,
    11: InputError,
    12: InputError,
}
"""What an exit code of `wattlock-net transfer` means here; any other is the probe's own trouble."""

FAREWELL_s = 5.0


def carry_out(net: Toolbox, words: Sequence[str]) -> tuple[list[dict[str, Any]], WattlockError | None]:
    """Run one side of a transfer to its end; the probe's words go to standard error as they come.

    * `words`: the arguments behind `wattlock-net transfer`. Standard input is the probe's: a token may come by it.
    * Returns the rows of the files that arrived, and the error that ended it, if any.

    Raises ProbeError where the probe can't be started.
    """
    written: list[str] = []
    side, *rest = words
    with _lifeline() as (more, passed, hang_up):
        try:
            child = subprocess.Popen(
                [net.program, "transfer", side, *more, *rest],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=passed,
            )
        except OSError as error:
            raise ProbeError(f"{net.program}: {error.strerror}", hint="`make setup` builds it anew") from error
        return _followed(child, written, hang_up)


@contextmanager
def _lifeline() -> Iterator[tuple[list[str], list[int], Callable[[], None]]]:
    """A pipe that the child reads: however this process ends, the system closes its end, and the child ends too.

    Gives the words that name it, the descriptors that the child takes along, and what ends the child.
    """
    reading, writing = os.pipe()
    with ExitStack() as ends:
        ends.callback(os.close, reading)
        other = ExitStack()
        other.callback(os.close, writing)
        ends.callback(other.close)
        yield ["--lifeline", str(reading)], [reading], other.close


def _followed(
    child: subprocess.Popen[bytes], written: list[str], hang_up: Callable[[], None]
) -> tuple[list[dict[str, Any]], WattlockError | None]:
    with child:
        assert child.stdout is not None and child.stderr is not None  # noqa: PT018, S101 - pipes by construction
        hearing = threading.Thread(target=_pass_on, args=(child.stderr, written))
        hearing.start()
        try:
            records = [json.loads(line) for line in child.stdout]
        except BaseException:
            hang_up()  # it would wait for its peer on its own
            try:
                child.wait(FAREWELL_s)
            except subprocess.TimeoutExpired:
                child.terminate()
            raise
        finally:
            hearing.join()
    rows = [row(record) for record in records if record.pop("kind") == "transfer"]
    return rows, _error(child.returncode, written) if child.returncode else None


def row(record: dict[str, Any]) -> dict[str, Any]:
    """A record of one side with the joules net of what the machine draws at rest, null where a meter gave none."""
    energy = record["energy"]
    net = {f"{part}_uJ": None if energy is None else _net_uJ(energy[part], energy["idle"]) for part in PARTS}
    gain = None if energy is None else 100 * energy["gain_relative_uncertainty"]
    lost = None if record["datagrams"] is None else record["datagrams"]["lost"]
    return {**record, "lost_datagrams": lost, **net, "gain_percent": gain}


PARTS = ("process", "transfer")


def _net_uJ(window: dict[str, Any], idle: dict[str, Any]) -> float | None:
    if window["gross_nJ"] is None or idle["gross_nJ"] is None:
        return None
    at_rest_nJ = idle["gross_nJ"] * window["window_ns"] / idle["window_ns"]
    return float(window["gross_nJ"] - at_rest_nJ) / 1000


def _pass_on(words: IO[bytes], written: list[str]) -> None:
    for line in words:
        text = line.decode(errors="replace").rstrip("\n")
        if text.startswith(("error: ", "hint: ")):
            written.append(text)
        else:
            print(harmless(text), file=sys.stderr, flush=True)  # noqa: T201 - the token has to be seen while the probe waits


def _error(code: int, written: Sequence[str]) -> WattlockError:
    described = {kind: text for kind, _, text in (line.partition(": ") for line in written)}
    message = described.get("error", f"the probe ended with exit code {code}")
    hint = described.get("hint", "").replace("`wattlock-probe catalogue`", "`wattlock ciphers`")
    return MEANING.get(code, ProbeError)(message, hint=hint)
