"""What the tests of runs in virtual time share: a study, its cases, its file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wattlock.study import Case

CIPHERS = ["aes128-cbc", "des-cbc", "rc2-128-cbc", "3des-cbc"]


def study_of(looks: Sequence[int] = (5, 8), **grid: Any) -> dict[str, Any]:
    table = {"cipher": CIPHERS, "operation": ["encrypt"], "payload_B": [64]} | grid
    words = {"id": "virtual", "title": "In virtual time", "question": "When does it stop?"}
    return {**words, "looks": list(looks), "grid": [{k: v for k, v in table.items() if v is not None}]}


def case_of(number: int, cipher: str, provider: str = "rustcrypto") -> Case:
    return Case(number, "study", cipher, provider, "encrypt", "ready", "raw", "hot", "independent", 64, "random")


def write_study(path: Path, study: Mapping[str, Any]) -> None:
    head = "\n".join(f"{key} = {json.dumps(value)}" for key, value in study.items() if key != "grid")
    grids = ["\n".join(f"{key} = {json.dumps(value)}" for key, value in grid.items()) for grid in study["grid"]]
    path.write_text("\n[[grid]]\n".join([head, *grids]) + "\n")
