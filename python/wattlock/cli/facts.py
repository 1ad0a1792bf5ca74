"""Joins a run's result to what the report needs: facts in the page's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wattlock.energy import device_cards
from wattlock.energy.device_cards import card_of
from wattlock.report.answer import after_pause
from wattlock.report.facts import (
    CoreClassFacts,
    DeviceFacts,
    DischargeFacts,
    InputFacts,
    MeterFacts,
    RunFacts,
    SelfCheck,
)

if TYPE_CHECKING:
    from wattlock.run.result import Result


def facts(result: Result, device: str | None) -> RunFacts:
    """A run in the words of the page."""
    study, clock = result.plan["study"], result.clock
    resolved = result.estimates.filter(result.estimates["state"] == "resolved").height
    canary_GHz = None
    if clock.low_GHz is not None and clock.GHz is not None and clock.high_GHz is not None:
        canary_GHz = (clock.GHz, clock.low_GHz, clock.high_GHz)
    return RunFacts(
        study=study["id"],
        title=study["title"],
        question=study["question"],
        id=result.plan["id"],
        created=result.plan["created"],
        host=list(host(result)),
        duration_s=result.wall_s,
        cases=result.estimates.height,
        resolved=resolved,
        processes=result.processes,
        batches=result.batches,
        clean_share=result.clean_share,
        canary_GHz=canary_GHz,
        self_checks=[
            SelfCheck(check.named, check.measured, check.low, check.high, check.truth, check.state)
            for check in result.verdicts
        ],
        valid=not result.reasons,
        reasons=result.explained,
        device=_device(card_of(result, device), result.core_classes),
        meter=_meter(result) if device is None else None,
        discharge=_discharge(result),
        core_classes=_core_classes(result),
        inputs=[InputFacts(one["data"], one["size_B"], one["sha256"]) for one in result.inputs],
        warnings=result.notices[len(result.explained) :],
        crossings=result.crossings,
        after_pause=[] if result.reasons else after_pause(result.after_pause),
    )


def _meter(result: Result) -> MeterFacts | None:
    if result.meter is None or result.energies is None:
        return None
    meter, read_ns = result.meter, result.meter["read_ns"]
    return MeterFacts(
        meter["name"],
        meter["scope"],
        meter["baseline"],
        100 * meter["gain_relative_uncertainty"],
        meter["gain_source"],
        None if read_ns is None else read_ns / 1e3,
        meter["overlaps"],
        result.energies["energy_uJ"].null_count(),
    )


def _discharge(result: Result) -> DischargeFacts | None:
    if result.battery is None or result.discharges is None:
        return None
    from wattlock.analysis.discharges import curves

    several = len({case["provider"] for case in result.cases}) > 1
    names = {
        case["case"]: (f"{case['cipher']} {case['provider']}" if several else case["cipher"], case["payload_B"])
        for case in result.cases
    }
    gain = 100 * result.battery["gain_relative_uncertainty"]
    return DischargeFacts(result.battery["name"], gain, result.discharges, curves(result.levels, names))


def _core_classes(result: Result) -> CoreClassFacts | None:
    if result.core_class_ratios is None:
        return None
    clocks = [result.clocks[name].GHz for name in result.core_classes]
    return CoreClassFacts(result.core_classes, clocks, result.core_class_ratios)


def _device(device: device_cards.Device | None, core_classes: list[str]) -> DeviceFacts | None:
    if device is None:
        return None
    device = next((one for kind in core_classes if (one := device.on(kind)).card.evidence == "assumed"), device)
    notes = [note for note in (device.card.title, device.card.note) if note]
    return DeviceFacts(device.name, device.card.evidence, notes, device.card.narrowed_by)


def host(result: Result) -> Iterator[tuple[str, str]]:
    """Label and value of what was measured on; what the machine doesn't show is left out."""
    print_of: dict[str, Any] = result.header["fingerprint"]
    hardware, kernel, build = print_of["hardware"], print_of["kernel"], print_of["build"]
    virtual = print_of["virtualisation"]
    governor = print_of["power"]["governor"]
    compiler = [build["rustc"], f"opt-level {build['opt_level']}", f"LTO {build['lto']}", build["flags"]]
    known = {
        "Emulated": virtual.get("emulator"),
        "Processor": hardware["model_name"],
        "Core class": ", ".join(result.core_classes) or hardware.get("core_class") or "all cores alike",
        "Reached by": result.plan.get("way"),
        "Virtual machine": {True: virtual["product"] or "yes", False: "no"}.get(virtual["hypervisor"]),
        "System": f"{kernel['os']} {kernel['release'] or ''}".strip(),
        "Clock source": kernel["clock_source"],
        "Governor": governor,
        "Compiler": ", ".join(str(part) for part in compiler if part),
        "Commit": f"{build['commit']}{' with changes' if build['dirty'] else ''}" if build["commit"] else None,
        "Probe, SHA-256": result.plan["probe_sha256"],
        "Dependencies, SHA-256 of Cargo.lock": build["lock_sha256"],
        "wattlock": result.plan["wattlock"],
        "Seed": str(result.plan["seed"]),
    }
    yield from ((label, text) for label, text in known.items() if text)
