"""Claims on the model of energy, and on what a cipher takes by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wattlock.analysis.distributions import line, t_quantile
from wattlock.analysis.estimate import LEVEL
from wattlock.papers.implementations import KEY_BITS, MODES, CaseCost, largest
from wattlock.papers.judge import (
    NAMES,
    ClaimComparison,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    all_hold,
    amount_band,
    inside,
    judged,
    missing,
    of_another_machine,
)
from wattlock.papers.literature import Claim

FEWEST_CIPHERS = 5
GIVEN = ("cycles", "clock_MHz", "current_mA", "voltage_V")


def sample(claim: Claim, evidence: Evidence) -> Judgement:
    """The paper's own example of E = Vcc * I * T, computed again."""
    del evidence
    control = "the sum done again, with its units"
    if not all(key in claim.expect for key in GIVEN):
        return missing(claim, f"the numbers {', '.join(GIVEN)}", "none", control, "what is known")
    cycles, clock_MHz, current_mA, voltage_V = (float(claim.expect[key]) for key in GIVEN)
    charge_mAs = cycles / (clock_MHz * 1e6) * current_mA
    energy_uJ = charge_mAs * 1e3 * voltage_V
    bands = {key: amount_band(claim.expect[key], claim.tolerance) for key in ("charge_mAs", "energy_uJ")}
    sums = {"charge_mAs": charge_mAs, "energy_uJ": energy_uJ}
    holds = all_hold(inside(found, found, bands[key]) for key, found in sums.items())
    effect = Effect("the energy of the example", "uJ", energy_uJ, energy_uJ, energy_uJ)
    band = bands["energy_uJ"]._replace(unit="uJ")
    compared = [ClaimComparison("a sum", f"{cycles:g} cycles", effect, holds, band)]
    return judged(
        claim,
        "a sum, no run",
        compared,
        control=control,
        needs="",
        ground=Ground("what is known"),
        also=f"The charge is {charge_mAs:.3g} mA*s.",
    )


def inverse(claim: Claim, evidence: Evidence) -> Judgement:
    """The slope of energy a byte over throughput, both as logarithms, where a meter measured them."""
    control = "a meter: where energy is modelled from time, the slope is -1 by construction"
    needs = f"the joules of {FEWEST_CIPHERS} ciphers by a meter; modelled ones can't test this"
    command = "wattlock run papers/quick --meter NAME"
    if not evidence.is_metered:
        return missing(claim, needs, command, control)
    cases = largest(evidence.cases(claim, operation="encrypt"))
    if len({case.cipher for case in cases}) < FEWEST_CIPHERS:
        return missing(claim, needs, command, control)
    speed = [math.log(case.payload_B / float(case.row["time_ns"])) for case in cases]
    energy = [math.log(case.cost / case.payload_B) for case in cases]
    fit = line(speed, energy)
    half = t_quantile(len(cases) - 2, 1 - LEVEL / 2) * fit.slope_error
    slope = float(fit.slope)
    band = amount_band(claim.expect["slope_log_log"], claim.tolerance)
    effect = Effect("the slope of log energy over log throughput", "1", slope, slope - half, slope + half)
    compared = [
        ClaimComparison("measured", f"{len(cases)} cases", effect, inside(slope - half, slope + half, band), band)
    ]
    return judged(claim, evidence.rests_on(claim), compared, control=control, needs=needs, command=command)


def cycles(family: str) -> Judge:
    """A judge of a cipher's cycles a byte on the core that the claim names; its state's bytes are by definition."""

    def judge(claim: Claim, evidence: Evidence) -> Judgement:
        band = amount_band(claim.expect["cycles_per_byte"], claim.tolerance, "cycles/B")
        found = []
        cases = evidence.cases(claim, operation="encrypt", data="random")
        mine = [case for case in cases if (case.family, case.key_bits) == (family, KEY_BITS[family])]
        for case in [case for name in dict.fromkeys(c.provider for c in mine) for case in _largest_of(mine, name)]:
            per_byte = case.row["cycles_per_byte"]
            if per_byte is not None:
                low, high = case.row["cycles_per_byte_low"], case.row["cycles_per_byte_high"]
                effect = Effect(f"what {NAMES[family]} takes here", "cycles/B", per_byte, low, high)
                found.append(ClaimComparison(case.kind, case.provider, effect, inside(low, high, band), band))
        # A cipher's cycles are those of its best code.
        found.sort(key=lambda comparison: comparison.effect.value)
        control = "the processor named: cycles of another core are others"
        if not evidence.is_of(claim):
            return of_another_machine(claim, evidence, found[:1], control=control)
        return judged(
            claim,
            evidence.rests_on(claim),
            found,
            control=control,
            needs=f"cycles of {family}; a core whose multiplier's latency is known",
            also=f"Its state has {_state_B(family)} bytes; claimed are {claim.expect['state_bytes']}.",
        )

    return judge


def _largest_of(cases: Sequence[CaseCost], provider: str) -> list[CaseCost]:
    return largest(cases, lambda case: case.provider == provider and case.row["mode"] in MODES)


def _state_B(family: str) -> int:
    """Bytes of a cipher's tables: RC4 has a permutation of 256; Blowfish 18 words and four boxes of 256 words."""
    return 256 if family == "rc4" else 4 * (18 + 4 * 256)


JUDGES: dict[str, Judge] = {
    "energy-sample": sample,
    "throughput-energy": inverse,
    "rc4-cycles": cycles("rc4"),
    "blowfish-cycles": cycles("blowfish"),
}
