"""Designs compared: a row a design, radio and loss, with joules of each message that is verified."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.errors import InputError
from wattlock.link.designs import frames, loss
from wattlock.link.designs.frames import Carried, Spent, Under, Way
from wattlock.link.designs.rules import Design, RadioOf, compared
from wattlock.link.joules import Interval
from wattlock.link.lowpower import framing, linear
from wattlock.targets.toolbox import Toolbox

LOSSES = (0.0, 0.01, 0.05, 0.1, 0.2)
STRENGTHS = (64, 128)
DAY_s = 86_400.0
# Rounds of Ascon's permutation p12, and of p8 for an octet of Ascon-AEAD128 (NIST SP 800-232, 3 and 4.1).
P12, P8_B = 12, 8 / 16


class Work(NamedTuple):
    """What the sensor computes: cycles, joules, and whether nobody counted them on such a core."""

    cycles: float
    joules: Interval
    assumed: bool


class Computing(NamedTuple):
    """What the sensor's work takes.

    * `seal`: a cipher's message of so many octets; `record`: a short record of tally; `report`: one that it hears.
    """

    seal: Callable[[str, int], Work]
    record: Callable[[int], Work]
    report: Work


class Traffic(NamedTuple):
    """Messages of `payload_B` octets, one each `every_s`."""

    payload_B: int
    every_s: float


def rows(
    traffic: Traffic, computing: Computing, net: Toolbox | None, *, own: Path | None = None, allow_assumed: bool = False
) -> list[dict[str, Any]]:
    """A row a radio, design and loss.

    Joules are of the sensor: its radio and what it computes. Loss is of messages and reports, each for itself, beyond
    what the radio itself sends again.

    Without a row is what a radio can't carry (`Case.fits`).

    Raises InputError where no design's messages fit any radio, EvidenceError for numbers that nobody verified.
    """
    found = []
    for name, radio in compared().radio.items():
        designs = compared().design.items()
        all_of = {key: Case(one.over(radio), radio, traffic) for key, one in designs if one.is_for(radio)}
        cases = {key: case for key, case in all_of.items() if case.fits}
        if not cases:
            continue
        needed = [frame for case in cases.values() for frame in case.frames()]
        spent = frames.spent(radio, needed, net, own=own, allow_assumed=allow_assumed)
        for key, case in cases.items():
            fixed = {"radio": name, "design": key} | _fixed(case, computing, spent)
            found += [fixed | _lossy(case, computing, spent, share) for share in LOSSES]
    if not found:
        raise InputError(
            f"messages of {traffic.payload_B} octets: no radio carries them",
            hint=f"--payload-B takes less than {linear.MOST_B}; Wi-Fi carries up to {frames.MOST_WIFI_B}",
        )
    return found


class Case(NamedTuple):
    """A design that carries messages over a radio."""

    design: Design
    radio: RadioOf
    traffic: Traffic

    @property
    def under(self) -> Under:
        """The radio's frame below it."""
        if self.design.own:
            return "protected"
        return "open" if self.design.bare_hint_B is None else "bare"

    @property
    def fits(self) -> bool:
        """Whether the radio carries all its frames."""
        return all(frame.octets_B <= frames.most_B(self.radio, frame.under) for frame in self.frames())

    @property
    def sent(self) -> list[tuple[Carried, float]]:
        """The frames that carry messages, with the share of each."""
        every = self.design.each
        kinds = [(True, 1 / every), (False, 1 - 1 / every)]
        return [
            (Carried(self.design.sealed_B(self.traffic.payload_B, self.radio, tagged=tagged), self.under), share)
            for tagged, share in kinds
            if share
        ]

    @property
    def handshake(self) -> list[Carried]:
        """Its flights, the sensor's first."""
        ways: tuple[Way, Way] = ("send", "receive")
        return [Carried(size, self.under, ways[place % 2]) for place, size in enumerate(self.design.flights_B)]

    @property
    def report(self) -> list[Carried]:
        """Tally's."""
        return [Carried(compared().tally.report_B, self.under, self.design.reports)] if self.design.cycle else []

    @property
    def rescue(self) -> list[Carried]:
        """Tally's request and rescue record."""
        if not self.design.cycle:
            return []
        record_B = compared().tally.rescue_B + self.design.hint_B(self.radio)
        return [Carried(compared().tally.request_B, self.under, "receive"), Carried(record_B, self.under)]

    def frames(self) -> Iterator[Carried]:
        """All that the radio is asked for."""
        yield from (frame for frame, _ in self.sent)
        yield from (*self.handshake, *self.report, *self.rescue)
        if self.design.own:
            yield Carried(self.traffic.payload_B)

    def sealing(self, computing: Computing) -> Work | None:
        """What sealing a message takes; None for the radio's own hardware."""
        design = self.design
        if design.cipher is None:
            return None
        size_B = design.inside_B(self.traffic.payload_B)
        work = computing.record(size_B) if design.cycle else computing.seal(design.cipher, size_B)
        if design.hint_B(self.radio) < HASHED_HINT_B:
            return work
        hint = _of_rounds(computing.seal, HINT_ROUNDS)
        return Work(work.cycles + hint.cycles, _sum([(work.joules, 1.0), (hint.joules, 1.0)]), assumed=True)


def _sum(parts: Sequence[tuple[Interval, float]]) -> Interval:
    """A weighted sum whose parts go by the same cards' numbers: their ends add up too."""
    return Interval(*(sum(part[end] * weight for part, weight in parts) for end in range(3)))


