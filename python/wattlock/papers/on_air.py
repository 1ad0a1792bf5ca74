"""Claims on what sending adds: judged by a link's answers, beside the papers' own tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from wattlock.analysis.effects import Ratio, mean
from wattlock.papers.judge import (
    NAMES,
    AirAnswer,
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    above,
    all_hold,
    effect_band,
    inside,
    judged,
    missing,
    percent_effect,
    ratio_effect,
    within,
)
from wattlock.papers.literature import Claim

COMMAND = "wattlock papers --device x86-server-assumed --allow-assumed"
SOMEWHERE = (
    "where the receiver of a poor signal stood: over 20 positions within what the paper says the interval holds both",
    "wattlock link adhoc-poor --set signal.distance_m=60 --set signal.walls_dB=8",
)
CONTROL = "air and host apart; the papers give neither the physical layer nor the spread of any figure"
KINDS = ("text", "audio", "video")
SAYS = {
    "adhoc_open": "open ad hoc",
    "adhoc_wep": "ad hoc with WEP",
    "adhoc_poor": "ad hoc with WEP and a poor signal",
    "bss_tkip": "BSS with TKIP",
    "bss_open": "open BSS",
}
EXCELLENT = {"adhoc_open": ("adhoc_open", "adhoc_wep")}
"""What the paper has of a claim's scenario: ad hoc with an excellent signal is two columns."""
WIDE = ("joules that are known better: the interval of these cards holds both", "wattlock devices --kind radio")
SMALL_B = 100
PLAIN = "none"


def _found(evidence: Evidence, scenario: str, cipher: str, data: str) -> AirAnswer | None:
    fits = (
        answer
        for answer in evidence.transfers
        if (answer.scenario, answer.cipher, answer.data) == (scenario, cipher, data)
    )
    return next(fits, None)


def _over(a: Ratio, b: Ratio) -> Ratio:
    """A over b, each side of the interval by itself: a poor signal's positions lie further above than below."""
    down = math.hypot(math.log(a.value / a.low), math.log(b.high / b.value))
    up = math.hypot(math.log(a.high / a.value), math.log(b.value / b.low))
    value = a.value / b.value
    return Ratio(value, value * math.exp(-down), value * math.exp(up))


def _judged(
    claim: Claim,
    evidence: Evidence,
    compared: Sequence[ClaimComparison],
    needs: str,
    also: str = "",
    *,
    unsure: tuple[str, str] = WIDE,
) -> Judgement:
    at_hand = {answer.implementation for answer in compared} or {answer.evidence for answer in evidence.transfers}
    kinds = " and ".join(sorted(at_hand))
    conditions = f"{kinds} sending over 802.11, where the paper measured two laptops" if kinds else "nothing"
    return judged(
        claim,
        conditions,
        compared,
        control=CONTROL,
        needs=needs,
        command=COMMAND,
        also=also,
        ground=Ground("the air", unsure, bool(compared) and compared[0].implementation != "measured"),
    )


def against_aes(scenario: str) -> Judge:
    """A judge of Blowfish's and RC6's transfer over AES's, for each kind of data."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        compared = []
        for kind in KINDS:
            aes = _found(evidence, scenario, "aes", kind)
            for family in ("blowfish", "rc6"):
                mine = _found(evidence, scenario, family, kind)
                if aes and mine:
                    found = _over(mine.duration_s, aes.duration_s)
                    band = effect_band(claim.expect[kind])
                    effect = ratio_effect(f"{NAMES[family]} over AES, sending {kind},", found)
                    holds = inside(found.low, found.high, band)
                    compared.append(ClaimComparison(_kind(mine, aes), SAYS[scenario], effect, holds, band))
        compared.sort(key=lambda comparison: (False, None, True).index(comparison.holds))
        also = _by_table(evidence, scenario, claim)
        needs = f"transfers of text, audio and video by {SAYS[scenario]} with AES, Blowfish and RC6"
        return _judged(claim, evidence, compared if len(compared) == 2 * len(KINDS) else [], needs, also)

    return judge


def _by_table(evidence: Evidence, scenario: str, claim: Claim) -> str:
    parts = []
    for kind in KINDS:
        table = evidence.papers.sending[kind]
        columns = EXCELLENT.get(scenario, (scenario,))
        ratios = [
            table.of(family, family_column) / table.of("aes", family_column)
            for family, family_column in product(("blowfish", "rc6"), columns)
        ]
        parts.append(f"{kind} {min(ratios):.3f} to {max(ratios):.3f} (claimed {claim.expect[kind]:g})")
    return f"The paper's own tables give {', '.join(parts)}."


def of_scenarios(over: str, under: str, expected: str, *, percent: bool = False) -> Judge:
    """A judge of the plaintext's transfer in one scenario over that in another; the band stands in the claim."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        found = _by_kind(evidence, over, under)
        low, high = claim.expect[expected]
        compared = []
        for kind, ratio, evidence_of in found:
            ends = ratio.percent[1:] if percent else (ratio.low, ratio.high)
            bounds = Bounds(low, high, "%" if percent else "1")
            what = f"{SAYS[over]}{{}} over {SAYS[under]}, sending {kind} in clear,"
            described = (
                percent_effect(f"what {what.format(' costs')}", ratio)
                if percent
                else ratio_effect(what.format(""), ratio)
            )
            compared.append(ClaimComparison(evidence_of, kind, described, inside(*ends, bounds), bounds))
        compared.sort(key=lambda comparison: (False, None, True).index(comparison.holds))
        table = _table_range(evidence, over, under)
        return _judged(claim, evidence, compared, f"plaintext transfers in the scenarios {over} and {under}", table)

    return judge


