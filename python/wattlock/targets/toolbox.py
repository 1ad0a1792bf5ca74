"""The program `wattlock-net`: the air, captures, transfers. Its build is no part of a run, and is named by `builds`."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json, to_json

import wattlock
from wattlock.definitions import own_folder
from wattlock.errors import InputError, ProbeError, TransferRefused, WattlockError
from wattlock.targets import local
from wattlock.targets.target import Limits, hear, located, read
from wattlock.text import harmless

NAME, VARIABLE = "wattlock-net", "WATTLOCK_NET"

START_S, ANSWER_S = 300.0, 60.0
"""A scenario of the air is simulated for some seconds."""

MOST_ANSWER_B, ANSWER_B = 16 * 2**20, 2**16
"""An answer of the air has some kB."""


@dataclass(frozen=True)
class Toolbox:
    """The toolbox on this machine; `program`: where it lies."""

    program: Path

    def answers(self, verb: str, lines: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What a verb answers to lines of JSON, line by line, from one process.

        A line that can't be answered has its failure among them. Raises ProbeError where there is another answer than
        JSON, or not one for each line.
        """
        who = f"{self.program} {verb}"
        given = [to_json(line) + b"\n" for line in lines]
        most_s = START_S + ANSWER_S * len(given)
        limits = Limits(most_s, most_s, most_s, MOST_ANSWER_B + len(given) * ANSWER_B)
        written: list[bytes] = []
        code, complaints = hear([self.program, verb], b"".join(given), limits, written.append, who=who)
        found: list[Any] = read(
            written, lambda text: [from_json(line) for line in text.splitlines()], code, complaints, who
        )
        if len(found) != len(given):
            what = f"{who}: {len(found)} answers to {len(given)} lines"
            raise ProbeError(what, hint="`make setup` builds it anew")
        return found


def find() -> Toolbox:
    """The toolbox: named by `WATTLOCK_NET`, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    return Toolbox(located(NAME, VARIABLE))


MUST_AGREE = {
    "wattlock": ("version of wattlock", "install the same version on both"),
    "files": ("wattlock of that version", "install the same wheel on both, or check out the same commit"),
    "network": ("build of wattlock-net", "install the same wheel on both, or name a copy of one by WATTLOCK_NET"),
    "probe": ("build of the probe", "install the same wheel on both, or name a copy of one probe by WATTLOCK_PROBE"),
    "numpy": ("version of NumPy", "install the same version on both"),
    "processor": ("kind of processor", "take workers of one kind: others may round otherwise"),
    "cards": ("folder of cards", "lay a copy of one folder at the same path of both"),
}
"""What is compared, in words, and what to do where two machines differ."""


def builds(user_folder: Path | None) -> dict[str, str | None]:
    """What answers are made by on this machine, by the names of `MUST_AGREE`.

    * `user_folder`: the user's folder of cards; without one that of `WATTLOCK_CARDS`.

    Raises ProbeError where a program is missing, InputError where the folder has no cards.
    """
    folder = own_folder(user_folder)
    return {
        "wattlock": wattlock.__version__,
        "files": _package(),
        "network": _sha256([find().program]),
        "probe": _sha256([local.find().program]),
        "numpy": version("numpy"),
        "processor": platform.machine(),
        "cards": None if folder is None else _sha256(folder.rglob("*.toml")),
    }


@cache
def _package() -> str:
    root = Path(wattlock.__file__).parent
    return _sha256(path for ending in ("py", "toml", "json") for path in root.rglob(f"*.{ending}"))


def _sha256(files: Iterable[Path]) -> str:
    """Of the content of files, in the order of their paths."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


ERROR_OF_EXIT_CODE: dict[int, type[WattlockError]] = {
    2: InputError,
    3: InputError,
    4: TransferRefused,
    10: InputError,
    11: InputError,
    12: InputError,
}
"""What an exit code of `wattlock-net transfer` means here; any other is the program's own trouble."""

FAREWELL_s = 5.0


def rows_of_run(net: Toolbox, words: Sequence[str]) -> tuple[list[dict[str, Any]], WattlockError | None]:
    """Run one side of a transfer to its end; the program's words go to standard error as they come.

    * `words`: the arguments behind `wattlock-net transfer`. Standard input is the program's: a token may come by it.
    * Returns the rows of the files that arrived, and the error that ended it, if any.

    Raises ProbeError where the program can't be started.
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
    message = described.get("error", f"wattlock-net ended with exit code {code}")
    hint = described.get("hint", "").replace("`wattlock-probe catalogue`", "`wattlock ciphers`")
    return ERROR_OF_EXIT_CODE.get(code, ProbeError)(message, hint=hint)
