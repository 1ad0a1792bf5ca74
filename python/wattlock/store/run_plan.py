"""`plan.jsonl`: what a run is meant to measure, validated as it is read; and where runs are found.

The last line is the sum of those before it: a plan that was changed is refused while its run is not sealed yet too.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wattlock.definitions import suggestion
from wattlock.definitions.constants import contract
from wattlock.errors import StoreError
from wattlock.store import bounds
from wattlock.store.bounds import NotARecord
from wattlock.store.record_schema import SCHEMA, check_version, judge_of
from wattlock.study import Case, InputFile, Study

NAME = "plan.jsonl"
MOST_B = 2**24
_CASE_FIELDS = fields(Case)


def run_id(study_id: str, created: datetime, seed: int) -> str:
    """The name of a run: study, minute in UTC, last 16 bits of the seed, as `first-look-20261121-0216-3f9a`."""
    return f"{study_id}-{created.astimezone(UTC):%Y%m%d-%H%M}-{seed & 0xFFFF:04x}"


def plan_lines(
    study: Study,
    cases: Sequence[Case],
    inputs: Sequence[InputFile] = (),
    *,
    id: str,  # noqa: A002 - the record's own name for it
    created: datetime,
    seed: int,
    probe_sha256: str,
    device: str | None,
) -> list[dict[str, Any]]:
    """The lines of a plan.

    * `cases`: as planned, those of the study and those that watch over it.
    * `inputs`: the user's files; their size and SHA-256 stand in the plan, never their path.
    * `created`: with its time zone; `device`: the card asked for, None without one.
    """
    first = {
        "kind": "study",
        "schema": SCHEMA,
        "id": id,
        "created": created.astimezone(UTC).isoformat(timespec="seconds"),
        "wattlock": _version(),
        "seed": seed,
        "probe_sha256": probe_sha256,
        "device": device,
        "study": study.model_dump(mode="json"),
    }
    given = (
        {"kind": "input", "data": input_file.label, "size_B": input_file.size_B, "sha256": input_file.sha256}
        for input_file in inputs
    )
    return [first, *given, *({"kind": "case", **asdict(case)} for case in cases)]


def encode(lines: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    """The lines of a plan as they stand in its file, and their sum."""
    digest = hashlib.sha256()
    for line in lines:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        digest.update(text)
        yield text
    yield _sum(digest.hexdigest())


def _sum(digest: str) -> bytes:
    return b'{"kind":"sum","sha256":"%s"}\n' % digest.encode()


def is_summed(text: bytes) -> bool:
    """Whether the last line of a plan is the sum of those before it."""
    end = text.rfind(b"\n", 0, -1) + 1
    return text[end:] == _sum(hashlib.sha256(text[:end]).hexdigest())


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's plan, unknown fields included.

    Raises StoreError where the folder is no run, its plan is damaged, too large or not as its schema has it, or of a
    schema version that is not known.
    """
    try:
        text = bounds.read(folder / NAME, MOST_B)
        bounds.weigh(text)
    except (FileNotFoundError, NotADirectoryError):
        what = f"is not a run: it has no {NAME}" if folder.exists() else "there is no such folder"
        raise StoreError(f"run {folder}: {what}", hint="`wattlock run first-look` makes a run under runs/") from None
    except NotARecord as error:
        raise _damaged(folder, error.index + 1, str(error)) from None
    except OSError as error:
        what = f"run {folder}: {NAME} can't be read: {error.strerror}"
        raise StoreError(what, hint="check its permissions") from error
    lines = [_line(folder, number, line) for number, line in enumerate(text.splitlines(), 1)]
    if not lines or lines[0].get("kind") != "study":
        raise _damaged(folder, 1, "does not hold the study")
    check_version(str(folder), lines[0].get("schema"))
    if (found := fault(lines)) is not None:
        raise StoreError(f"run {folder}: {NAME}: {found}", hint=CHANGED)
    if any(line["kind"] == "sum" for line in lines) and not is_summed(text):
        raise StoreError(f"run {folder}: {NAME} is not what was planned", hint=CHANGED)
    return [line for line in lines if line["kind"] != "sum"]


def refuse_without_sum(folder: Path) -> None:
    """Raises StoreError where the plan of a run has no sum that speaks for it."""
    if not is_summed(bounds.read(folder / NAME, MOST_B)):
        raise StoreError(f"run {folder}: {NAME} has no sum, and the run is not sealed", hint=CHANGED)


def cases_of(folder: Path, lines: Iterable[dict[str, Any]]) -> list[Case]:
    """The cases of a plan."""
    try:
        planned = [line for line in lines if line["kind"] == "case"]
        # A plan of before a factor existed has the factor's usual value.
        return [
            Case(
                **{
                    field.name: line[field.name]
                    for field in _CASE_FIELDS
                    if field.name in line or field.default is MISSING
                }
            )
            for line in planned
        ]
    except KeyError as error:
        raise StoreError(f"run {folder}: a case of {NAME} has no {error}", hint="the file was changed") from None


