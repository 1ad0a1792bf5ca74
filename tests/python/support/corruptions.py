"""Sealed runs with one thing changed in one file, and every verb that takes a run.

As a program (`make corrupt`) it tries the full product and prints what came of it; it ends with 1 where a number
changed in silence or a verb ended with a bug.
"""

import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import scripted_probe
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import StoreError
from wattlock.run.begin import measure

FILES = ("plan.jsonl", "batches.parquet", "headers.jsonl", "SHA256SUMS")
OFFSETS = 300
JOULES = ("--device", "x86-server-assumed", "--allow-assumed")
PARTS = ("--radio", "intel-5300", "--battery", "laptop-57wh")
VERBS = {
    "run": ["run", "--resume", "RUN"],
    "show": ["show", "RUN", "--format", "json"],
    "report": ["report", "RUN", "--out", "look.html"],
    "compare": ["compare", "RUN", "RUN", "--format", "json"],
    "export": ["export", "RUN", "--format", "json"],
    "papers": ["papers", "--run", "RUN", "--out", "page.html"],
    "energy": ["energy", "--recording", "none.csv", "--run", "RUN"],
    "battery": ["battery", "cgr18650da", "--run", "RUN", *JOULES, "--format", "json"],
    "link": ["link", "adhoc-open", "--run", "RUN", "--cipher", "aes128-gcm", *JOULES, "--format", "json"],
    "explain": ["explain", "elminaam-wlan", "--run", "RUN", "--format", "json"],
    "calibrate": ["calibrate", "--run", "RUN"],
    "costs": ["costs", "--from", "RUN"],
    "push": ["push", "RUN", "--to", "http://127.0.0.1:9"],
    "advise": ["advise", "--message", "64B", "--every", "1s", "--run", "RUN", *JOULES, *PARTS, "--format", "json"],
}
"""A command line of each verb that takes a run."""


def sealed_run(place: Path) -> Path:
    """Measures a small run in virtual time in `place`, which is the working folder then."""
    os.chdir(place)
    study = study_of(payload_B=[64, 1024])
    study["grid"].append(
        {"cipher": ["aes128-gcm", "aes256-gcm"], "operation": ["seal", "open"], "payload_B": [64, 1024]}
    )
    write_study(place / "virtual.toml", study)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTLOCK_PROBE", str(scripted_probe.install(place / "probe")))
        measure("virtual.toml", out="run")
    return place / "run"


def damages(content: bytes, count: int, seed: str) -> Iterator[tuple[str, bytes]]:
    """So many changes of a file at drawn places: mostly a bit, else bytes that are gone, put in or cleared."""
    draw = random.Random(seed)
    for _ in range(count):
        at = draw.randrange(len(content))
        kind = draw.choices(["bit", "cut", "more", "clear"], weights=[7, 1, 1, 1])[0]
        changed = {
            "bit": content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :],
            "cut": content[:at],
            "more": content[:at] + draw.randbytes(draw.randint(1, 20)) + content[at:],
            "clear": content[:at] + bytes(len(content[at : at + 16])) + content[at + 16 :],
        }[kind]
        if changed != content:
            yield f"{kind} at {at}", changed


def answered(verb: str, run: Path) -> tuple[int, str]:
    """What a verb says of a run: its exit code and what it printed or wrote."""
    for page in (Path("look.html"), Path("page.html")):
        page.unlink(missing_ok=True)
    said, ignored = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(ignored):
        code = cli.answer([str(run) if word == "RUN" else word for word in VERBS[verb]])
        said.flush()
    return code, said.buffer.getvalue().decode()


def outcome(verb: str, run: Path, sound: tuple[int, str]) -> str:
    """What came of a verb on a damaged run: refused, the same, silent (other numbers) or a bug."""
    code, said = answered(verb, run)
    if code == StoreError.exit_code and not said:
        return "refused"
    if code == cli.BUG:
        return "bug"
    return "same" if (code, said) == sound else "silent"


def main() -> int:
    """Tries all files, places and verbs; gives 1 where one of them came out as it must not."""
    with tempfile.TemporaryDirectory() as place:
        run = sealed_run(Path(place))
        counts: Counter[tuple[str, str, str]] = Counter()
        for verb, words in VERBS.items():
            sound = answered(verb, run)
            for file in FILES:
                content = (run / file).read_bytes()
                for what, changed in damages(content, OFFSETS, file):
                    (run / file).write_bytes(changed)
                    came = outcome(verb, run, sound)
                    counts[verb, file, came] += 1
                    if came in {"silent", "bug"}:
                        print(f"{came}: {' '.join(words)}, {file}, {what}")  # noqa: T201 - its result
                (run / file).write_bytes(content)
            described = ", ".join(f"{counts[verb, file, 'refused']} + {counts[verb, file, 'same']}" for file in FILES)
            print(f"{verb}: refused + same, by file: {described}", flush=True)  # noqa: T201 - its result
        shutil.rmtree(run)
    totals = {
        came: sum(n for key, n in counts.items() if key[2] == came) for came in ("refused", "same", "silent", "bug")
    }
    print(f"{counts.total()} damaged runs: {totals}")  # noqa: T201 - its result
    return int(totals["silent"] + totals["bug"] > 0)


if __name__ == "__main__":
    sys.exit(main())