def _by_kind(evidence: Evidence, over: str, under: str) -> list[tuple[str, Ratio, str]]:
    """Of each kind of data one scenario over another, and what that rests on."""
    pairs = [(kind, _found(evidence, over, PLAIN, kind), _found(evidence, under, PLAIN, kind)) for kind in KINDS]
    return [(kind, _over(a.duration_s, b.duration_s), _kind(a, b)) for kind, a, b in pairs if a and b]


def _kind(a: AirAnswer, b: AirAnswer) -> str:
    """What a comparison of two transfers rests on: it is measured where both are."""
    return (
        a.evidence if a.evidence == b.evidence else "assumed" if "assumed" in {a.evidence, b.evidence} else "modelled"
    )


def _table_range(evidence: Evidence, over: str, under: str) -> str:
    plain: list[float] = []
    shares: list[float] = []
    for table in evidence.papers.sending.values():
        for cipher in table.duration_s:
            (plain if cipher == PLAIN else shares).append(table.of(cipher, over) / table.of(cipher, under))
    return (
        f"The paper's own tables give {min(plain):.2f} to {max(plain):.2f} for plaintext, "
        f"{min(shares):.2f} to {max(shares):.2f} over the ciphers."
    )


def poor_signal(claim: Claim, evidence: Evidence) -> Judgement:
    """A poor signal under WEP over an excellent one, open as the paper has it, and under WEP as it ought to be."""
    least = claim.expect["percent_at_least"]
    compared = []
    for under in ("adhoc_open", "adhoc_wep"):
        for kind, found, evidence_kind in _by_kind(evidence, "adhoc_poor", under):
            effect = percent_effect(f"what a poor signal adds to {SAYS[under]}, sending {kind} in clear,", found)
            where, bounds = f"{kind}, against {SAYS[under]}", Bounds(least, None, "%", ours=False)
            compared.append(ClaimComparison(evidence_kind, where, effect, _at_least(found, least), bounds))
    # As the paper compares stands first.
    compared.sort(
        key=lambda comparison: (SAYS["adhoc_open"] not in comparison.cases, (False, None, True).index(comparison.holds))
    )
    table = _table_range(evidence, "adhoc_poor", "adhoc_open")
    return _judged(
        claim, evidence, compared, "plaintext transfers at a poor and an excellent signal", table, unsure=SOMEWHERE
    )


def _at_least(found: Ratio, percent: float) -> bool | None:
    return above(found.percent[1], found.percent[2], percent)


def dominates(claim: Claim, evidence: Evidence) -> Judgement:
    """The radio's share of the energy of sending: of each cipher the least over all data and conditions."""
    low, high = claim.expect["radio_share"]
    worst: dict[str, ClaimComparison] = {}
    for answer in evidence.transfers:
        if answer.radio_J and answer.host_J and answer.cipher != PLAIN and answer.scenario in SAYS:
            share = _share(answer.radio_J, answer.host_J)
            what = f"the radio's least share of all data and conditions, {answer.data} with {NAMES[answer.cipher]},"
            holds = within(share.low, share.high, low, high)
            found = ClaimComparison(
                answer.evidence, SAYS[answer.scenario], Effect(what, "1", *share), holds, Bounds(low, high)
            )
            worst[answer.cipher] = min(worst.get(answer.cipher, found), found, key=_least_first)
    compared = sorted(worst.values(), key=_least_first)
    table = evidence.papers.sending.values()
    times = [t.of("aes", column) / t.of(PLAIN, column) for t in table for column in t.columns]
    also = f"The paper's own tables have AES at {min(times):.2f} to {max(times):.2f} times the plain transfer."
    return _judged(claim, evidence, compared, "transfers with the energies of radio and host", also)


def _least_first(comparison: ClaimComparison) -> tuple[int, float]:
    return (False, None, True).index(comparison.holds), comparison.effect.value


def _share(radio: Ratio, host: Ratio) -> Ratio:
    return Ratio(
        radio.value / (radio.value + host.value),
        radio.low / (radio.low + host.high),
        radio.high / (radio.high + host.low),
    )


