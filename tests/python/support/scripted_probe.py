"""A probe in virtual time: it answers plans with costs that a test wrote down, without measuring and without waiting.

It is a program of its own, started like the real one. What it shall do stands in `script.json` beside it and may change
between processes; what it was asked stands in `requested.jsonl`.

Keys of the script; those by case or process are text, as JSON has it:

* `canaries`: canaries a call, by case. `between`: spread (log) of its processes, by case. `segments`: by case.
* `cut_B`: bytes of a segment by case, as the header has it.
* `fails`: error by case. `dies`: a signal's name or an exit code, by process, after half of its batches.
* `ends`: error by case of a user's library that ends the process of which it is a case, in its middle.
* `says`: a line in place of all records after the header, by process. `keeps_the_end`: processes without an end record.
* `waits`: processes that write half of their batches and then wait until nobody reads them any more.
* `refuses_two`: why a second library of the user's own can't be loaded beside the first.
* `absent`: those of the providers that are not on this machine.
* `providers`: what the catalogue has beside rustcrypto; a user's own libraries have every cipher.
* `loud`: processors with a neighbour that spoils every batch. `bursts`: what a burst takes by process, in ppm of a
  canary. `canary_cycles`: null where the core is not known. `processor`, `lto`: as the fingerprint has them.
* `emulator`: by what one was noticed; `core_classes`, `processors`: as the facts have them.
* `kinds`: by kind of core how many times the ticks its canary takes, and how many times the canaries a call does; a
  header says the kind of the processor that it was pinned to, `claims` another one.
"""

import hashlib
import io
import json
import os
import platform
import random
import signal
import stat
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

CALLS = 100
CANARY_TICKS = 30_000
CANARY_CYCLES = 36_000
TICKS_PER_SECOND = 2_500_000_000
QUIET_PPM = 366_000
WITHIN = 0.001
HALVES = 4
DEFAULT_BETWEEN = 0.0005

Plan = list[dict[str, Any]]


