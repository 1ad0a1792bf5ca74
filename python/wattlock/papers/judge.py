"""What a judge of a claim is given and gives: evidence, comparisons with bounds, and the verdict that they compose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import polars as pl

from wattlock.analysis.effects import Ratio, equivalence
from wattlock.papers import literature
from wattlock.papers.implementations import ERA, KINDS, CaseCost, case_of
from wattlock.papers.implementations import ComparableCases as OneLibrary
from wattlock.papers.literature import Claim, Papers

Verdict = Literal[
    "reproduced",
    "not reproduced",
    "depends on the implementation",
    "explained",
    "not explained",
    "inconclusive",
    "not tested",
]
"""What is said of a claim: three verdicts by measurement, two by a model, which refutes nothing, then measured but
undecided, and no data at all. It depends on the implementation where libraries of one kind disagree."""
DEPENDS: Verdict = "depends on the implementation"
DECIDED: tuple[Verdict, ...] = ("reproduced", "not reproduced", DEPENDS, "explained", "not explained")
OPEN: tuple[Verdict, ...] = ("inconclusive", "not tested")
Basis = Literal["this machine", "the air", "a battery", "a capture", "their tables", "what is known"]
"""What decides: this machine's measurements, the model of the air, a battery's fall, a capture, the papers' own tables,
or what needs none of these: a sum done again, the security data."""

EFFECT_SHARE = 1 / 3
AMOUNT_SHARE = 0.25
"""The papers round: the tolerances in the head of `claims.toml`."""


class Bounds(NamedTuple):
    """What counts as the claim: from `low` to `high`, None where that side is open.

    * `of`: what must lie between, where it is not the effect itself; `ours`: the paper gives no such bound.
    * `claimed`: the figure that the paper prints, where the bounds lie about one.
    """

    low: float | None
    high: float | None
    unit: str = "1"
    of: str = ""
    ours: bool = True
    claimed: float | None = None

    def described(self) -> str:
        """The bounds in a sentence."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        low, high = (None if value is None else _digits(value) for value in (self.low, self.high))
        if low is None:
            words = f"at most {high}{unit}"
        elif high is None:
            words = f"above {low}{unit}"
        else:
            words = f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
        return f"{f'{self.of} ' if self.of else ''}{words} ({'our' if self.ours else 'the paper’s'} bound)"


class Effect(NamedTuple):
    """A figure with its 95 % interval: `what` in words, as what over what; `unit`: `1`, `%`, `B`, `cycles/B`, ...

    An end that is not finite is open. Where the other one is the figure itself, it was the last one that was measured
    and the truth lies beyond.
    """

    what: str
    unit: str
    value: float
    low: float
    high: float

    def described(self) -> str:
        """The figure in a sentence."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        value, low, high = (_digits(value) for value in (self.value, self.low, self.high))
        if self.beyond:
            return f"{self.beyond} {value}{unit}"
        return f"{value}{unit}" if low == high else f"{value}{unit} ({low} to {high})"

    @property
    def beyond(self) -> str:
        """On which side the figure lies of the last one measured, `above` or `below`; empty where it has both ends."""
        if math.isinf(self.high) and self.low == self.value:
            return "above"
        return "below" if math.isinf(self.low) and self.high == self.value else ""


def _digits(value: float) -> str:
    """Three digits, without an exponent for what people count."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.3g}" if abs(value) < 999.5 or abs(value) >= 1e6 else f"{value:,.0f}"


class PairEffect(NamedTuple):
    """One of several things that a comparison takes together, a pair of ciphers, a cipher or a size, by its name."""

    says: str
    effect: Effect
    holds: bool | None


