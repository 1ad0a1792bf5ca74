"""What the hosts compute for a transfer: the cipher, and a packet's way through the stack."""

import math
from pathlib import Path
from typing import NamedTuple

import polars as pl

from wattlock.analysis.draws import COVERAGE
from wattlock.definitions import suggestion
from wattlock.energy.cards import Device
from wattlock.energy.model import refuse as refuse_card
from wattlock.energy.number import refuse_doubted
from wattlock.energy.tasks import BACKWARD, FORWARD, weakest
from wattlock.energy.valuing import clock_of, valued
from wattlock.errors import EvidenceError, InputError
from wattlock.link.joules import Interval
from wattlock.link.ledger import Line, State
from wattlock.link.payload import Group
from wattlock.link.scenario import Named, Role
from wattlock.run.result import Result


class Measured(NamedTuple):
    """A run's estimates, valued in joules as far as they can be.

    * `isa`: of its cycles; `counts_cycles`, `clock_Hz`: of the card that valued it, whose time is cycles / clock.
    """

    estimates: pl.DataFrame
    isa: str
    counts_cycles: bool = False
    clock_Hz: float | None = None


def measured(result: Result, device: str | None, *, own: Path | None = None, allow_assumed: bool = False) -> Measured:
    """A run's estimates, valued by a device card, else by the run's meter or its own card.

    Raises EvidenceError for numbers that need consent.
    """
    clock = clock_of(result, device, own)
    estimates = valued(result, device, allow_assumed=allow_assumed, own=own)
    return Measured(estimates, result.isa, clock.counts_cycles, clock.Hz)


def speeds_B_per_s(run: Measured) -> dict[str, float]:
    """Octets a second of each cipher that a run encrypted with, in its largest payload."""
    rows = run.estimates.filter(pl.col("operation").is_in(["encrypt", "seal"]), pl.col("time_ns") > 0)
    largest = rows.sort("payload_B").group_by("cipher", maintain_order=True).last()
    return {row["cipher"]: row["payload_B"] / row["time_ns"] * 1e9 for row in largest.iter_rows(named=True)}


class Work(NamedTuple):
    """What one node computes: `what` is the ledger's line.

    * `energy`: None where no card and no meter says it. `evidence`: of the joules, else of the time.
    * `basis`: what the figures are from.
    """

    what: str
    role: Role
    busy_ns: int
    energy: Interval | None
    evidence: str
    basis: str


def works(
    named: Named,
    groups: list[Group],
    measured: Measured | None,
    devices: dict[Role, Device],
    *,
    allow_assumed: bool,
) -> list[Work]:
    """All that hosts compute, as far as the scenario, a run or a card says it.

    * `devices`: the device cards of sender and receiver, where they have one.

    Raises InputError where the run has no such case, EvidenceError where a figure needs consent.
    """
    requested = named.scenario
    found = []
    for role in requested.roles:
        us = requested.host.us(role)
        if us:
            packets = sum(group.packets for group in groups)
            _consent(named, f"host.{role.replace('-', '_')}_us {us:g} us", allow_assumed=allow_assumed)
            seconds = us * 1e-6 * packets
            energy = _by_power(devices[role], seconds, allow_assumed=allow_assumed) if role in devices else None
            found.append(Work(f"host: {role}", role, round(seconds * 1e9), energy, "assumed", f"{us:g} us a packet"))
    if requested.payload.cipher:
        last = requested.roles[-1]
        for role in (requested.roles[0], last):
            work = _cipher(named, groups, measured, devices.get(role), role, allow_assumed=allow_assumed)
            if work:
                found.append(work)
    return found


def waits(found: list[Work], air_ns: int, roles: list[Role], *, overlapped: bool) -> list[Line]:
    """The lines of work by which a transfer gets longer, while all radios idle.

    * `overlapped`: the slowest of air and nodes sets the pace, so that only what the slowest node needs beyond the air
      is waited for; without it all work is. The filling of the pipeline by its first packet is not counted.
    """
    waited = {(work.what, work.role): work.busy_ns for work in found}
    if overlapped:
        busy = {role: sum(work.busy_ns for work in found if work.role == role) for role in roles}
        slowest = max(roles, key=lambda role: busy[role])
        over_ns = max(0, busy[slowest] - air_ns)
        own = [key for key in waited if key[1] == slowest]
        waited = dict.fromkeys(waited, 0)
        for key in own:
            waited[key] = over_ns * next(w.busy_ns for w in found if (w.what, w.role) == key) // busy[slowest]
        if own and over_ns:
            waited[own[-1]] += over_ns - sum(waited.values())
    idle: State = "idle"
    return [
        Line(what, None, 0, time_ns, {one: {idle: time_ns} for one in roles}) for (what, _), time_ns in waited.items()
    ]


def _consent(named: Named, figure: str, *, allow_assumed: bool) -> None:
    if not allow_assumed:
        raise EvidenceError(
            f"link {named.label}: {figure} has no source that could be checked",
            hint="--allow-assumed takes it, and the result says so",
        )