def _version() -> str | None:
    """The version of this package; None where it runs from its sources without being installed."""
    try:
        return version("wattlock")
    except PackageNotFoundError:
        return None


def _line(folder: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line.decode())
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or "kind" not in parsed:
        raise _damaged(folder, number, "is no plan line")
    return parsed


def _damaged(folder: Path, number: int, what: str) -> StoreError:
    return StoreError(f"run {folder}: line {number} of {NAME} {what}", hint=CHANGED)


CHANGED = "the file was changed; take it from a copy"


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
_LOOK = {"type": "integer", "minimum": 2, "maximum": 1000}
"""One process has no interval."""
MOST_LOOKS = 32
"""Of a study 20, and some more where a run went on; a reader takes minutes and a GB for a thousand."""
STUDY = _object(
    {
        "id": {"type": "string", "pattern": "[a-z0-9]+(-[a-z0-9]+)*", "maxLength": 64},
        "title": _TEXT,
        "looks": {"type": "array", "minItems": 1, "maxItems": MOST_LOOKS, "items": _LOOK},
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
def _judge() -> Callable[[object], str | None]:
    types = contract()["plan"]["$defs"]
    case = types["PlannedCase"]
    sizes = dict.fromkeys(("payload_B", "aad_B"), _COUNT)
    texts = dict.fromkeys(("cipher", "provider", "data"), _TEXT)
    case = {**case, "properties": {**case["properties"], **sizes, **texts, "core_class": _MAY_BE_TEXT}}
    lists = {name: {"type": "array", "items": item} for name, item in (("inputs", INPUT), ("cases", case))}
    return judge_of({**FIRST, "properties": {**FIRST["properties"], **lists}, "$defs": types})


def fault(lines: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong with the lines of a plan: the field and the rule; null where nothing is."""
    first = lines[0]
    by_kind = {f"{kind}s": [line for line in lines[1:] if line["kind"] == kind] for kind in ("case", "input")}
    if (found := _judge()({**first, **by_kind})) is not None:
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


ROOT = Path("runs")
LAST = "last"


def runs(root: Path = ROOT) -> list[Path]:
    """The run folders under `root`, the oldest first; what is no run, or not readable, is left out.

    A run whose plan was changed stands where its file was changed: as the last one it is refused, not passed over.
    """
    if not root.is_dir():
        return []
    made = [(created, path) for path in root.iterdir() if (created := _created(path)) is not None]
    return [path for _, path in sorted(made)]


def remember(id_: str, folder: Path, root: Path = ROOT) -> None:
    """Leaves a link `root/<id>` to a run that lies elsewhere, so that its id and `last` find it.

    Where no link can be made the run is found by its path alone.
    """
    if folder.resolve().parent == root.resolve():
        return
    try:
        root.mkdir(exist_ok=True)
        (root / id_).symlink_to(folder.resolve(), target_is_directory=True)
    except OSError:
        return


def find(name_or_path: str | Path, root: Path = ROOT) -> Path:
    """The folder of a run.

    * `name_or_path`: its path, its id, or `last` for the one that began last under `root`; what an id begins or ends
      with does too, where no other does so.

    Raises StoreError where there is none, or several.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if name == LAST:
        made = runs(root)
        if not made:
            raise StoreError(f"there is no run under {root}", hint="`wattlock run first-look` makes one")
        return made[-1]
    for candidate in (root / path, path):
        if candidate.is_dir():
            return candidate
    known = [run.name for run in runs(root)]
    alike = [run for run in known if name and (run.startswith(name) or run.endswith(f"-{name}"))]
    if len(alike) == 1:
        return root / alike[0]
    if alike:
        what = f"{len(alike)} runs under {root} begin or end with {name}"
        raise StoreError(what, hint=f"the last of them: {', '.join(alike[-3:])}")
    hint = suggestion(name, known, "there are") if known else "`wattlock run first-look` makes one"
    raise StoreError(f"there is no run {name}, neither here nor under {root}", hint=hint)


def _created(path: Path) -> tuple[datetime, int] | None:
    """When a run began, and when its plan was written: of two that began in one second that tells the later one."""
    file = path / NAME
    try:
        written_ns = file.stat().st_mtime_ns
        if is_summed(bounds.read(file, MOST_B)):
            return datetime.fromisoformat(read(path)[0]["created"]).astimezone(UTC), written_ns
        return datetime.fromtimestamp(written_ns / 1e9, UTC), written_ns
    except (OSError, StoreError, TypeError, ValueError):
        return None