def _fixed(case: Case, computing: Computing, spent: Mapping[Carried, Spent]) -> dict[str, Any]:
    """What does not depend on loss."""
    design, traffic, sent = case.design, case.traffic, case.sent
    work = case.sealing(computing)
    if work and design.cycle:
        report, often = computing.report, 1 / compared().tally.report_every
        joules = _sum([(work.joules, 1.0), (report.joules, often)])
        work = Work(work.cycles + report.cycles * often, joules, assumed=work.assumed or report.assumed)

    def uJ(several: Sequence[Carried]) -> float | None:
        return 1e6 * sum(spent[frame].joules.J for frame in several) if several else None

    message_uJ = 1e6 * sum(spent[frame].joules.J * share for frame, share in sent)
    air_s = sum(spent[frame].air_s * share for frame, share in sent)
    handshake_uJ = uJ(case.handshake)
    # A session that ended before the next message is made anew for it; others are counted one a day.
    handshakes = DAY_s / max(design.session_s or DAY_s, traffic.every_s)
    # What the radio's own protection adds stands in its frame; LoRaWAN's and Wi-Fi's is below every design.
    own_B = spent[sent[0][0]].air_B - spent[Carried(traffic.payload_B)].air_B if design.own else 0
    return {
        "adds_B": sum(frame.octets_B * share for frame, share in sent) - traffic.payload_B + own_B,
        "hint_B": design.hint_B(case.radio),
        "tag_B": design.tag_B,
        "on_air_B": sum(spent[frame].air_B * share for frame, share in sent),
        "frames": max(spent[frame].frames for frame, _ in sent),
        "air_ms": 1e3 * air_s,
        "over": _over(case, air_s),
        "cycles": work.cycles if work else None,
        "cycles_assumed": work.assumed if work else None,
        "state_B": design.state_B,
        "bits_at_release": design.bits_at_release,
        "message_uJ": message_uJ,
        "computing_uJ": 1e6 * work.joules.J if work else 0.0,
        "report_uJ": uJ(case.report),
        "rescue_uJ": uJ(case.rescue),
        "handshake_B": sum(design.flights_B) or None,
        "handshake_uJ": handshake_uJ,
        "handshakes_a_day": handshakes if handshake_uJ else None,
        "handshake_percent": 100 * handshake_uJ * handshakes * traffic.every_s / (DAY_s * message_uJ)
        if handshake_uJ
        else None,
    }


def _over(case: Case, air_s: float) -> str | None:
    """What the messages take more of than there is: the radio's channel, or what the band allows a sender of it."""
    share = air_s / case.traffic.every_s
    if share > 1:
        return "channel"
    link = case.radio.lorawan
    if link is None or share <= framing.lorawan().region[link.region].duty_cycle_percent / 100:
        return None
    return "duty cycle"


def _lossy(case: Case, computing: Computing, spent: Mapping[Carried, Spent], share: float) -> dict[str, Any]:
    """What loss makes of it."""
    parts = [(spent[frame].joules, often) for frame, often in case.sent]
    sealing = case.sealing(computing)
    parts += [(sealing.joules, 1.0)] if sealing else []
    said = 0.0
    if case.design.cycle:
        of_reports = loss.cycle(case.design, share)
        said = (1 - share) * of_reports.said / of_reports.accepted
        parts += [(spent[frame].joules, said) for frame in case.report]
        # Of the reports that were said one is heard.
        parts.append((computing.report.joules, said / of_reports.said))
    each = _sum(parts)
    found: dict[str, Any] = {"loss": share, "reports_a_message": said, "delivered_uJ": 1e6 * each.J / (1 - share)}
    for bits in STRENGTHS:
        verified = loss.outcome(case.design, bits, share)
        per = 1e6 / ((1 - share) * verified.share) if verified.share else None
        found |= {
            f"verified_{bits}_share": verified.share,
            f"verified_{bits}_uJ": None if per is None else each.J * per,
            f"verified_{bits}_low_uJ": None if per is None else each.low_J * per,
            f"verified_{bits}_high_uJ": None if per is None else each.high_J * per,
            f"wait_{bits}_messages": verified.wait,
            f"wait_{bits}_s": None if verified.wait is None else verified.wait * case.traffic.every_s,
        }
    return found


def cxof_rounds(label_B: int, message_B: int, output_B: int) -> int:
    """Rounds of Ascon-CXOF128: one block of 8 octets at a time (NIST SP 800-232, 5.3)."""
    return P12 * (2 + (label_B // 8 + 1) + (message_B // 8 + 1) + -(-output_B // 8) - 1)


# docs/tally.md: a hint of 2 is hashed; a report is opened, and gives the next generation's key and what lies below it.
HASHED_HINT_B = 2
HINT_ROUNDS = cxof_rounds(len("tally1 hint"), 16 + 1 + 4, 2)
REPORT_ROUNDS = 2 * P12 + cxof_rounds(len("tally1 next"), 16 + 3 * 4 + 16, 16)
REPORT_ROUNDS += cxof_rounds(len("tally1 generation"), 16 + 4 + 1, 80)


def _of_rounds(seal: Callable[[str, int], Work], rounds: int) -> Work:
    """Work of so many rounds, by what an octet more takes in a long message: nobody counted it, it is assumed."""
    short, long = (seal("ascon-aead128", size_B) for size_B in (64, 1024))
    octets = rounds / P8_B / (1024 - 64)
    joules = Interval(*(octets * (more - less) for less, more in zip(short.joules, long.joules, strict=True)))
    return Work(octets * (long.cycles - short.cycles), joules, assumed=True)
