"""What a job is to measure, and what of it is refused when it is asked for: no device but this machine is asked."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.energy import cards
from wattlock.energy.kept_card import kept_card
from wattlock.errors import EvidenceError, InputError, ProbeError, StudyError
from wattlock.lab.fleet.options import Options
from wattlock.run import begin
from wattlock.run.energy import Choice
from wattlock.study.study import STUDIES
from wattlock.targets import Target, named
from wattlock.targets.facts import refuse_emulated

PAGE = "page"
"""The study of a browser, which is no target of a fleet."""


class Hopeless(InputError):
    """A job of which is known, before a device is asked, that it fails."""


def offered() -> list[str]:
    """Those of wattlock's own that a target of a fleet can carry out."""
    return [name for name in STUDIES.names() if name != PAGE]


def request(study: str, options: Options, device: Target) -> begin.Request:
    """What a job is to measure. The errors are those of `kept_card`."""
    kinds, card, meter = options.core_classes, None, None
    if options.card:
        card = kept_card(options.card, device, kinds, allow_assumed=options.allow_assumed)
    if options.meter:
        meter = Choice(options.meter, options.baseline)
    return begin.Request(study, options.patterns, meter=meter, card=card, core_classes=kinds)


def refuse_hopeless(study: str, targets: Sequence[str], options: Options) -> None:
    """Raises Hopeless where the study, the card or, on this machine, anything else can't be; `study`: a known one."""
    if study == PAGE:
        hint = "`wattlock page` measures it, and so does /measure-this-device"
        raise Hopeless("the study page is of a browser, which is no target of a fleet", hint=hint)
    try:
        if options.card:
            device_card = cards.load(options.card)
            # Which kind of core is the fastest only the device knows.
            for kind in options.core_classes or (() if device_card.card.cores else (None,)):
                device_card.on(kind).refuse_doubted(allow_assumed=options.allow_assumed)
        ways = {named.way_of(one) for one in targets}
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