def install(folder: Path, **script: Any) -> Path:
    """Writes the program into `folder` with what it shall do; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "wattlock-probe"
    here = str(Path(__file__).parent)
    program.write_text(
        f"#!{sys.executable} -SE\n"
        f"import sys\nsys.path.insert(0, {here!r})\nsys.dont_write_bytecode = True\n"
        f"import scripted_probe\nsys.exit(scripted_probe.main({str(folder)!r}, sys.argv[1:]))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    direct(program, **script)
    return program


def direct(program: Path, **script: Any) -> None:
    """Gives a program something else to do from now on."""
    program.with_name("script.json").write_text(json.dumps(script))


def requested(program: Path) -> list[Plan]:
    """The plans that a program was given, in their order."""
    path = program.with_name("asked.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def truth(case: int) -> float:
    """Canaries a call of a case of which the script says nothing."""
    return 0.01 * (case + 1)


def main(folder: str, words: list[str]) -> int:
    """Answers one verb; gives the exit code."""
    script = json.loads(Path(folder, "script.json").read_text())
    if words[0] == "supervise":
        length_B = int(sys.stdin.buffer.readline())
        sys.stdin = io.StringIO(sys.stdin.buffer.read(length_B).decode())
        words = words[words.index("--") + 1 :]
    if words[0] == "facts":
        print(json.dumps(_facts(folder, script)))  # noqa: T201
        return 0
    if words[0] == "catalogue":
        own = [word.partition("=")[0] for before, word in pairwise(words) if before == "--library"]
        providers = ["rustcrypto", *script.get("providers", []), *own]
        ciphers = words[words.index("--cipher") + 1 :]
        rows = [_catalogue_row(cipher, provider) for cipher in ciphers for provider in providers]
        for row in rows:
            if row["provider"] in script.get("absent", []):
                row |= {"available": False, "reason": "not here", "broken": row["provider"] in own}
            if row["provider"] in own[1:] and "refuses_two" in script:
                row |= {"available": False, "reason": script["refuses_two"], "broken": True}
        print(json.dumps(rows))  # noqa: T201
        return 0
    plan: Plan = [json.loads(line) for line in sys.stdin]
    with Path(folder, "asked.jsonl").open("a") as file:
        file.write(json.dumps(plan) + "\n")
    return _measure(plan, script)


def _measure(plan: Plan, script: dict[str, Any]) -> int:
    process = plan[0]["process"]
    cases = [line for line in plan if line["kind"] == "case"]
    failed = {case["case"] for case in cases if str(case["case"]) in script.get("fails", {})}
    sound = [case for case in cases if case["case"] not in failed]
    _say(_header(plan[0], sound, script))
    for number in sorted(failed):
        error = script["fails"][str(number)]
        _say({"kind": "failure", "process": process, "case": number, "error": error, "follows": "skip_case"})
    if str(process) in script.get("says", {}):
        sys.stdout.write(script["says"][str(process)] + "\n")
        return 0
    batches = list(_batches(plan[0], sound, script))
    dies, waits = script.get("dies", {}).get(str(process)), process in script.get("waits", [])
    for batch in batches[: len(batches) // 2] if dies is not None or waits else batches:
        _say(batch)
    ends = [case["case"] for case in sound if str(case["case"]) in script.get("ends", {})]
    if ends:
        error = script["ends"][str(ends[0])]
        _say({"kind": "failure", "process": process, "case": ends[0], "error": error, "follows": "end_run"})
        return 0
    sys.stdout.flush()
    if waits:
        _wait_for_nobody()
    if isinstance(dies, str):
        os.kill(os.getpid(), getattr(signal, dies))
    elif dies is not None:
        sys.stderr.write("error: the script says so\nhint: read it\n")
        return int(dies)
    if process not in script.get("keeps_the_end", []):
        _say({"kind": "end", "process": process, "batches": len(batches), "energy_blocks": 0, "wall_ns": 5})
    return 0


def _say(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")


def _wait_for_nobody() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.02)


def _catalogue_row(cipher: str, provider: str = "rustcrypto") -> dict[str, Any]:
    family, mode = cipher.split("-", 1)[0], cipher.rsplit("-", 1)[-1]
    mode = "aead" if mode in {"gcm", "poly1305"} else mode
    row: dict[str, Any] = {
        "id": cipher,
        "card": cipher,
        "family": family,
        "mode": mode,
        "provider": provider,
        "path": "fixsliced",
        "of": None,
    }
    row |= {"version": "1", "timing": "constant", "proof": "none", "source": "none", "available": True, "reason": None}
    row |= {"file": None, "file_sha256": None, "tag_bits": 128 if mode == "aead" else 0}
    return row | {"key_bits": 128, "effective_bits": 128, "block_bits": 128, "rounds": None, "iv_B": 16}


def _header(plan: dict[str, Any], cases: Plan, script: dict[str, Any]) -> dict[str, Any]:
    process = plan["process"]
    found = script.get("bursts", {}).get(str(process), QUIET_PPM)
    return {
        "kind": "header",
        "schema": plan["schema"],
        "process": process,
        "seed": plan["seed"],
        "fingerprint": _fingerprint(script),
        "ticks_per_second": TICKS_PER_SECOND,
        "canary_cycles": script.get("canary_cycles", CANARY_CYCLES),
        **{name: value for name, value in _kind(plan, script).items() if name == "canary_cycles"},
        "quiet_ppm": min(found, plan["quiet_ppm"] or found),
        "timer_ticks": 50,
        "cpu_timer_ns": 200,
        "pinned_cpu": plan["cpu"],
        "cases": [_case(case, script) | _core_class(plan, script) for case in cases],
    }


def _core_class(plan: dict[str, Any], script: dict[str, Any]) -> dict[str, str | None]:
    """Of the processor that a process is pinned to."""
    kinds = [one["class"] for one in script.get("core_classes", []) if plan["cpu"] in one["processors"]]
    return {"core_class": script.get("claims", kinds[0] if kinds else None)}


def _kind(plan: dict[str, Any], script: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = script.get("kinds", {}).get(_core_class(plan, script)["core_class"], {})
    return found


def _facts(folder: str, script: dict[str, Any]) -> dict[str, Any]:
    program = Path(folder, "wattlock-probe").read_bytes()
    usable = script.get("processors", sorted(os.sched_getaffinity(0)))
    alike = [{"class": None, "part": None, "capacity": None, "processors": usable}]
    build = {"version": "0", "isa": platform.machine(), "executable_sha256": hashlib.sha256(program).hexdigest()}
    return {
        "schema": 2,
        "build": build,
        "kernel": {"os": "none"},
        "processors": usable,
        "core_classes": script.get("core_classes", alike),
        "clocks": {"counter": "virtual", "ticks_per_second": TICKS_PER_SECOND, "unix_ns": 0},
        "meter_roots": [],
        "emulator": script.get("emulator"),
    }


def _fingerprint(script: dict[str, Any]) -> dict[str, Any]:
    build = dict.fromkeys(("rustc", "flags", "commit", "lock_sha256"), "none")
    build |= {"opt_level": "3", "lto": script.get("lto", "fat")}
    return {
        "hardware": {"model_name": script.get("processor", "A core in virtual time")},
        "virtualisation": {"hypervisor": None, "product": None, "emulator": script.get("emulator")},
        "kernel": {"os": "none", "release": None, "clock_source": "virtual"},
        "power": {"governor": None},
        "load": {},
        "build": build | {"version": "0", "isa": platform.machine(), "dirty": False},
    }


def _case(case: dict[str, Any], script: dict[str, Any]) -> dict[str, Any]:
    row = _catalogue_row(case["cipher"])
    resolved = {
        name: row[name] for name in ("family", "mode", "path", "of", "version", "key_bits", "block_bits", "rounds")
    }
    segments = script.get("segments", {}).get(str(case["case"]), 1)
    planned = {name: value for name, value in case.items() if name not in ("kind", "visits", "cut_B", "pair")}
    cut_B = script.get("cut_B", {}).get(str(case["case"]))
    return {**planned, **resolved, "tag_bits": None, "calls": CALLS, "segments": segments, "segment_B": cut_B}


def _batches(plan: dict[str, Any], cases: Plan, script: dict[str, Any]) -> Iterator[dict[str, Any]]:
    process, kind = plan["process"], _kind(plan, script)
    canary = round(CANARY_TICKS * kind.get("ticks", 1))
    clean = plan["cpu"] not in script.get("loud", [])
    burst = script.get("bursts", {}).get(str(process), QUIET_PPM) * canary // (1_000_000 if clean else 800_000)
    edges: dict[str, Any] = {f"canary_{side}_ticks": canary for side in ("before", "after")}
    edges |= {f"burst_{side}_ticks": burst for side in ("before", "after")}
    edges |= {"clean": clean, "cause": None if clean else "neighbour"}
    for case in cases:
        number = case["case"]
        draw = random.Random(f"{process} {number}")
        between = script.get("between", {}).get(str(number), DEFAULT_BETWEEN if case["role"] == "study" else 0.0)
        here = _cost(case, script) * _more(case, kind) * (1 + draw.gauss(0, between))
        segments = script.get("segments", {}).get(str(number), 1)
        halves = HALVES if segments == 1 and plan["rounds"] else 0
        # A plan without rounds asks for the header alone.
        for round_ in range(case["visits"] + halves if plan["rounds"] else 0):
            calls = CALLS // 2 if round_ >= case["visits"] else CALLS
            for segment in range(segments):
                ticks = round(here / segments * (1 + draw.gauss(0, WITHIN)) * calls * canary)
                # A half batch has a round in which whole ones are measured as well.
                when = round_ % plan["rounds"]
                where = {"case": number, "process": process, "round": when, "attempt": 0, "segment": segment}
                took = {"calls": calls, "wall_ns": ticks * 2 // 5, "cpu_ns": ticks * 2 // 5, "ticks": ticks}
                yield {"kind": "batch", **where, "offset_B": segment, **took, **edges}


def _more(case: dict[str, Any], kind: dict[str, Any]) -> float:
    """How many times the canaries a case of the study takes on this kind of core."""
    return float(kind.get("canaries", 1)) if case["role"] == "study" else 1.0


def _cost(case: dict[str, Any], script: dict[str, Any]) -> float:
    """Canaries a call; the self-checks' are what they have to be."""
    role = {"reference": 0.5, "aa_test": 0.5, "injected_slowdown": 0.5 * 61 / 60, "empty": 0.0005}
    by_case: dict[str, float] = script.get("canaries", {})
    return by_case.get(str(case["case"]), role.get(case["role"], truth(case["case"])))
