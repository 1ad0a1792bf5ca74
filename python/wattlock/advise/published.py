"""What ciphers cost on a device by published and counted cycles and a user's own: the best of each cipher is taken."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from wattlock.advise.cipher_costs import (
    COSTS,
    TALLY,
    CipherCost,
    CostedMessage,
    CostFile,
    Counted,
    Engine,
    Origin,
    PublishedCost,
    Timing,
    load,
    names,
)
from wattlock.definitions import own_folder
from wattlock.energy.device_cards import Device, Isa
from wattlock.errors import InputError
from wattlock.link.designs import compared
from wattlock.targets.parts import step

# What borrowed cycles of another core may be off by, either way: nobody counted them there.
BORROWED = 1.0
# Whose cycles are borrowed where nobody published any for a core.
LENDER: Isa = "thumbv7em"
COMPILED = {"C", "Rust"}
SOUND: set[Timing] = {"constant", "constant in its memory"}


class DeviceCosts(NamedTuple):
    """What ciphers cost on a device.

    * `taken`: the best of each cipher, code and hardware apart. `unranked`: assumed ones that nobody consented to.
    * `slower`: what else is known of them. `engines`: hardware without a figure. `language`: that they are compared in.
    * `tally`: what its records cost, where they were counted on the core.
    """

    taken: list[CipherCost]
    unranked: list[CipherCost]
    slower: list[CipherCost]
    engines: list[Engine]
    language: str = "C"
    tally: CipherCost | None = None


def published_costs(
    device: Device,
    messages: Sequence[CostedMessage],
    *,
    allow_assumed: bool,
    accelerator: bool = True,
    given: Path | None = None,
    cards: Path | None = None,
) -> DeviceCosts:
    """What ciphers cost by published cycles of the card's core and by the user's own, valued by the card.

    * `messages`: for which the best is sought. `given`: a file of the user's; `cards`: the user's folder of cards.

    A cipher that nobody counted on the core takes cycles of Cortex-M4 with a factor of two either way. Raises
    InputError where the card values time and no cycles, or a file of the user's is wrong.
    """
    isa = device.card.isa
    if not device.card.counts_cycles:
        hint = f"name a run that measured an {isa} with --run, or a card that values cycles"
        raise InputError(f"device card {device.name} values time, and published costs are in cycles", hint=hint)
    files = [*_own(isa, cards), *([_given(given, device)] if given else [])]
    mine = [cost for file in files for cost in _valued(file, device, is_own=True)]
    home = load(isa) if isa in names() else None
    described = list(_valued(home, device)) if home else []
    tally = _tally(*([cost for cost in costs if allow_assumed or not cost.doubt] for costs in (mine, described)))
    mine, described = ([cost for cost in several if cost.cipher != TALLY] for several in (mine, described))
    # The user's own figure of a cipher stands for what is published of it, code and hardware apart.
    preferred = [cost for cost in mine if allow_assumed or not cost.doubt]
    replaced = {(cost.cipher, cost.accelerator) for cost in preferred}
    costs = preferred + [cost for cost in described if (cost.cipher, cost.accelerator) not in replaced]
    known = {cost.cipher for cost in costs}
    costs += [cost for cost in _borrowed(device) if cost.cipher not in known]
    costs = [cost for cost in _through_flash(costs) if accelerator or not cost.accelerator]
    best = _best(costs, messages)
    engines = [engine for engine in home.engine if device.name in engine.devices] if home else []
    return DeviceCosts(
        [cost for cost in best if allow_assumed or not cost.doubt],
        [
            cost
            for cost in [*best, *(cost for cost in mine if cost not in preferred)]
            if cost.doubt and not allow_assumed
        ],
        [cost for cost in costs if not any(cost is cheapest for cheapest in best)],
        engines if accelerator else [],
        home.compared if home else "C",
        tally,
    )


def _tally(mine: Sequence[CipherCost], described: Sequence[CipherCost]) -> CipherCost | None:
    """What records of tally cost: the user's own figures, else those that come along, if its cipher's do too."""
    cipher = str(compared().design[TALLY].cipher)
    shipped = [] if any(cost.cipher == cipher for cost in mine) else described
    for several in (mine, shipped):
        found = [cost for cost in _through_flash(several) if cost.cipher == TALLY]
        if found:
            return min(found, key=lambda cost: bool(cost.doubt))._replace(cipher=cipher)
    return None


def _given(path: Path, device: Device) -> CostFile:
    isa = device.card.isa
    if not path.is_file():
        raise InputError(f"--costs {path}: there is no such file", hint="--costs-template CORE prints one to fill")
    file = COSTS.load(path)[1]
    if file.isa != isa:
        hint = f"count on a core of {isa}: `wattlock run mcu-costs --on qemu:CORE`, then `wattlock costs --from last`"
        raise InputError(f"--costs {path}: is for {file.isa}, the device is {isa}", hint=hint)
    if not any(cost.is_for(device) for cost in file.cost):
        named = sorted({name for cost in file.cost for name in cost.devices})
        hint = (
            f"figures hold for a device by its name in devices; part cycles of another part are none of {device.name}"
        )
        raise InputError(f"--costs {path}: all of it is for {', '.join(named)}, none for {device.name}", hint=hint)
    return file


def _own(isa: str, cards: Path | None) -> list[CostFile]:
    folder = own_folder(cards)
    paths = sorted((folder / "costs").glob("*.toml")) if folder else []
    return [file for file in (COSTS.load(path)[1] for path in paths) if file.isa == isa]


def _borrowed(device: Device) -> Iterator[CipherCost]:
    lender = load(LENDER)
    lent = lender.model_copy(update={"cost": [cost for cost in lender.cost if cost.language in COMPILED]})
    yield from (cost for cost in _valued(lent, device, borrowed=True) if cost.cipher != TALLY)


def _valued(file: CostFile, device: Device, *, borrowed: bool = False, is_own: bool = False) -> Iterator[CipherCost]:
    for cost in file.cost:
        if not cost.is_for(device):
            continue
        for cipher in cost.ciphers:
            yield _cost(cost, cipher, file, device, borrowed=borrowed, is_own=is_own)


def _cost(
    cost: PublishedCost, cipher: str, file: CostFile, device: Device, *, borrowed: bool, is_own: bool
) -> CipherCost:
    joules = device.card.rate.joules
    clock_Hz = device.card.frequency.in_SI if device.card.frequency else math.nan
    to_board, width, because = _on_a_board(cost, device)
    width += math.log1p(cost.law_uncertainty) + (math.log1p(BORROWED) if borrowed else 0.0)
    slower = math.log(file.factor(cipher) or 1.0) if cost.unlike else 0.0
    sizes, counted = cost.law
    cycles, to_open = ([to_board * count for count in counts] for counts in (counted, cost.opened))
    doubt = (
        f"nobody counted it on {device.card.isa}: borrowed from {file.cores[0]}"
        if borrowed
        else _doubt(cost, is_own=is_own)
    )
    origin = Origin(
        cost.implementation,
        cost.language,
        cost.compiler,
        cost.flags,
        cost.core,
        cost.memory,
        cost.counted,
        cost.url,
        because,
        cost.timing,
        own=is_own,
        composed=cost.composed,
        to_board=to_board,
    )
    return CipherCost(
        cipher,
        f"{cost.implementation.partition(',')[0]}, {cost.language}",
        sizes,
        [joules * count for count in cycles],
        [joules * count for count in to_open],
        [count / clock_Hz for count in cycles],
        [count / clock_Hz for count in to_open],
        (width + slower / 2) / math.sqrt(3),
        shared=True,
        evidence="assumed" if doubt or device.card.evidence == "assumed" else "modelled",
        source=cost.source,
        narrowed_by=file.narrowed_by,
        uniform=(-width - slower, width),
        block_B=cost.block_B,
        period_B=cost.period_B,
        accelerator=cost.language == "hardware",
        cycles=cycles,
        open_cycles=to_open,
        report_cycles=to_board * cost.report_cycles if cost.report_cycles else None,
        origin=origin,
        doubt=doubt,
    )


def _on_a_board(cost: PublishedCost, device: Device) -> tuple[float, float, str]:
    """By what its cycles are multiplied to be a board's, half the width of the logarithm then, and why."""
    width = math.log1p(cost.relative_uncertainty)
    if cost.counted not in {"core cycles", "part cycles"}:
        return 1.0, width, cost.because
    seen = step(device.name, cost.counted)
    because = (
        f"{cost.because}; a board takes {100 * (seen.low - 1):+.1f} to {100 * (seen.high - 1):+.1f} % beside "
        f"the count: the middle is added, the rest is in the interval ({seen.source})"
    )
    # What was seen on boards of this very part has the error of the core's rules in it.
    return seen.factor, max(width, seen.width) if seen.own else width + seen.width, because


