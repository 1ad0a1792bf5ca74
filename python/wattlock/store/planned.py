"""What a plan may say: each of its fields by its type and range, as records are judged by their schema."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from wattlock.definitions.constants import contract
from wattlock.store.faults import fault_by

_TEXT = {"type": "string", "maxLength": 1000}
_MAY_BE_TEXT = {"type": ["string", "null"], "maxLength": 1000}
_SHA256 = {"type": "string", "pattern": "[0-9a-f]{64}"}
_PERCENT = {"type": "number", "minimum": 1e-6, "maximum": 100}
_LEVEL = {"type": ["integer", "null"], "minimum": 0, "maximum": 100}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**40}


def _object(needs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(needs), "properties": {**needs, **more}}


def _or_null(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [spec, {"type": "null"}]}


COUNTED = _object(
    {"core": _TEXT}, part=_MAY_BE_TEXT, board=_MAY_BE_TEXT, part_clock_Hz={**_COUNT, "type": ["integer", "null"]}
)
_LOOK = {"type": "integer", "minimum": 1, "maximum": 1000}
STUDY = _object(
    {
        "id": {"type": "string", "pattern": "[a-z0-9]+(-[a-z0-9]+)*", "maxLength": 64},
        "title": _TEXT,
        "looks": {"type": "array", "minItems": 1, "maxItems": 1000, "items": _LOOK},
        "target_percent": _PERCENT,
        "smallest_effect_percent": _PERCENT,
    }
)
"""What readers want of it; a run that goes on has all of it judged by the study's own model."""
FIRST = _object(
    {
        "id": {"type": "string", "pattern": "[A-Za-z0-9][A-Za-z0-9._-]*", "maxLength": 200},
        "created": {"type": "string", "pattern": "[0-9-]{10}T[0-9:]{8}([.][0-9]+)?([+-][0-9]{2}:[0-9]{2}|Z)"},
        "seed": {"type": "integer", "format": "uint64", "minimum": 0},
        "probe_sha256": _SHA256,
        "device": _MAY_BE_TEXT,
        "study": STUDY,
    },
    wattlock=_MAY_BE_TEXT,
    way=_MAY_BE_TEXT,
    libraries={"type": "array", "items": _object({"name": _TEXT, "sha256": _SHA256})},
    meter=_or_null(_object({"name": _TEXT, "baseline": _TEXT})),
    battery=_or_null(
        _object(
            {
                "name": _TEXT,
                "until_percent": _LEVEL,
                "repeats": {**_COUNT, "type": ["integer", "null"]},
                "from_percent": _LEVEL,
            },
            log_every_s={"type": "number", "minimum": 0, "maximum": 1e6},
        )
    ),
    device_card={"type": ["object", "null"]},
    counted=_or_null(COUNTED),
    joined=_or_null(_object({"run": _TEXT, "run_sums_sha256": _SHA256, "recording_sha256": _SHA256})),
)
INPUT = _object({"data": _TEXT, "size_B": _COUNT, "sha256": _SHA256})


@cache
def _schema() -> dict[str, Any]:
    types = contract()["plan"]["$defs"]
    case = types["PlannedCase"]
    sizes = dict.fromkeys(("payload_B", "aad_B"), _COUNT)
    texts = dict.fromkeys(("cipher", "provider", "data"), _TEXT)
    case = {**case, "properties": {**case["properties"], **sizes, **texts, "core_class": _MAY_BE_TEXT}}
    lists = {"inputs": {"items": INPUT}, "cases": {"items": case}}
    return {**FIRST, "properties": {**FIRST["properties"], **lists}, "$defs": types}


def fault(lines: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong with the lines of a plan: the field and the rule; null where nothing is."""
    first = lines[0]
    by_kind = {f"{kind}s": [line for line in lines[1:] if line["kind"] == kind] for kind in ("case", "input")}
    if (found := fault_by({**first, **by_kind}, _schema())) is not None:
        return found
    return next(_more(first, [line["case"] for line in by_kind["cases"]]), None)


def _more(first: Mapping[str, Any], numbers: Sequence[int]) -> Iterator[str]:
    """What no schema says."""
    try:
        datetime.fromisoformat(first["created"]).astimezone(UTC)
    except (ValueError, OverflowError):
        yield f"created is {first['created'][:40]!r}, which is no time"
    if (looks := first["study"]["looks"]) != sorted(set(looks)):
        yield "study.looks do not grow"
    if first["device"] is not None and first.get("device_card") is None:
        yield f"device is {first['device'][:40]!r}, and device_card is null"
    if unknown := sorted((first.get("counted") or {}).keys() - COUNTED["properties"].keys()):
        yield f"counted has {unknown[0][:40]!r}, which is none of its fields"
    if len(set(numbers)) < len(numbers):
        yield "cases have a number twice"