def overhead(claim: Claim, evidence: Evidence) -> Judgement:
    """What of the radio's energy is not the payload's, on small packets."""
    low, high = claim.expect["overhead_share_small_packets"]
    compared = []
    for answer in evidence.transfers:
        if answer.overhead_share and 0 < answer.payload_B <= SMALL_B:
            share = answer.overhead_share
            effect = Effect(f"what headers, gaps and answers take of {answer.payload_B} B packets", "1", *share)
            holds, bounds = within(share.low, share.high, low, high), Bounds(low, high)
            compared.append(ClaimComparison(answer.evidence, answer.scenario, effect, holds, bounds))
    compared.sort(key=lambda comparison: (False, None, True).index(comparison.holds))
    return _judged(claim, evidence, compared, f"transfers of packets of {SMALL_B} B and less")


def fragmentation(claim: Claim, evidence: Evidence) -> Judgement:
    """Fragments against whole packets, over the signals: energy and throughput."""
    wholes = {answer.signal_dBm: answer for answer in evidence.transfers if answer.scenario == "whole"}
    compared, saving = [], []
    for answer in evidence.transfers:
        whole = wholes.get(answer.signal_dBm)
        if answer.scenario != "fragmented" or whole is None or not (answer.radio_J and whole.radio_J):
            continue
        energy = mean([_over(answer.radio_J, whole.radio_J)])
        time = _over(answer.duration_s, whole.duration_s)
        saves, slower = above(1 - energy.high, 1 - energy.low, 0.0), above(time.low, time.high, 1.0)
        holds = all_hold([saves, slower])
        if saves and not slower:
            saving.append(f"{answer.signal_dBm:g} dBm, where the transfer takes {time.value:.3g} times as long")
        effect = percent_effect("what fragmenting costs in energy", energy)
        bounds = Bounds(None, 0.0, "%", "the time above that of whole packets, the energy")
        compared.append(ClaimComparison(answer.evidence, f"signal {answer.signal_dBm:g} dBm", effect, holds, bounds))
    compared.sort(key=lambda comparison: (False, None, True).index(comparison.holds))
    holding = [comparison.cases for comparison in compared if comparison.holds]
    also = f"It holds at: {', '.join(holding)}." if holding else "It holds at none of these signals."
    if saving:
        also += f" Energy alone is saved at {', '.join(saving)}: the throughput is not lowered there."
    needs = "the same packets whole and in fragments, over a range of signals"
    return _judged(claim, evidence, compared, needs, also if compared else "")


def faster_than_plain(claim: Claim, evidence: Evidence) -> Judgement:
    """The cases of the papers' own tables in which Blowfish's or RC6's ciphertext arrives sooner than the plaintext."""
    sooner, cases = [], 0
    for table in evidence.papers.sending.values():
        for cipher in ("blowfish", "rc6"):
            for column in table.columns if cipher in table.duration_s else []:
                cases += 1
                found = table.of(cipher, column) / table.of(PLAIN, column)
                if found < 1:
                    sooner.append((found, f"{table.data} with {NAMES[cipher]}, {SAYS[column]}"))
    control = "the spread between runs, which the paper does not give: nothing in a cipher can do that"
    if not cases:
        return missing(claim, "the paper's tables with blowfish and rc6", "none", control, "their tables")
    count = float(len(sooner))
    effect = Effect("the number of cases in which ciphertext arrives sooner", "1", count, count, count)
    claimed = claim.expect["cells"]
    bounds = Bounds(claimed, claimed)
    compared = [ClaimComparison("the paper's tables", f"{cases} cases", effect, len(sooner) == claimed, bounds)]
    least = min(sooner, default=(1.0, "none"))
    also = f"The greatest lead is {100 * (1 - least[0]):.0f} % ({least[1]}): so far do its runs differ."
    return judged(
        claim,
        "the paper's own tables, no run",
        compared,
        control=control,
        needs="",
        also=also,
        ground=Ground("their tables"),
    )


JUDGES: dict[str, Judge] = {
    "transmission-dominates": dominates,
    "adhoc-blowfish-rc6-vs-aes": against_aes("adhoc_open"),
    "bss-blowfish-rc6-vs-aes": against_aes("bss_tkip"),
    "poor-signal": poor_signal,
    "open-vs-wep": of_scenarios("adhoc_wep", "adhoc_open", "effect_percent", percent=True),
    "bss-vs-adhoc": of_scenarios("bss_open", "adhoc_open", "ratio"),
    "tkip-vs-open": of_scenarios("bss_tkip", "bss_open", "ratio"),
    "ciphertext-faster-than-plaintext": faster_than_plain,
    "mac-overhead-cited": overhead,
    "fragmentation": fragmentation,
}
