"""What judges judge by: the estimates of a run, and what others answered, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis.draws import log_sigma
from wattlock.analysis.effects import Ratio, ratio
from wattlock.analysis.kinds import VECTOR, kind_of
from wattlock.papers import record
from wattlock.papers.record import Claim, Papers

KEY_BITS = {"aes": 128, "des": 64, "3des": 192, "rc2": 64, "blowfish": 128, "rc6": 128, "rc4": 128, "xor": 128}
"""The keys at which families are compared: the papers' own."""

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

MODES = {"cbc", "stream"}
"""No paper names its mode; CBC is ours, as in `first-look`."""

USUAL_PROVIDERS = ("rustcrypto", "wattlock", "openssl", "libtomcrypt", "libgcrypt", "nettle", "botan", "libmcrypt")
TABLES, FIXSLICED, HARDWARE, AS_BUILT = "table-based", "fixsliced", "hardware AES", "as built"
# What every library had when the papers were written comes first.
IMPLEMENTATIONS = (TABLES, AS_BUILT, FIXSLICED, HARDWARE)
KINDS_OF_80211 = ("management", "control", "data", "extension")
RESTS_ON = {
    "tables": TABLES,
    "fixsliced": FIXSLICED,
    **dict.fromkeys(("aesni", "vaes256", "vaes512", "armv8", "hardware"), HARDWARE),
}
"""What code of AES rests on, by its path; of other paths no more is known than that the code is as built."""


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
    """How a cipher stands: bits after the best attack, key bits, status, and whether it authenticates."""

    strength_bits: float
    key_bits: int
    status: str
    authenticated: bool

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

    def cases(self, claim: Claim, **factors: object) -> list[Case]:
        """The cases of a run with these factors, with their costs.

        * `factors`: by column; those of a plain case where not given: key ready, raw, hot, independent.
        """
        plain = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "aad_B": 0}
        wanted = {**plain, **factors}
        rows = self.estimates.filter(
            pl.col("state").is_in(["resolved", "unresolved"])
            & (pl.col("processes") > 1)
            & pl.col("time_ns").is_not_null()
            & pl.all_horizontal([pl.col(name) == value for name, value in wanted.items()])
        )
        if claim.about == "energy" and self.is_metered:
            metered = rows.filter(pl.col("energy_evidence") == "measured")
            return [_case(row, row["energy_uJ"], row["energy_random_percent"]) for row in metered.iter_rows(named=True)]
        return [_case(row, row["time_ns"], row["half_width_percent"]) for row in rows.iter_rows(named=True)]


class Case(NamedTuple):
    """A case's cost of one call, with the standard error of its logarithm, and what it is a case of."""

    family: str
    cipher: str
    provider: str
    implementation: str
    key_bits: int
    block_bits: int
    payload_B: int
    cost: float
    sigma: float
    row: Mapping[str, Any]

    @property
    def name(self) -> tuple[str, str, int, str]:
        """What a case is of, whatever it does with it."""
        return self.cipher, self.provider, self.payload_B, str(self.row["data"])

    def over(self, other: Case) -> Ratio:
        """The cost of a byte over that of a byte of another case; of a call where there are no bytes."""
        mine, theirs = (max(1, one.payload_B) for one in (self, other))
        return ratio(self.cost / mine, other.cost / theirs, self.sigma, other.sigma)


def _case(row: Mapping[str, Any], cost: float, half_width_percent: float) -> Case:
    return Case(
        family=str(row["family"]),
        cipher=str(row["cipher"]),
        provider=str(row["provider"]),
        implementation=implementation(row),
        key_bits=int(row["key_bits"] or 0),
        block_bits=int(row["block_bits"] or 0),
        payload_B=int(row["payload_B"]),
        cost=float(cost),
        sigma=float(log_sigma(half_width_percent)),
        row=row,
    )


def implementation(row: Mapping[str, Any]) -> str:
    """What an implementation of AES rests on; others are as built."""
    if not str(row["family"]).startswith(("aes", "rijndael")):
        return AS_BUILT
    return RESTS_ON.get(row["path"], AS_BUILT)


class Ground(NamedTuple):
    """Cases of several families that may be compared: one implementation of AES, and what the others have beside it."""

    implementation: str
    providers: tuple[str, ...]
    cases: Mapping[str, Case]

    @property
    def name(self) -> str:
        """The ground in words."""
        return f"{self.implementation} ({', '.join(self.providers)})"


def grounds(cases: Sequence[Case], families: Sequence[str]) -> list[Ground]:
    """The grounds on which all `families` stand, the papers' own first: AES by tables, and the fewest libraries.

    * `cases`: of one payload, at most one a family and provider counts: the first with the family's key of `KEY_BITS`.
    """
    by_provider: dict[str, dict[str, Case]] = {}
    for case in cases:
        if case.row["mode"] in MODES and case.key_bits == KEY_BITS.get(case.family, case.key_bits):
            by_provider.setdefault(case.provider, {}).setdefault(case.family, case)
    anchor = "aes" if "aes" in families else families[0]
    found = []
    for provider, own in by_provider.items():
        if anchor not in own:
            continue
        order = [provider, library(provider), *USUAL_PROVIDERS, *by_provider]
        # Beside tables stands what libraries had with them: no code for many blocks at once.
        refused = VECTOR if own[anchor].implementation == TABLES else None
        picked = {family: _first(by_provider, order, family, refused) for family in families}
        whole = {family: case for family, case in picked.items() if case is not None}
        if len(whole) == len(families):
            providers = tuple(dict.fromkeys(case.provider for case in whole.values()))
            found.append(Ground(own[anchor].implementation, providers, whole))
    return sorted(found, key=lambda one: (IMPLEMENTATIONS.index(one.implementation), _libraries(one), one.name))


def library(provider: str) -> str:
    """The library of a provider: some are one library with another implementation of AES."""
    return provider.removesuffix("-tables").removesuffix("-soft")


def _libraries(ground: Ground) -> int:
    return len({library(provider) for provider in ground.providers})


def _first(
    by_provider: Mapping[str, Mapping[str, Case]], order: Sequence[str], family: str, refused: str | None
) -> Case | None:
    """The family's first case in this order of providers whose code is not of the refused kind."""
    found = (by_provider[name][family] for name in order if family in by_provider.get(name, {}))
    return next((case for case in found if refused is None or kind_of(case.row["path"]) != refused), None)


def largest(cases: Sequence[Case], keep: Callable[[Case], bool] = lambda _: True) -> list[Case]:
    """The cases at the greatest payload among those kept."""
    kept = [case for case in cases if keep(case)]
    most = max((case.payload_B for case in kept), default=0)
    return [case for case in kept if case.payload_B == most]
