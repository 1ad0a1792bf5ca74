"""Plans as somebody hostile seals them, drawn from a seed by the plan's own schema: odd, absent and nearly right."""

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.hostile_packs import ODD
from wattlock.definitions.constants import contract
from wattlock.store import run_folder, run_plan

Place = tuple[str | int, ...]
"""Where a field is: in which line of the plan, and its keys."""
GONE = object()
NEAR: Mapping[str, tuple[Any, ...]] = {
    "created": (
        *("zzz", "9999-99-99T00:00:00+00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-11-26"),
        *("2026-11-26T10:00:00", "2026-11-26T10:00:00+99:99", "2999-01-01T00:00:00+00:00", "٢026-11-26T10:00:00+00:00"),
    ),
    "id": ("..", ".", "a/../b", "-x", "x" * 201, "a b", "a\nb", "é"),
    "looks": ([], [0], [5, 5], [8, 5], [1001], [5.0], [10**9] * 3, [True], list(range(1, 1001))),
    "target_percent": (0, 1e-300, 1e-6, 100, 100.1),
    "smallest_effect_percent": (0, 1e-300, 1e-6, 100, 100.1),
    "device": ("evil", "x86-server-assumed", ""),
    "device_card": ({}, {"title": 5}, {"voltage": None}, {"power": {"busy": {"value": "NaN"}}}),
    "counted": ({}, {"core": "evil"}, {"core": "cortex-m4", "x": 1}, {"core": "cortex-m4", "part": "evil"}),
    "meter": ({}, {"name": "evil", "baseline": "evil"}, {"name": None, "baseline": None}),
    "battery": ({}, {"name": "b", "until_percent": 5, "repeats": None, "from_percent": None}),
    "libraries": ([{}], [{"name": "evil", "sha256": "0" * 64}], [None]),
    "joined": ({}, {"run": "x", "run_sums_sha256": "0" * 64, "recording_sha256": "0" * 64}),
    "probe_sha256": ("0" * 63, "G" * 64, "0" * 64),
    "payload_B": (2**40, 2**40 + 1, 2**62, 2**63 - 1),
    "core_class": ("little", "evil"),
    "role": ("reference", "aa_test", "empty", "evil"),
    "case": (0, 1, 10**6, 2**32 - 1),
    "cipher": ("evil", "aes128-cbc", "../../x"),
    "provider": ("evil", "rustcrypto"),
}


def hostile_plan(run: Path, place: Path, seed: int) -> tuple[Path, str]:
    """A copy of a run in `place` with one to three fields of its plan changed, sealed again, and what was changed."""
    draw = random.Random(seed)
    lines = [json.loads(line) for line in (run / run_plan.NAME).read_bytes().splitlines()]
    lines = [line for line in lines if line["kind"] != "sum"]
    changed = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        *above, last = draw.choice(list(_places(lines)))
        at: Any = lines
        for key in above:
            at = at[int(key)] if isinstance(at, list) else at.get(key, {})
        value = draw.choice((GONE, *ODD, *NEAR.get(str(last), ()) * 8))
        changed.append(f"{'.'.join(map(str, (*above, last)))} = {'gone' if value is GONE else repr(value)[:60]}")
        if value is GONE and isinstance(at, dict):
            at.pop(last, None)
        elif value is not GONE and isinstance(at, dict):
            at[last] = value
    shutil.copytree(run, place, copy_function=shutil.copy)
    try:
        (place / run_plan.NAME).write_bytes(b"".join(run_plan.encode(lines)))
    except UnicodeEncodeError:
        (place / run_plan.NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))
    run_folder.write_sums(place)
    return place, "; ".join(changed)


def _places(lines: list[dict[str, Any]]) -> Iterator[Place]:
    """All fields that the schema has of the first line, each several times, and those of the cases, each once."""
    first = [*_fields(run_plan.FIRST), ("schema",), ("kind",)]
    yield from ((0, *place) for place in first * 8)
    cases = [number for number, line in enumerate(lines) if line["kind"] in {"case", "cell"}]
    of_a_case = contract()["plan"]["$defs"]["PlannedCase"]["properties"]
    yield from ((number, name) for number in cases[:3] for name in (*of_a_case, "core_class", "kind"))


def _fields(spec: Mapping[str, Any]) -> Iterator[Place]:
    for name, inner in spec.get("properties", {}).items():
        yield (name,)
        yield from ((name, *place) for place in _fields(next(iter(inner.get("anyOf", [inner])))))
