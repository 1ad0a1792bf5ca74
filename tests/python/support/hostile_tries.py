"""Carries a hostile pack through the door of a lab, as an upload is, but for the process that reads it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from support.hostile_packs import Hostile
from wattlock.errors import TransferRefused
from wattlock.lab import child, collection
from wattlock.lab.collection import RUNS, Collection
from wattlock.lab.database import RunRow, session
from wattlock.study.cases import sha256


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has runs read in this process, as the child reads them: a thousand children take too long to start."""
    monkeypatch.setattr(collection, "entry_by_child", _entry)


def _entry(folder: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(json.dumps(child.main(folder)))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        told = {"error": "Polars gave up", "hint": child.UNREAD}  # a child would end without a word
    if "error" in told:
        raise TransferRefused(told["error"], hint=told["hint"])
    told["estimates"] = base64.b64decode(told["estimates"])
    return told


def is_taken(lab: Collection, sent: Hostile) -> bool:
    """Sends a pack; gives whether the lab has that run now.

    Raises AssertionError where a refusal left something, where what was taken is not what was announced, where a pack
    that is none was taken, or where the lab failed otherwise than by a refusal in words.
    """
    before = sorted((lab.data / RUNS).iterdir())
    count = _indexed(lab)
    refusal, is_new = None, False
    try:
        with lab.arriving() as place:
            (place / "pack").write_bytes(sent.content)
            is_new = lab.admit(place / "pack", sent.announced)
    except TransferRefused as error:
        refusal = error
    if refusal is None:
        assert sent.is_forged, f"{sent.kind}: was taken"
        assert sha256(lab.data / RUNS / sent.announced / "SHA256SUMS") == sent.announced, sent.kind
    else:
        assert refusal.message, sent.kind
        assert refusal.hint, sent.kind
        assert str(lab.data) not in refusal.message, (sent.kind, refusal.message)
        assert sorted((lab.data / RUNS).iterdir()) == before, sent.kind
    assert _indexed(lab) == count + is_new, sent.kind
    assert list((lab.data / "incoming").iterdir()) == [], sent.kind
    return is_new


def _indexed(lab: Collection) -> int:
    with session(lab.engine) as opened:
        return opened.scalar(select(func.count()).select_from(RunRow)) or 0
