"""A probe that counts on no emulator: it says again what stands in a run that counted, as a program of its own.

What it shall do stands in `script.json` beside it; what it was asked stands in `asked.jsonl`. Keys of the script:

* `run`: header, cases and counts of the run. `real`: the probe that is asked for the catalogue.
* `emulator`: what the emulator says of itself, in place of the run's. `missing`: what it complains of in place of all.
* `waits`: a cipher whose process waits until it is killed; the first time alone, where `once` is set.
"""

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

Record = dict[str, Any]
SAME = ("cipher", "provider", "operation", "payload_B")


def install(folder: Path, real: Path, run: Record, **script: Any) -> Path:
    """Writes the program into `folder` with what it shall do; gives its path."""
    folder.mkdir(parents=True)
    program = folder / "wattlock-probe"
    here = str(Path(__file__).parent)
    program.write_text(
        f"#!{sys.executable} -SE\n"
        f"import sys\nsys.path.insert(0, {here!r})\nsys.dont_write_bytecode = True\n"
        f"import counting_probe\nsys.exit(counting_probe.main({str(folder)!r}, sys.argv[1:]))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    program.with_name("script.json").write_text(json.dumps({"run": run, "real": str(real), **script}))
    return program


def asked(program: Path) -> list[list[Record]]:
    """The plans that a program was given, those without a case left out."""
    path = program.with_name("asked.jsonl")
    plans = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [plan for plan in plans if len(plan) > 1]


def waiting(program: Path) -> tuple[int, int] | None:
    """The process that waits, and who started it; null where none does yet."""
    path = program.with_name("waits.json")
    return tuple(json.loads(path.read_text())) if path.exists() else None


def records(plan: list[Record], run: Record) -> list[Record]:
    """The header with the cases of a plan, their counts, and the end; a failure where the run has no such case."""
    head = plan[0]
    known = {case["case"]: case for case in run["cases"]}
    counts = {_key(known[count["case"]]): (known[count["case"]], count) for count in run["counts"]}
    header = run["header"] | {"process": head["process"], "seed": head["seed"], "cases": []}
    found: list[Record] = []
    for line in (line for line in plan if line["kind"] == "case"):
        number = {"case": line["case"], "process": head["process"]}
        if _key(line) not in counts:
            found.append({"kind": "failure", **number, "error": "no image holds it", "follows": "skip_case"})
            continue
        case, count = counts[_key(line)]
        header["cases"].append(case | {"case": line["case"]})
        found.append(count | number)
    end = {"kind": "end", "process": head["process"], "batches": 0, "energy_blocks": 0, "wall_ns": 1}
    return [header, *found, end]


def _key(case: Record) -> tuple[Any, ...]:
    return tuple(case[name] for name in SAME)


def main(folder: str, words: list[str]) -> int:
    """Answers one verb; gives the exit code."""
    script = json.loads(Path(folder, "script.json").read_text())
    if words[0] != "board":
        os.execv(script["real"], [script["real"], *words])  # noqa: S606 - the real one has the catalogue
    if "missing" in script:
        sys.stderr.write(script["missing"])
        return 10
    plan = [json.loads(line) for line in sys.stdin]
    with Path(folder, "asked.jsonl").open("a") as file:
        file.write(json.dumps(plan) + "\n")
    _wait(folder, script, plan)
    said = records(plan, script["run"])
    if "emulator" in script:
        said[0]["fingerprint"]["virtualisation"]["emulator"] = script["emulator"]
    sys.stdout.write("".join(json.dumps(record) + "\n" for record in said))
    return 0


def _wait(folder: str, script: Record, plan: list[Record]) -> None:
    mark = Path(folder, "waits.json")
    asked_for = any(line["kind"] == "case" and line["cipher"] == script.get("waits") for line in plan)
    if not asked_for or (mark.exists() and script.get("once")):
        return
    trial = mark.with_suffix(".new")
    trial.write_text(json.dumps([os.getpid(), os.getppid()]))
    trial.rename(mark)
    time.sleep(600)