class ClaimComparison(NamedTuple):
    """One comparison: of what, which cases, its effect, whether the claim holds there (None: can't tell).

    * `implementation`: the kind of implementation, or where else the figure comes from.
    * `bounds`: what it was compared with; None where it only stands beside and decides nothing.
    * `library`, `finding`: of a comparison of ciphers, whose code it is and which finding of the claim it answers.
    * `parts`: what it takes together, where these are several; the effect is that of the part which decides.
    """

    implementation: str
    cases: str
    effect: Effect
    holds: bool | None
    bounds: Bounds | None = None
    library: str = ""
    finding: str = ""
    parts: tuple[PairEffect, ...] = ()

    @property
    def failing(self) -> list[str]:
        """The parts that do not hold, by name."""
        return [part.says for part in self.parts if part.holds is False]


class Finding(NamedTuple):
    """A part of a claim: who before whom, by how much, for which data; and its answer by kind of implementation."""

    says: str
    answers: Mapping[str, Verdict]


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim.

    * `effect`: the figure that decides; None where there is none.
    * `compared`: all comparisons, the deciding one first.
    * `evidence`: what the verdict rests on, and that it is of another kind than the claim's own where it is.
    * `sentence`: what was found, made from the figures; `also`: its end, on further figures; `control`: what the paper
      lacks.
    * `basis`: what kind of thing that is.
    * `findings`: the claim's parts, each with its answer by kind of implementation; of a claim on ciphers.
    * `needs`, `command`: of a claim that stays open, what it would need and what measures it.
    """

    claim: str
    verdict: Verdict
    effect: Effect | None
    compared: tuple[ClaimComparison, ...]
    evidence: str
    sentence: str
    control: str
    basis: Basis = "this machine"
    needs: str = ""
    command: str = ""
    findings: tuple[Finding, ...] = ()
    also: str = ""


def failing(judgement: Judgement, kind: str, finding: str = "") -> list[str]:
    """The parts that do not hold with a kind of implementation, by name; with whose code, where it is not all of them.

    * `finding`: of which part of the claim, of all without.
    """
    comparisons = [
        comparison
        for comparison in judgement.compared
        if comparison.implementation == kind and comparison.bounds is not None and comparison.parts
    ]
    comparisons = [comparison for comparison in comparisons if not finding or comparison.finding == finding]
    names = dict.fromkeys(name for comparison in comparisons for name in comparison.failing)
    sentences = []
    for name in names:
        having = {comparison.library for comparison in comparisons if name in {part.says for part in comparison.parts}}
        not_with = list(dict.fromkeys(comparison.library for comparison in comparisons if name in comparison.failing))
        sentences.append(name if having == set(not_with) else f"{name} (with {', '.join(not_with)})")
    return sentences


def verdict(*, holds: bool | None, by_model: bool = False) -> Verdict:
    """The verdict of a comparison that holds, doesn't, or can't be told; a model only explains or fails to."""
    if holds is None:
        return "inconclusive"
    if by_model:
        return "explained" if holds else "not explained"
    return "reproduced" if holds else "not reproduced"


def alike(found: Ratio, low_percent: float, high_percent: float, *, systematic: bool = False) -> bool | None:
    """Whether a ratio is equivalent to 1 within bounds, by two one-sided tests; None where they can't tell.

    * `systematic`: its error is no chance that a test could weigh: the whole interval must lie within.
    """
    if systematic:
        return within(*found.percent[1:], low_percent, high_percent)
    return {"equivalent": True, "different": False, "undecided": None}[
        equivalence(found, low_percent, high_percent).verdict
    ]


def over_libraries(holds: Sequence[bool | None]) -> Verdict:
    """The verdict of several libraries: that of those which can be told, where these agree."""
    decided = {verdict for verdict in holds if verdict is not None}
    if len(decided) > 1:
        return DEPENDS
    return verdict(holds=decided.pop() if decided else None) if holds else "not tested"


def over_findings(answers: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim by its findings: all must be reproduced; one that is not decides."""
    for decisive in ("not reproduced", DEPENDS):
        if decisive in answers:
            return decisive
    alike = set(answers)
    return answers[0] if len(alike) == 1 else "inconclusive"


