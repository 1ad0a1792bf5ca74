"""What judges judge by: the estimates of a run, and what others answered, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from wattlock.analysis.effects import Ratio
from wattlock.papers import record
from wattlock.papers.judges.implementations import Case, case_of
from wattlock.papers.record import Claim, Papers

NAMES = {
    "aes": "AES",
    "des": "DES",
    "3des": "3DES",
    "rc2": "RC2",
    "rc4": "RC4",
    "rc6": "RC6",
    "blowfish": "Blowfish",
    "xor": "XOR",
}
"""Families in words."""

PLAIN = {
    "keying": "ready",
    "encoding": "raw",
    "placement": "hot",
    "pattern": "independent",
    "aad_B": 0,
    "readiness": "steady",
}
"""What a plain case is, by column."""
KINDS_OF_80211 = ("management", "control", "data", "extension")


class Transfer(NamedTuple):
    """What a link answers to one question, as plain values.

    * `scenario`: as the columns of the papers' tables, `adhoc_open` and so on; `fragmented` and `whole`; `packet`.
    * `cipher`: a family, or `none`; `data`: the data set, or empty; `payload_B`: of a packet, 0 for a data set.
    * `duration_s`: of the whole transfer, the host's time included where the air waits for it.
    * `radio_J`, `host_J`: energies of all nodes' radios and of the cipher's work; `overhead_share`: of the radio's
      energy, what is not spent on the payload.
    * `signal_dBm`: at the receiver; `evidence`: modelled or assumed.
    """

    scenario: str
    data: str
    cipher: str
    duration_s: Ratio
    radio_J: Ratio | None = None
    host_J: Ratio | None = None
    overhead_share: Ratio | None = None
    payload_B: int = 0
    signal_dBm: float | None = None
    evidence: str = "modelled"


class Capture(NamedTuple):
    """Frames of a capture: how many by kind and size in bytes, and what was not counted, in words.

    * `frames`: keys are kind and size; kinds that are none of KINDS_OF_80211 are of another medium.
    * `left_out`: how many packets were not counted, by why. `is_cut`: the file ends within a packet.
    """

    frames: Mapping[tuple[str, int], int]
    left_out: Mapping[str, int] = {}
    is_cut: bool = False

    @property
    def of_80211(self) -> dict[tuple[str, int], int]:
        """The frames of 802.11, which the papers speak of."""
        return {key: count for key, count in self.frames.items() if key[0] in KINDS_OF_80211}

    @property
    def sizes(self) -> dict[int, int]:
        """Frames of 802.11 by size alone."""
        found: dict[int, int] = {}
        for (_, size_B), count in self.of_80211.items():
            found[size_B] = found.get(size_B, 0) + count
        return found

    @property
    def left_out_sentence(self) -> str:
        """What was left out, as a sentence; empty where nothing was."""
        described = ", ".join(f"{count:,} {why}" for why, count in self.left_out.items() if count)
        if self.is_cut:
            described = ", ".join(part for part in (described, "all from where the file ends within a packet") if part)
        return f"Left out: {described}." if described else ""


class Discharge(NamedTuple):
    """A battery's fall, measured or by a model: percent left after so many calls of one case."""

    cipher: str
    payload_B: int
    calls: int
    left_percent: Ratio
    battery: str
    evidence: str
    provider: str = ""

    @property
    def case(self) -> str:
        """The cipher and whose code it is, where that is told."""
        return f"{self.cipher} of {self.provider}" if self.provider else self.cipher


class Security(NamedTuple):
    """How a cipher stands: bits after the best attack, key bits, status, and whether it authenticates.

    * `attack_bits`, `attack`: of one that only shortens the search of the whole key, and what is said of it.
    """

    strength_bits: float
    key_bits: int
    status: str
    authenticated: bool
    attack_bits: float | None = None
    attack: str = ""

    @property
    def sound(self) -> bool:
        """Whether it may be advised at all."""
        return self.authenticated and self.status in {"approved", "acceptable"}


@dataclass(frozen=True)
class Evidence:
    """All that a judge may look at.

    * `estimates`: a row a case, with the energy columns where the run was valued or metered.
    * `transfers`, `discharges`, `security` (by cipher id), `capture` (frames by length, bytes): answers of others.
    * `machine`: what the run's machine is, as claims name it: `computer`, `handheld` or `microcontroller`, and with it
      `pentium` and `32-bit` where its processor is one.
    * `run`: its id, for the commands.
    """

    estimates: pl.DataFrame
    transfers: Sequence[Transfer] = ()
    discharges: Sequence[Discharge] = ()
    security: Mapping[str, Security] = field(default_factory=dict)
    capture: Capture | None = None
    machine: Sequence[str] = ("computer",)
    run: str = ""
    papers: Papers = field(default_factory=record.load)

    def is_of(self, claim: Claim) -> bool:
        """Whether the run is of a machine that the claim speaks of; of any where it names none."""
        return not claim.machine or any(one in claim.machine for one in self.machine)

    @property
    def is_metered(self) -> bool:
        """Whether a meter measured cases of the run."""
        return (
            "energy_evidence" in self.estimates.columns
            and (self.estimates["energy_evidence"] == "measured").any()
            and "energy_random_percent" in self.estimates.columns
        )

    def rests_on(self, claim: Claim) -> str:
        """What the costs of a claim are, and how that differs from what it speaks of."""
        if claim.about != "energy":
            return "measured time"
        if self.is_metered:
            return "measured energy"
        return (
            "measured time, which stands for energy as in the papers' own model E = Vcc * I * T; no meter measured it"
        )

    def named(self, data: str) -> str:
        """A kind of data in words."""
        return data

    def cases(self, claim: Claim, **factors: object) -> list[Case]:
        """The cases of a run with these factors, with their costs.

        * `factors`: by column; those of a plain case where not given: key ready, raw, hot, independent.
        """
        wanted = {**PLAIN, **factors}
        rows = self.estimates.filter(
            pl.col("state").is_in(["resolved", "unresolved"])
            & (pl.col("processes") > 1)
            & pl.col("time_ns").is_not_null()
            & pl.all_horizontal([pl.col(name) == value for name, value in wanted.items()])
        )
        if claim.about == "energy" and self.is_metered:
            metered = rows.filter(pl.col("energy_evidence") == "measured")
            return [
                case_of(row, row["energy_uJ"], row["energy_random_percent"]) for row in metered.iter_rows(named=True)
            ]
        return [case_of(row, row["time_ns"], row["half_width_percent"]) for row in rows.iter_rows(named=True)]
