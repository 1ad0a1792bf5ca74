"""Which mutants do the tests notice? `python tools/mutants.py [ROOM ...]`, which `make mutants` calls.

A seeded sample of 60 mutants a room (SEED and SAMPLE of the environment change both): of crates by cargo-mutants, of
Python by cosmic-ray. What was tried stays in
`mutants/`, so that a run that was stopped goes on; the table is written to `docs/results/mutants.md`. `make mutants`
installs cosmic-ray; cargo-mutants comes by `cargo install --locked cargo-mutants`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).parents[1]
STATE = TREE / "mutants"
RESULT = TREE / "docs" / "results" / "mutants.md"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
SEED, SAMPLE = int(os.environ.get("SEED", "20261122")), int(os.environ.get("SAMPLE", "60"))
AIM = 0.90
TIMEOUT_S = 180
# Of crates, whose tests say how long they take; this is for a busy machine.
LEAST_TIMEOUT_S = 60


@dataclass(frozen=True)
class Crate:
    """A room in Rust: its package, its files, and the words behind `cargo test` that run its tests."""

    package: str
    files: str
    tests: tuple[str, ...] = ("--tests",)


@dataclass(frozen=True)
class Modules:
    """A room in Python: its folder or file below `python/wattlock`, and its tests below `tests/python`.

    * `slow`: how the tests that are left out begin.
    """

    path: str
    tests: tuple[str, ...]
    slow: tuple[str, ...] = ()


# What is worked by hand goes first: it is quick, and notices most.
OF_ADVICE = ("worked_*", "floors", "days", "advise", "[cfiw]*", "savings")
SLOW_ADVICE = ("advise/test_days.py::test_95_percent", "advise/test_days.py::test_days_of_two_seeds")
OF_PROOF = (
    "--lib",
    *("--test=" + name for name in ("proof", "proof_parts", "proof_asked", "aead_proof")),
    "--",
    "--skip=kernels",
)
ROOMS: dict[str, Crate | Modules] = {
    "engine": Crate("wattlock-engine", "crates/engine/src/**"),
    "air": Crate("wattlock-air", "crates/air/src/**"),
    "frames": Crate("wattlock-frames", "crates/frames/src/**"),
    "proof": Crate("wattlock-ciphers", "crates/ciphers/src/proof/**", OF_PROOF),
    "meters": Crate("wattlock-meters", "crates/meters/src/**"),
    "analysis": Modules("analysis", ("analysis/test_[!e]*.py", "analysis/test_estimate.py", "run/test_blocks.py")),
    "energy": Modules("energy", ("energy/test_[!e]*.py", "energy/test_energy.py")),
    "advise": Modules(
        "advise",
        (*(f"advise/test_{name}.py" for name in OF_ADVICE), "security/test_status.py", "advise/test_reruns.py"),
        SLOW_ADVICE,
    ),
    "papers": Modules("papers", ("papers/test_judges_*.py", "papers/test_[!j]*.py", "papers/test_judges.py")),
    "store": Modules("store", ("store/test_*.py",)),
    "study": Modules("study", ("study/test_*.py",)),
    "link": Modules("link", ("link/test_[!n]*.py", "cli/test_link*.py")),
    "run": Modules("run", ("run/test_*.py",)),
    "report": Modules("report", ("report/test_[!p]*.py", "report/test_p*.py")),
    "lab": Modules("lab", ("lab/test_[!sm]*.py", "lab/test_[sm]*.py")),
}


@dataclass(frozen=True)
class Outcome:
    """One mutant and what became of it: `noticed`, `missed`, or `unviable` where it does not build."""

    name: str
    what: str


def of_crate(name: str, room: Crate) -> list[Outcome]:
    """Carries out the sample of a room in Rust. Raises CalledProcessError where cargo-mutants can't begin."""
    words = ["cargo", "mutants", "--package", room.package, "--file", room.files]
    listed = subprocess.run([*words, "--list", "--json"], cwd=TREE, capture_output=True, text=True, check=True)
    chosen = sample([mutant["name"] for mutant in json.loads(listed.stdout)])
    found = settled(name)
    left = [mutant for mutant in chosen if mutant not in found]
    if left:
        out = STATE / name
        out.mkdir(parents=True, exist_ok=True)
        further = ["--profile", "mutants", "--minimum-test-timeout", str(LEAST_TIMEOUT_S), "--no-shuffle"]
        further += ["--jobs", "1", "--test-package", room.package, "--output", str(out)]
        only = [word for mutant in left for word in ("--re", f"^{re.escape(mutant)}$")]
        # What the crates depend on is built once: of the copy all files are new, so nothing of a mutant's stays.
        built = {**os.environ, "CARGO_TARGET_DIR": str(STATE / "target")}
        # It ends with 2 where mutants are missed and with 3 where some took too long: both are results.
        done = subprocess.run([*words, *further, *only, "--", *room.tests], cwd=TREE, env=built, check=False)
        if done.returncode not in (0, 2, 3):
            raise subprocess.CalledProcessError(done.returncode, words)
        found |= of_run(out / "mutants.out")
    return [Outcome(mutant, found[mutant]) for mutant in chosen]


