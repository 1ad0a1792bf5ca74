"""What a run was: where and under which conditions it was measured or counted, by label and value."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from wattlock.run import validity
from wattlock.run.result import Result

SHOWN = ("Virtual machine", "System", "Clock source", "Governor", "Compiler", "Commit")
About = dict[str, str | bool | None]


def host(result: Result) -> Iterator[tuple[str, str]]:
    """Label and value of what was measured or counted on; what is not known is left out."""
    fingerprint: dict[str, Any] = result.header["fingerprint"]
    build = fingerprint["build"]
    commit = f"{build['commit']}{' with changes' if build['dirty'] else ''}" if build["commit"] else None
    if "time" in result.quantities:
        known = _machine(result, fingerprint) | {
            "Commit": commit,
            "Probe, SHA-256": result.plan["probe_sha256"],
            "Dependencies, SHA-256 of Cargo.lock": build["lock_sha256"],
            "wattlock": result.plan["wattlock"],
            "Seed": str(result.plan["seed"]),
        }
    else:
        known = _core(result) | {
            "Flags": build["flags"],
            "Commit": commit,
            "Probe, SHA-256": result.plan["probe_sha256"],
            "wattlock": result.plan["wattlock"],
            "Cases": f"{result.estimates.height} in {result.processes} processes, {result.wall_s:.0f} s",
        }
    yield from ((label, value) for label, value in known.items() if value)


def _machine(result: Result, fingerprint: dict[str, Any]) -> dict[str, str | None]:
    hardware, kernel, build = fingerprint["hardware"], fingerprint["kernel"], fingerprint["build"]
    virtual = fingerprint["virtualisation"]
    compiler = [build["rustc"], f"opt-level {build['opt_level']}", f"LTO {build['lto']}", build["flags"]]
    return {
        "Emulated": result.emulator,
        "Processor": hardware["model_name"],
        "Core class": ", ".join(result.core_classes) or hardware.get("core_class") or "all cores alike",
        "Reached by": result.plan.get("way"),
        "Virtual machine": {True: virtual["product"] or "yes", False: "no"}.get(virtual["hypervisor"]),
        "System": f"{kernel['os']} {kernel['release'] or ''}".strip(),
        "Clock source": kernel["clock_source"],
        "Governor": fingerprint["power"]["governor"],
        "Compiler": ", ".join(str(part) for part in compiler if part),
    }


def _core(result: Result) -> dict[str, str | None]:
    core = result.core
    return {
        "Core": core.described.name if core.described else core.name,
        "Board": f"{core.board}, clock by its file {core.counted.part_clock_Hz} Hz" if core.board else None,
        "Part": f"{core.part_title} at {core.part[1] / 1e6:g} MHz" if core.part else None,
        "Emulator": result.emulator,
        "Compiler": result.compiler,
    }


def conditions(result: Result) -> Iterator[tuple[str, str | None]]:
    """What a run's times were measured under, a label and a value each; the same labels for every run."""
    known = dict(host(result))
    clock = result.clock
    wandered = None
    if clock.low_GHz is not None and clock.GHz is not None and clock.high_GHz is not None:
        wandered = f"{clock.GHz:.2f} GHz ({clock.low_GHz:.2f} to {clock.high_GHz:.2f})"
    with_number = result.estimates.filter(result.estimates["state"].is_in(["resolved", "unresolved"])).height
    kinds = sorted(result.estimates["time_evidence"].drop_nulls().unique())
    yield "Machine", known.get("Processor")
    yield "Clock, median (5 % to 95 %)", wandered
    yield "Instrument", _instrument(result)
    yield "Study", str(result.study["id"])
    yield "Evidence of times", ", ".join(kinds) or None
    yield "Cases with a number", f"{with_number:,} of {result.estimates.height:,}"
    yield "Processes", f"{result.processes}"
    yield "Clean batches", f"{100 * result.clean_share:.0f} %"
    yield "Begun", f"{begun(result):%-d %b %Y %H:%M}"
    yield "Run", result.id
    for label in (*SHOWN, "Probe, SHA-256", "wattlock"):
        yield label, known.get(label)


def begun(result: Result) -> datetime:
    """When the run began."""
    return datetime.fromisoformat(str(result.plan["created"]))


def _instrument(result: Result) -> str:
    if result.meter is None:
        card = result.plan["device"]
        return f"no meter; valued by the card {card}" if card else "no meter"
    return f"{result.meter['name']}: {result.meter['scope']}"


def processor(result: Result) -> str:
    """The processor or the core, as its maker writes it."""
    if "time" not in result.quantities:
        return result.core.title
    name = result.header["fingerprint"]["hardware"]["model_name"]
    return str(name or f"a processor without a name ({result.isa})")


def about(result: Result, device: str | None) -> About:
    """What the run was: what stands in each row that is exported, and in the comments of a table.

    * `device`: the card that was asked for.
    """
    plan, fingerprint = result.plan, result.header["fingerprint"]
    named = {"run": result.id, "study": result.study["id"], "created": plan["created"]}
    built = {"probe_sha256": plan["probe_sha256"], "wattlock": plan["wattlock"]}
    if "time" not in result.quantities:
        core = result.core
        part, clock_Hz = core.part or (None, None)
        return {
            **named,
            "core": core.name,
            "board": core.board,
            "part": part,
            "part_clock_Hz": str(clock_Hz) if clock_Hz else None,
            "isa": result.isa,
            "emulator": result.emulator,
            "compiler": result.compiler,
            **built,
            "joules_by": device,
        }
    return {
        "run": named.pop("run"),
        "run_is_valid": not result.reasons,
        "self_checks": validity.overall(result.verdicts),
        **named,
        "processor": fingerprint["hardware"]["model_name"],
        "isa": result.isa,
        "compiler": fingerprint["build"]["rustc"],
        **built,
        "joules_by": device or (result.meter["name"] if result.meter else plan["device"]),
    }
