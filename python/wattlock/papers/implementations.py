"""Kinds of implementation, and which cases may be held against each other: those of one library and one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from wattlock.analysis import effects
from wattlock.analysis.distributions import log_sigma
from wattlock.analysis.effects import Ratio, ratio

Kind = Literal["software of the papers’ era", "constant-time software", "AES instructions", "other code"]
ERA: Kind = "software of the papers’ era"
CONSTANT_TIME: Kind = "constant-time software"
HARDWARE: Kind = "AES instructions"
OTHER: Kind = "other code"
KINDS: tuple[Kind, ...] = (ERA, CONSTANT_TIME, HARDWARE, OTHER)
"""What the papers' libraries had comes first: plain software, by tables. Of other code too little is known, or it is
vector code of today for a cipher of then: it stands beside and decides nothing."""
OF_CODE: Mapping[str | None, Kind] = {
    effects.PLAIN: ERA,
    effects.CONSTANT_TIME: CONSTANT_TIME,
    effects.HARDWARE: HARDWARE,
}
SHORT: Mapping[Kind, str] = {
    ERA: "tables",
    CONSTANT_TIME: "constant-time",
    HARDWARE: "AES instructions",
    OTHER: "other",
}
"""For a name beside a mark."""

SIDE_BY_SIDE = {"libgcrypt": ("3des", "3des2", "blowfish", "cast", "twofish")}
"""Whose decryption in CBC takes several blocks side by side, as no library did when the papers were written: by its
sources, libgcrypt since 1.6.1 (des-amd64.S and blowfish-amd64.S, cast5-amd64.S, twofish-amd64.S and their like)."""

BUILT_IN = "built in"
PROVIDERS_BUILT_IN = ("wattlock-tables", "rustcrypto", "rustcrypto-soft", "wattlock")
"""They are one library: each has what the others lack. Of two codes of one kind the one that stands first is taken."""

KEY_BITS = {"aes": 128, "des": 64, "3des": 192, "rc2": 64, "blowfish": 128, "rc6": 128, "rc4": 128, "xor": 128}
"""The keys at which families are compared: the papers' own."""

MODES = {"cbc", "stream"}
"""No paper names its mode; CBC is ours, as in `first-look`."""


class CaseCost(NamedTuple):
    """A case's cost of one call, with the standard error of its logarithm, and what it is a case of.

    * `systematic`: the errors of all cases have one cause, so two of them add up and none averages out.
    """

    family: str
    cipher: str
    provider: str
    kind: Kind
    key_bits: int
    block_bits: int
    payload_B: int
    cost: float
    sigma: float
    row: Mapping[str, Any]
    systematic: bool = False

    @property
    def name(self) -> tuple[str, str, int, str]:
        """What a case is of, whatever it does with it."""
        return self.cipher, self.provider, self.payload_B, str(self.row["data"])

    @property
    def library(self) -> str:
        """Whose code it is."""
        return library(self.provider)

    def over(self, other: CaseCost) -> Ratio:
        """The cost of a byte over that of a byte of another case; of a call where there are no bytes.

        Where both are the same count of the same image no error of the core's rules comes between them: 1 sharp.
        """
        if self.systematic and all(self.row[name] == other.row[name] for name in SAME_COUNT):
            return Ratio(1.0, 1.0, 1.0)
        mine, theirs = (max(1, cost.payload_B) for cost in (self, other))
        sigmas = self.sigma, other.sigma
        return ratio(self.cost / mine, other.cost / theirs, *sigmas, systematic=self.systematic)


SAME_COUNT = ("image_sha256", "provider", "operation", "payload_B", "instructions", "cycles")


def case_of(row: Mapping[str, Any], cost: float, half_width_percent: float) -> CaseCost:
    """A row of a run's estimates as a case with that cost."""
    return CaseCost(
        family=str(row["family"]),
        cipher=str(row["cipher"]),
        provider=str(row["provider"]),
        kind=kind_of(row),
        key_bits=int(row["key_bits"] or 0),
        block_bits=int(row["block_bits"] or 0),
        payload_B=int(row["payload_B"]),
        cost=float(cost),
        sigma=float(log_sigma(half_width_percent)),
        row=row,
    )


