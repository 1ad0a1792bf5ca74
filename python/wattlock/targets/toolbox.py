"""The toolbox of the network as a program: the air, captures, transfers. Its build is no part of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from wattlock.errors import ProbeError
from wattlock.targets.hearing import Limits, hear
from wattlock.targets.programs import located, read

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