def settled(name: str) -> dict[str, str]:
    """What earlier runs of a room in Rust noticed or could not build, and need not try again."""
    file = STATE / f"{name}.json"
    found = dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
    found |= of_run(STATE / name / "mutants.out")
    return {mutant: what for mutant, what in found.items() if what != "missed"}


def of_run(folder: Path) -> dict[str, str]:
    """The mutants that cargo-mutants tried, to the end or until it was stopped, and what became of each."""
    kinds = {"caught": "noticed", "timeout": "noticed", "missed": "missed", "unviable": "unviable"}
    files = {folder / f"{kind}.txt": what for kind, what in kinds.items()}
    return {
        mutant: what
        for file, what in files.items()
        if file.is_file()
        for mutant in file.read_text(encoding="utf-8").splitlines()
    }


def of_modules(name: str, room: Modules) -> list[Outcome]:
    """Carries out the sample of a room in Python, on a copy of the tree, whose files it changes.

    What was noticed before stands while the room's files stay as they are; what was missed is tried again. Raises
    CalledProcessError where the tests fail by themselves.
    """
    folder = STATE / name
    copy, config, session, mark = (folder / part for part in ("tree", "config.toml", "session.sqlite", "room.sha256"))
    if not mark.is_file() or mark.read_text(encoding="utf-8") != digest(room):
        shutil.rmtree(folder, ignore_errors=True)
    # Always anew: a run that was stopped may have left its last mutant there.
    shutil.rmtree(copy, ignore_errors=True)
    for part in ("python", "tests", "pyproject.toml", "crates/providers/include", "examples", "docs", "README.md"):
        source = TREE / part
        (copy / part).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy / part, symlinks=True)
        else:
            shutil.copy(source, copy / part)
    below = Path("tests/python")
    files = [path.relative_to(TREE) for glob in room.tests for path in sorted((TREE / below).glob(glob))]
    tests = " ".join(str(file) for file in dict.fromkeys(files))
    tests += "".join(f" --deselect={below}/{test}" for test in room.slow)
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider {tests}"
    # Tests that fail by themselves, or that a busy machine slows down, would notice everything.
    start_s = time.monotonic()
    subprocess.run(shlex.split(command), cwd=copy, check=True)
    timeout_s = max(TIMEOUT_S, 4 * (time.monotonic() - start_s))
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "python/wattlock/{room.path}"\ntimeout = {timeout_s:.0f}.0\n'
        f'excluded-modules = []\ntest-command = "{command}"\n\n[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    if not mark.is_file():
        subprocess.run([cosmic_ray(), "init", str(config), str(session)], cwd=copy, check=True)
        thin(session)
        mark.write_text(digest(room), encoding="utf-8")
    with sqlite3.connect(session) as database:
        database.execute("delete from work_results where lower(test_outcome) like '%survived'")
    subprocess.run([cosmic_ray(), "exec", str(config), str(session)], cwd=copy, check=True)
    with sqlite3.connect(session) as database:
        rows = database.execute(
            "select module_path, start_pos_row, operator_name, occurrence, test_outcome, worker_outcome "
            "from mutation_specs join work_results using (job_id) order by job_id"
        ).fetchall()
    outcomes = []
    for path, row, operator, occurrence, tested, worked in rows:
        what = {"survived": "missed", "killed": "noticed"}.get(
            str(tested).lower().replace("testoutcome.", ""), "noticed"
        )
        if str(worked).lower().removeprefix("workeroutcome.") in {"skipped", "no_test", "no-test"}:
            what = "unviable"
        outcomes.append(Outcome(f"{path}:{row}: {str(operator).removeprefix('core/')} {occurrence}", what))
    return outcomes