def within(low: float, high: float, least: float, most: float) -> bool | None:
    """Whether an interval lies wholly within bounds: no where it lies wholly outside, None where it holds both."""
    if math.isnan(low) or math.isnan(high):
        return None
    if least <= low and high <= most:
        return True
    return False if high < least or low > most else None


def above(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval lies wholly above a bound: no where it lies wholly below or on it."""
    return True if low > bound else False if high <= bound else None


def all_hold(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts of a claim hold: one that fails decides, then one that can't be told."""
    described = list(parts)
    if any(verdict is False for verdict in described):
        return False
    return None if None in described or not described else True


def together(parts: Sequence[PairEffect], far: Callable[[PairEffect], float]) -> tuple[bool | None, Effect]:
    """Whether all parts hold, and the effect of the one that decides: of those that come to the same, the furthest.

    * `far`: how far off a part is.
    """
    holds = all_hold(part.holds for part in parts)
    return holds, max((part for part in parts if part.holds is holds), key=far).effect


def effect_band(ratio: float) -> Bounds:
    """The ratios that count as a printed one: as logarithms within a third of it, so on the claimed side of 1."""
    low, high = sorted((ratio ** (1 - EFFECT_SHARE), ratio ** (1 + EFFECT_SHARE)))
    return Bounds(low, high, claimed=ratio)


def percent_band(percent: float) -> Bounds:
    """The same for a ratio that is printed as so many percent more or less."""
    low, high, *_ = effect_band(1 + percent / 100)
    return Bounds(100 * (low - 1), 100 * (high - 1), "%", claimed=percent)  # type: ignore[operator]


def amount_band(value: float, tolerance: float | None = None, unit: str = "1") -> Bounds:
    """The amounts that count as a printed one, which is no effect: bytes, cycles, what is left of a battery."""
    share = AMOUNT_SHARE if tolerance is None else tolerance
    low, high = sorted((value * (1 - share), value * (1 + share)))
    return Bounds(low, high, unit, claimed=value)


def inside(low: float, high: float, bounds: Bounds) -> bool | None:
    """Whether an interval lies wholly within bounds: no where it lies wholly outside, None where it holds both."""
    least = -math.inf if bounds.low is None else bounds.low
    most = math.inf if bounds.high is None else bounds.high
    return within(low, high, least, most)


def ratio_effect(what: str, found: Ratio) -> Effect:
    """A ratio as an effect."""
    return Effect(what, "1", *found)


def percent_effect(what: str, found: Ratio) -> Effect:
    """How many percent more a ratio's numerator is, as an effect."""
    return Effect(what, "%", *found.percent)


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


class AirAnswer(NamedTuple):
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


class DischargeCurve(NamedTuple):
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
    transfers: Sequence[AirAnswer] = ()
    discharges: Sequence[DischargeCurve] = ()
    security: Mapping[str, Security] = field(default_factory=dict)
    capture: Capture | None = None
    machine: Sequence[str] = ("computer",)
    run: str = ""
    papers: Papers = field(default_factory=literature.load)

    def is_of(self, claim: Claim) -> bool:
        """Whether the run is of a machine that the claim speaks of; of any where it names none."""
        return not claim.machine or any(machine in claim.machine for machine in self.machine)

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

    def cases(self, claim: Claim, **factors: object) -> list[CaseCost]:
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


Judge = Callable[[Claim, Evidence], Judgement]

STUDY = "wattlock papers"
NARROWER = "wattlock papers --length full"
ONE_LIBRARY = "all ciphers of one library; each kind of AES by itself: tables, constant-time software, AES instructions"
MACHINES = {
    "pentium": "a Pentium",
    "32-bit": "a processor of 32 bits",
    "handheld": "a handheld",
    "microcontroller": "a microcontroller",
}
COMMANDS = {
    "pentium": STUDY,
    "32-bit": STUDY,
    "handheld": "wattlock papers --machine handheld",
    "microcontroller": "wattlock papers --machine microcontroller",
}
"""What a claim may be on, in words, and what judges a run of it."""


class Ground(NamedTuple):
    """What a judgement stands on.

    * `unsure`: where the interval holds both, what it would need and what gives it.
    * `by_model`: what decides is computed, not measured.
    """

    basis: Basis = "this machine"
    unsure: tuple[str, str] = ("a narrower interval: this one holds both", NARROWER)
    by_model: bool = False


MEASURED_HERE = Ground()


def judged(
    claim: Claim,
    evidence: str,
    compared: Sequence[ClaimComparison],
    *,
    control: str,
    needs: str,
    command: str = STUDY,
    also: str = "",
    ground: Ground = MEASURED_HERE,
) -> Judgement:
    """The judgement by comparisons, the deciding one first; without any the claim is not tested.

    * `needs`, `command`: what is missing where there is none, and what gives it. `also`: a sentence from further
      figures.
    """
    if not compared:
        return missing(claim, needs, command, control, ground.basis)
    first = compared[0]
    sentence = _lead(claim, first)
    if also:
        sentence += f" {also}"
    more = ground.unsure if first.holds is None else ("", "")
    return Judgement(
        claim.id,
        verdict(holds=first.holds, by_model=ground.by_model),
        first.effect,
        tuple(compared),
        evidence,
        _capital(sentence),
        control,
        ground.basis,
        *more,
        also=also,
    )


def on(
    ground: OneLibrary,
    effect: Effect,
    finding: str,
    *,
    holds: bool | None,
    bounds: Bounds | None,
    where: str = "",
    parts: Sequence[PairEffect] = (),
) -> ClaimComparison:
    """What was found on a ground for a finding; `where`: more than whose codes it is of; `parts`: as of `Compared`."""
    cases = f"{ground.providers}, {where}" if where else ground.providers
    return ClaimComparison(ground.kind, cases, effect, holds, bounds, ground.library, finding, tuple(parts))


def judged_by_kind(
    claim: Claim,
    evidence: str,
    findings: Sequence[str],
    compared: Sequence[ClaimComparison],
    *,
    control: str,
    needs: str,
    also: str = "",
) -> Judgement:
    """The judgement of a claim on ciphers, by its findings: that of the papers' kind, over all its libraries.

    * `findings`: the claim's parts in words; `compared`: each names the one it answers, and its library.
    * `needs`, `also`: as of `judged`.
    """
    answered = tuple(Finding(says, _answers(says, compared)) for says in findings)
    whole = over_findings([finding.answers.get(ERA, "not tested") for finding in answered])
    first = _deciding(answered, compared, whole)
    if first is None:
        found = missing(claim, needs, STUDY, control)
        return replace(found, compared=tuple(compared), findings=answered)
    others = [comparison for comparison in compared if comparison is not first]
    parts = [_lead(claim, first), *_split(answered, compared), _failing(first), _that_hold(answered, whole), also]
    sentence = " ".join(part for part in parts if part)
    untested = [finding.says for finding in answered if finding.answers.get(ERA, "not tested") == "not tested"]
    more = ("", "")
    if whole == "inconclusive":
        more = (f"{needs} ({'; '.join(untested)})", STUDY) if untested else MEASURED_HERE.unsure
    return Judgement(
        claim.id,
        whole,
        first.effect,
        (first, *others),
        evidence,
        _capital(sentence),
        control,
        "this machine",
        *more,
        findings=answered,
        also=also,
    )


def _answers(says: str, compared: Sequence[ClaimComparison]) -> Mapping[str, Verdict]:
    """The answers to a finding by kind, where there is any."""
    comparisons = [
        comparison for comparison in compared if comparison.finding == says and comparison.bounds is not None
    ]
    by_kind = {
        kind: [comparison.holds for comparison in comparisons if comparison.implementation == kind] for kind in KINDS
    }
    return {kind: over_libraries(holds) for kind, holds in by_kind.items() if holds}


def _deciding(
    answered: Sequence[Finding], compared: Sequence[ClaimComparison], whole: Verdict
) -> ClaimComparison | None:
    """The comparison that is told first: of the papers' kind, of the first finding that comes to the verdict."""
    era = [
        comparison
        for comparison in compared
        if comparison.implementation == ERA and comparison.bounds is not None and comparison.finding
    ]
    for finding in answered:
        if finding.answers.get(ERA) == whole:
            of_finding = [comparison for comparison in era if comparison.finding == finding.says]
            return next(
                (comparison for comparison in of_finding if verdict(holds=comparison.holds) == whole), of_finding[0]
            )
    return next((comparison for comparison in era if comparison.holds is None), era[0] if era else None)


def _lead(claim: Claim, first: ClaimComparison) -> str:
    sentence = f"{first.effect.what} is {first.effect.described()} with {first.cases}, {first.implementation}"
    sentence += f"; the claim: {claim.says}."
    return f"{sentence} What counts as the claim: {first.bounds.described()}." if first.bounds else sentence


def _split(answered: Sequence[Finding], compared: Sequence[ClaimComparison]) -> list[str]:
    """Where libraries of the papers' kind disagree, which of them say what."""
    sentences = []
    for finding in answered:
        if finding.answers.get(ERA) == DEPENDS:
            comparisons = [
                comparison
                for comparison in compared
                if (comparison.finding, comparison.implementation) == (finding.says, ERA)
            ]
            sides = [
                ", ".join(
                    dict.fromkeys(
                        comparison.library
                        for comparison in comparisons
                        if comparison.bounds and comparison.holds is side
                    )
                )
                for side in (True, False)
            ]
            which = f"{finding.says}: it" if len(answered) > 1 else "It"
            sentences.append(f"{which[0].upper()}{which[1:]} holds with {sides[0]}, and not with {sides[1]}.")
    return sentences


def _failing(first: ClaimComparison) -> str:
    """Of what is told first the parts that do not hold, where it has several."""
    return (
        f"Of its {len(first.parts)} parts {len(first.failing)} do not hold there: {', '.join(first.failing)}."
        if (first.failing and len(first.parts) > 1)
        else ""
    )


def _that_hold(answered: Sequence[Finding], whole: Verdict) -> str:
    """Of a claim that is not reproduced the findings that are, by the papers' kind."""
    holding = [finding.says for finding in answered if finding.answers.get(ERA) == "reproduced"]
    if not holding or whole == "reproduced":
        return ""
    return f"{len(holding)} of the claim's {len(answered)} findings are reproduced: {'; '.join(holding)}."


def _capital(sentence: str) -> str:
    """A sentence with a capital; an id such as rsa2048-oaep stays as it is written."""
    return sentence[0].upper() + sentence[1:] if sentence.split(maxsplit=1)[0].isalpha() else sentence


def missing(claim: Claim, needs: str, command: str, control: str = "", basis: Basis = "this machine") -> Judgement:
    """A claim that nothing at hand can decide; `basis`: what would."""
    sentence = f"Nothing at hand decides whether {claim.says}: it needs {needs}."
    return Judgement(claim.id, "not tested", None, (), "nothing", sentence, control, basis, needs, command)


def of_another_machine(
    claim: Claim,
    evidence: Evidence,
    compared: Sequence[ClaimComparison],
    *,
    control: str,
    basis: Basis = "this machine",
) -> Judgement:
    """A claim on a machine that the run is not of: what was found here stands beside it and decides nothing."""
    wanted = " or ".join(MACHINES[machine] for machine in claim.machine)
    needs = f"a run on {wanted} (this one is of a {evidence.machine[0]})"
    found = missing(claim, needs, COMMANDS[claim.machine[0]])
    alongside = tuple(comparison._replace(holds=None, bounds=None) for comparison in compared)
    described = "; ".join(
        f"{item.effect.what} is {item.effect.described()} ({item.cases}, {item.implementation})" for item in alongside
    )
    sentence = f"{found.sentence} Beside it, here: {described}." if described else found.sentence
    return replace(found, compared=alongside, sentence=sentence, control=control, basis=basis)