def _by_power(device: Device, seconds: float, *, allow_assumed: bool) -> Interval:
    """Joules of a device that works for so long; where its card values cycles, at its clock."""
    refuse_doubted(
        f"device card {device.name}", {key: one for key, one, _ in device.card.factors()}, allow_assumed=allow_assumed
    )
    each = device.card.rate
    clock = 1.0
    if device.card.counts_cycles:
        if not device.card.frequency:
            raise EvidenceError(
                f"device card {device.name} has no frequency, and time can't be valued by cycles alone",
                hint="take a card with a frequency or a power",
            )
        clock = device.card.frequency.in_SI
    return _interval(each.joules * clock * seconds, each.log_sigma)


def _cipher(
    named: Named,
    groups: list[Group],
    measured: Measured | None,
    device: Device | None,
    role: Role,
    *,
    allow_assumed: bool,
) -> Work | None:
    requested = named.scenario
    what = f"cipher: {'sender' if role == 'sender' else 'receiver'}"
    if measured is not None:
        return _of_run(named, groups, measured, role, what)
    if requested.cost.cycles_per_B is None:
        return None
    _consent(named, f"cost.cycles_per_B {requested.cost.cycles_per_B:g}", allow_assumed=allow_assumed)
    if device is None:
        return None
    if not (device.card.counts_cycles and device.card.frequency):
        hint = "take a card that values cycles and has a frequency"
        raise InputError(f"device card {device.name} can't value cost.cycles_per_B", hint=hint)
    plain_B = sum(group.parts.plain_B for group in groups)
    seconds = requested.cost.cycles_per_B * plain_B / device.card.frequency.in_SI
    energy = _by_power(device, seconds, allow_assumed=allow_assumed)
    return Work(what, role, round(seconds * 1e9), energy, "assumed", f"{requested.cost.cycles_per_B:g} cycles a byte")


def _of_run(named: Named, groups: list[Group], measured: Measured, role: Role, what: str) -> Work:
    """The case whose payload is nearest to the message's, at its price a byte."""
    payload = named.scenario.payload
    plain_B = sum(group.parts.plain_B for group in groups)
    message_B = plain_B
    if payload.encrypt == "packet":
        message_B = max(1, plain_B // sum(group.packets for group in groups))
    operations = FORWARD if role == "sender" else BACKWARD
    rows = measured.estimates.filter(
        pl.col("operation").is_in(operations), pl.col("payload_B") > 0, pl.col("time_ns").is_not_null()
    )
    ciphers = sorted(set(rows["cipher"]))
    rows = rows.filter(pl.col("cipher") == payload.cipher)
    if rows.is_empty():
        wanted = " or ".join(sorted(operations))
        hint = suggestion(payload.cipher or "", ciphers, "it has")
        if not ciphers:
            forward, backward = sorted(FORWARD)[0], sorted(BACKWARD)[0]
            hint = f'a study with operation = ["{forward}", "{backward}"] has both directions, as first-look does'
        raise InputError(
            f"link {named.label}: the run has no case that measured {wanted} of {payload.cipher}", hint=hint
        )
    # A transfer has one key; what the encoding costs is counted where the run has measured it.
    for alike in (pl.col("encoding") == payload.encoding, pl.col("keying") == "ready"):
        same = rows.filter(alike)
        rows = rows if same.is_empty() else same
    far = (pl.col("payload_B").cast(pl.Float64).log() - math.log(message_B)).abs()
    row = rows.sort(far, maintain_order=True).row(0, named=True)
    times = plain_B / row["payload_B"]
    seconds = row["time_ns"] * 1e-9
    if measured.counts_cycles and measured.clock_Hz and row["cycles"] is not None:
        seconds = row["cycles"] / measured.clock_Hz
    energy, evidence = None, row["time_evidence"]
    if row["energy_uJ"] is not None:
        log_sigma = math.log(row["energy_high_uJ"] / row["energy_low_uJ"]) / (2 * COVERAGE)
        energy = _interval(row["energy_uJ"] * 1e-6 * times, log_sigma)
        evidence = weakest(row["energy_evidence"])
    basis = f"{row['cipher']} of {row['provider']}, {row['operation']}, {row['payload_B']} B, {row['encoding']}"
    return Work(what, role, round(seconds * times * 1e9), energy, evidence, basis)


def check_devices(devices: dict[Role, Device], measured: Measured | None, *, allow_assumed: bool) -> None:
    """Raises EvidenceError where a card can't value the run's instruction set, or only with consent not given."""
    for device in devices.values():
        if measured:
            refuse_card(device, isa=measured.isa, allow_assumed=allow_assumed)


def _interval(J: float, log_sigma: float) -> Interval:
    factor = math.exp(COVERAGE * log_sigma)
    return Interval(J, J / factor, J * factor)