def digest(room: Modules) -> str:
    """SHA-256 of a room's files and their names."""
    path = TREE / "python" / "wattlock" / room.path
    found = hashlib.sha256(f"{SEED} {SAMPLE}".encode())
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        found.update(str(file.relative_to(TREE)).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def thin(session: Path) -> None:
    """Leaves the sample in a session: places in the code are drawn, and of each one of its mutants.

    A `|` is left alone: it mostly stands in types, where every change breaks the import.
    """
    with sqlite3.connect(session) as database:
        rows = database.execute(
            "select job_id, module_path, start_pos_row, start_pos_col, operator_name, occurrence from mutation_specs"
        )
        places: dict[str, list[tuple[str, str]]] = {}
        for job, path, row, column, operator, occurrence in rows:
            if "BitOr" not in operator:
                places.setdefault(f"{path}:{row:05}:{column:03}", []).append((f"{operator} {occurrence}", job))
        draw = random.Random(SEED)  # noqa: S311 - a sample, no secret
        kept = [draw.choice(sorted(places[place]))[1] for place in sample(sorted(places))]
        marks = ",".join("?" * len(kept))
        for table in ("mutation_specs", "work_items"):
            database.execute(f"delete from {table} where job_id not in ({marks})", kept)  # noqa: S608 - names of ours


def sample(names: list[str]) -> list[str]:
    """The same names for the same list, in its order."""
    chosen = random.Random(SEED).sample(names, min(SAMPLE, len(names)))  # noqa: S311 - a sample, no secret
    return sorted(chosen, key=names.index)


def cosmic_ray() -> str:
    """The program beside this Python."""
    return str(Path(sys.executable).with_name("cosmic-ray"))


def equivalent() -> dict[str, str]:
    """Mutants that no test can notice, each with its reason."""
    import tomllib

    return dict(tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))) if EQUIVALENT.is_file() else {}


def main(names: list[str]) -> int:
    """Carries out the rooms named, or all; writes the table; 1 where one is below the aim."""
    for name in names or list(ROOMS):
        room = ROOMS[name]
        outcomes = of_crate(name, room) if isinstance(room, Crate) else of_modules(name, room)
        (STATE / f"{name}.json").write_text(
            json.dumps([[one.name, one.what] for one in outcomes], indent=1), encoding="utf-8"
        )
    return int(bool(tabulate()))


def tabulate() -> list[str]:
    """Writes the table of all rooms that were carried out; the names of those below the aim."""
    known = equivalent()
    lines = []
    below = []
    for name in ROOMS:
        file = STATE / f"{name}.json"
        if not file.is_file():
            continue
        outcomes = [Outcome(*row) for row in json.loads(file.read_text(encoding="utf-8"))]
        viable = [one for one in outcomes if one.what != "unviable"]
        same = [one for one in viable if one.what == "missed" and one.name in known]
        missed = [one for one in viable if one.what == "missed" and one.name not in known]
        noticed = len(viable) - len(missed) - len(same)
        share = noticed / max(1, noticed + len(missed))
        if share < AIM:
            below.append(name)
        lines.append((name, len(outcomes), noticed, missed, same, share, outcomes))
    write(lines)
    return below


def write(rooms: list[tuple[str, int, int, list[Outcome], list[Outcome], float, list[Outcome]]]) -> None:
    """The table and the lists."""
    known = equivalent()
    text = [
        "# Mutants that the tests notice",
        "",
        f"`make mutants`: a sample of {SAMPLE} mutants a room by seed {SEED}, of crates by cargo-mutants, of Python by",
        "cosmic-ray. A mutant that does not build is none; one that no test can notice is named with its reason.",
        "Where tests were written for what this sample showed, as here, another seed is the harder question.",
        "",
        "| room | tried | noticed | missed | equivalent | share noticed |",
        "|---|---|---|---|---|---|",
    ]
    for name, tried, noticed, missed, same, share, _ in rooms:
        text.append(f"| {name} | {tried} | {noticed} | {len(missed)} | {len(same)} | {100 * share:.0f} % |")
    for name, _, _, missed, same, _, outcomes in rooms:
        text += ["", f"## {name}", ""]
        text += [f"- missed: `{one.name}`" for one in missed]
        text += [f"- equivalent: `{one.name}`: {known[one.name]}" for one in same]
        text += ["", "<details><summary>all that were tried</summary>", ""]
        text += [f"- {one.what}: `{one.name}`" for one in outcomes]
        text += ["", "</details>"]
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