def is_of_aes(family: str) -> bool:
    """Whether a family is AES or Rijndael, which alone have codes of several kinds."""
    return family.startswith(("aes", "rijndael"))


def kind_of(row: Mapping[str, Any]) -> Kind:
    """The kind of a code, by its path; of another cipher than AES a library that tells no path has plain software.

    Decryption of several blocks side by side (`SIDE_BY_SIDE`) is other code.
    """
    family = str(row["family"])
    if row.get("operation") == "decrypt" and family in SIDE_BY_SIDE.get(str(row.get("provider")), ()):
        return OTHER
    if row["path"] is None and not is_of_aes(family):
        return ERA
    return OF_CODE.get(effects.kind_of(row["path"]), OTHER)


def library(provider: str) -> str:
    """The library of a provider: some are one library with another implementation of AES."""
    return BUILT_IN if provider in PROVIDERS_BUILT_IN else provider.removesuffix("-tables").removesuffix("-soft")


class ComparableCases(NamedTuple):
    """Cases that may be compared: of one library; AES of one kind, where there is AES, all else of the papers' era."""

    kind: Kind
    library: str
    cases: Mapping[str, CaseCost]

    @property
    def order(self) -> tuple[int, bool, str]:
        """The papers' kind first, and what is built in."""
        return order_of(self.kind, self.library)

    @property
    def providers(self) -> str:
        """Whose codes these are."""
        return ", ".join(dict.fromkeys(case.provider for case in self.cases.values()))


def order_of(kind: Kind, library: str) -> tuple[int, bool, str]:
    """The place of a kind and a library among others: the papers' kind first, and what is built in."""
    return KINDS.index(kind), library != BUILT_IN, library


def place_of(row: Mapping[str, Any]) -> tuple[tuple[int, bool, str], bool, int]:
    """The place of a code among others, by its row of a run: as `order_of`, then that by tables."""
    provider = str(row["provider"])
    place = PROVIDERS_BUILT_IN.index(provider) if provider in PROVIDERS_BUILT_IN else 0
    return order_of(kind_of(row), library(provider)), row["path"] != "tables", place


def grounds(cases: Sequence[CaseCost], families: Sequence[str]) -> list[ComparableCases]:
    """The grounds on which all `families` stand, in their order.

    * `cases`: of one payload. Of a family those with its key of `KEY_BITS` count, in a mode of `MODES`.
    """
    at: dict[tuple[str, str, Kind], CaseCost] = {}
    for case in sorted(cases, key=lambda case: place_of(case.row)):
        if case.row["mode"] in MODES and case.key_bits == KEY_BITS.get(case.family, case.key_bits):
            at.setdefault((case.library, case.family, case.kind), case)
    of_anchor = KINDS if "aes" in families else (ERA,)
    found = []
    for name in dict.fromkeys(case.library for case in cases):
        for kind in of_anchor:
            by_family = {family: at.get((name, family, kind if family == "aes" else ERA)) for family in families}
            whole = {family: case for family, case in by_family.items() if case is not None}
            if len(whole) == len(families):
                found.append(ComparableCases(kind, name, whole))
    return sorted(found, key=lambda ground: ground.order)


def by_library(cases: Sequence[CaseCost]) -> dict[tuple[Kind, str], list[CaseCost]]:
    """Cases by kind and library, the papers' kind first and what is built in; each library's best code first."""
    found: dict[tuple[Kind, str], list[CaseCost]] = {}
    for case in sorted(cases, key=lambda case: place_of(case.row)):
        found.setdefault((case.kind, case.library), []).append(case)
    return found


def largest(cases: Sequence[CaseCost], keep: Callable[[CaseCost], bool] = lambda _: True) -> list[CaseCost]:
    """Of each library the cases at its greatest payload among those kept: another library's sizes change nothing."""
    kept = [case for case in cases if keep(case)]
    most: dict[str, int] = {}
    for case in kept:
        most[case.library] = max(case.payload_B, most.get(case.library, 0))
    return [case for case in kept if case.payload_B == most[case.library]]