def _doubt(cost: PublishedCost, *, is_own: bool) -> str:
    """Why it is assumed; empty where it isn't."""
    if cost.confidence not in {"unverified", "assumed"}:
        return cost.unlike
    why = "nobody could verify its source" if cost.confidence == "unverified" else cost.because.partition(";")[0]
    return "; ".join(part for part in (cost.unlike, "its file says so" if is_own else why) if part)


def _through_flash(costs: Sequence[CipherCost]) -> list[CipherCost]:
    """Without core cycles of code whose part cycles are known for this very device."""

    def code(cost: CipherCost, counted: Counted) -> tuple[str, str] | None:
        origin = cost.origin
        return (cost.cipher, origin.implementation) if origin and origin.counted == counted else None

    in_flash = {code(cost, "part cycles") for cost in costs} - {None}
    return [cost for cost in costs if code(cost, "core cycles") not in in_flash]


def _best(costs: Sequence[CipherCost], messages: Sequence[CostedMessage]) -> list[CipherCost]:
    """Of each cipher the code and the hardware with the fewest cycles for the messages.

    What needs no consent stands before all else, then code whose time tells nothing of the key, and the user's own.
    """

    def order(cost: CipherCost) -> tuple[bool, bool, float]:
        return bool(cost.doubt), not is_sound(cost), cost.spent(messages)

    found: dict[tuple[str, bool], CipherCost] = {}
    for cost in sorted(costs, key=order):
        found.setdefault((cost.cipher, cost.accelerator), cost)
    return list(found.values())


