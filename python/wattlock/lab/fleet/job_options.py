"""What of a study a job measures, on which targets, and what values it: the options that a lab takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from wattlock.definitions import suggestion
from wattlock.energy import device_cards
from wattlock.energy.valuing import kept_card
from wattlock.errors import EvidenceError, InputError, ProbeError, StudyError
from wattlock.run import begin
from wattlock.run.metering import Baseline, MeterChoice
from wattlock.study.study import STUDIES
from wattlock.targets import Target, named
from wattlock.targets.target import refuse_emulated

MOST_PATTERNS, LONGEST_PATTERN = 20, 200
BASELINES = tuple(map(str, Baseline))
METER = re.compile(r"[\w:+.-]{1,80}", re.ASCII)


@dataclass(frozen=True)
class JobOptions:
    """As `wattlock run` has them: none is a path, since files of the lab's host are not for who asks.

    * `only`: ciphers, or cases; `libraries`: providers; `core_classes`: kinds of core. Any of each, all without.
    * `card`: of the device, empty without; `allow_assumed`: whether numbers may be in it that nobody could verify.
    * `meter`: of the target, empty without; `baseline`: what it subtracts.
    """

    only: tuple[str, ...] = ()
    core_classes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    card: str = ""
    allow_assumed: bool = False
    meter: str = ""
    baseline: str = BASELINES[0]

    def __post_init__(self) -> None:
        for given in (self.only, self.core_classes, self.libraries):
            if len(given) > MOST_PATTERNS or not all(0 < len(value) <= LONGEST_PATTERN for value in given):
                hint = f"name at most {MOST_PATTERNS}, each of 1 to {LONGEST_PATTERN} letters: aes*, payload_B=64"
                raise InputError(f"{len(given)} patterns, or one that is empty or too long", hint=hint)
        if self.card and self.card not in (known := device_cards.names()):
            hint = suggestion(self.card[:LONGEST_PATTERN], known, "there are")
            raise InputError(f"there is no device card {self.card[:LONGEST_PATTERN]!r}", hint=hint)
        if self.meter and not METER.fullmatch(self.meter):
            hint = "as `wattlock meters` on the target lists them: powercap:package-0, or a sum A+B"
            raise InputError(f"{self.meter[:LONGEST_PATTERN]!r} is no name of a meter", hint=hint)
        if self.baseline not in BASELINES:
            raise InputError(f"there is no baseline {self.baseline[:LONGEST_PATTERN]!r}", hint=", ".join(BASELINES))
        if self.card and self.meter:
            hint = "leave one out; `wattlock show RUN --device CARD` values a run afterwards"
            raise InputError("a meter measures joules and a card computes them: a run has one of them", hint=hint)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        """As the lab's database keeps them."""
        read: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()
        }
        return cls(**read)

    @property
    def patterns(self) -> list[str]:
        """`only` with each of the libraries, as `--only` has them."""
        if not self.libraries:
            return list(self.only)
        cases = [value if "=" in value else f"cipher={value}" for value in self.only] or ["cipher=*"]
        return [f"{case},provider={library}" for case, library in product(cases, self.libraries)]

    def __str__(self) -> str:
        """What of it differs from nothing being asked for."""
        words = [*self.only, *self.libraries, *self.core_classes]
        words += [self.card and f"card {self.card}", self.meter and f"meter {self.meter}, {self.baseline}"]
        return ", ".join(filter(None, words))


ALL = JobOptions()
"""All of a study, without joules."""


PAGE = "page"
"""The study of a browser, which is no target of a fleet."""


class Hopeless(InputError):
    """A job of which is known, before a device is asked, that it fails."""


def offered() -> list[str]:
    """Those of wattlock's own that a target of a fleet can carry out."""
    return [name for name in STUDIES.names() if name != PAGE]


def request(study: str, options: JobOptions, device: Target) -> begin.Request:
    """What a job is to measure. The errors are those of `kept_card`."""
    kinds, card, meter = options.core_classes, None, None
    if options.card:
        card = kept_card(options.card, device, kinds, allow_assumed=options.allow_assumed)
    if options.meter:
        meter = MeterChoice(options.meter, options.baseline)
    return begin.Request(study, options.patterns, meter=meter, card=card, core_classes=kinds)


def refuse_hopeless(study: str, targets: Sequence[str], options: JobOptions) -> None:
    """Raises Hopeless where the study, the card or, on this machine, anything else can't be; `study`: a known one."""
    if study == PAGE:
        hint = "`wattlock page` measures it, and so does /measure-this-device"
        raise Hopeless("the study page is of a browser, which is no target of a fleet", hint=hint)
    try:
        if options.card:
            device_card = device_cards.load(options.card)
            # Which kind of core is the fastest only the device knows.
            for kind in options.core_classes or (() if device_card.card.cores else (None,)):
                device_card.on(kind).refuse_doubted(allow_assumed=options.allow_assumed)
        ways = {named.way_of(target) for target in targets}
        if options.card or options.meter:
            for way in ways:
                if way.startswith("qemu:"):
                    refuse_emulated(way)
        if "local" in ways:
            device = named.target("local")
            begin.plan(request(study, options, device), device)
    except ProbeError:
        return  # the probe or a meter may be there when the job begins
    except (StudyError, InputError, EvidenceError) as error:
        box = "`allow_assumed`, the box below the card,"
        raise Hopeless(error.message, hint=error.hint.replace("--allow-assumed", box)) from error


NAMED = "named"
"""In place of a target: this machine, and all of the user's file as it is now."""


def targets(given: Sequence[str]) -> list[str]:
    """The names, once each. Raises InputError where the user's file is not what it should be."""
    found: list[str] = []
    for value in given:
        found += ["local", *named.described()] if value == NAMED else [value]
    return list(dict.fromkeys(found))