def is_sound(cost: CipherCost) -> bool:
    """Whether a cost is of code whose time tells nothing of the key, or of what the user brought."""
    return cost.origin is None or cost.origin.own or cost.origin.timing in SOUND


def follows_the_code(priced: DeviceCosts, messages: Sequence[CostedMessage]) -> list[str]:
    """Of which ciphers the order follows the code: other languages, and like with like it is another order or none."""
    code = [cost for cost in priced.taken if cost.origin and not cost.accelerator]
    costs = [*code, *(cost for cost in priced.slower if cost.origin and not cost.accelerator)]
    reference = {}
    for cost in sorted(costs, key=lambda cost: -cost.spent(messages)):
        if cost.origin and cost.origin.language == priced.language and not cost.doubt:
            reference[cost.cipher] = cost
    by_reason: dict[tuple[str, str], list[str]] = {}
    for first, second in combinations(sorted(code, key=lambda cost: cost.spent(messages)), 2):
        why = _order(first, second, reference, priced.language, messages)
        if why and first.origin != second.origin:
            by_reason.setdefault((why, second.cipher), []).append(first.cipher)
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (why, after), before in by_reason.items():
        merged.setdefault((why, tuple(before)), []).append(after)
    return [
        f"the order between {', '.join(before)} and {', '.join(after)} follows the code, not the cipher: {why}"
        for (why, before), after in merged.items()
    ]


def _order(
    first: CipherCost,
    second: CipherCost,
    reference: Mapping[str, CipherCost],
    compared: str,
    messages: Sequence[CostedMessage],
) -> str:
    """Why the order of two costs says nothing of their ciphers; empty where it does."""
    origins = [cost.origin for cost in (first, second) if cost.origin]
    languages = [origin.language for origin in origins]
    missing = [cost.cipher for cost in (first, second) if cost.cipher not in reference]
    if len({(origin.language, origin.core, origin.counted) for origin in origins}) == 1:
        return ""
    if missing and (languages[0] != languages[1] or first.doubt or second.doubt):
        return f"of {missing[0]} no figure in {compared} is comparable on this core"
    if missing or languages[0] == languages[1]:
        return ""
    cycles = [reference[cost.cipher].spent(messages) for cost in (first, second)]
    turned = f"{languages[0]} against {languages[1]}; both in {compared} it is the other way round"
    return turned if cycles[0] > cycles[1] else ""
