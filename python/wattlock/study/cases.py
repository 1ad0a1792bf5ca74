"""Cases: the combinations of a study's factors, the choice among them, and the user's files."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import NotRequired, TypedDict

from wattlock.definitions import Problem, refusal, suggestion
from wattlock.definitions.toml import nearest as most_alike
from wattlock.errors import InputError, StudyError
from wattlock.study.study import LARGEST_L2_PAYLOAD_B, LARGEST_PAYLOAD_B, Grid, Study


class CatalogueRow(TypedDict):
    """What the probe's catalogue says of one cipher id by one provider.

    * `available`: whether this machine can measure it; `reason`: why not. A row that is not available has neither
      version nor path. `broken`: a library of the user's own lists it all the same.
    * `operations`: of key establishment and of frames; `public_key_B`, `message_B`: what the former puts on the wire,
      bytes.
    """

    id: str
    card: str
    family: str
    mode: str
    provider: str
    available: bool
    broken: NotRequired[bool]
    reason: str | None
    version: str | None
    path: str | None
    of: str | None
    file: str | None
    file_sha256: str | None
    key_bits: int
    effective_bits: int
    block_bits: int
    rounds: int | None
    iv_B: int
    tag_bits: int
    timing: str | None
    proof: str
    source: str
    operations: NotRequired[list[str] | None]
    public_key_B: NotRequired[int | None]
    message_B: NotRequired[int | None]


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of factors.

    * `case`: its number in the run, from 0.
    * `payload_B`: plaintext of one call, bytes; 0 for a key setup.
    * `data`: `random`, a sample kind, `input-1` and so on, or `none` for a key setup.
    * `aad_B`: associated data of one call of an AEAD, bytes.
    * `core_class`: the kind of core that it is measured on; null for the fastest that the device has.
    * `readiness`: `steady`, or `after-pause` where a call is the first after 2 ms of other work.
    """

    case: int
    role: str
    cipher: str
    provider: str
    operation: str
    keying: str
    encoding: str
    placement: str
    pattern: str
    payload_B: int
    data: str
    aad_B: int = 0
    core_class: str | None = None
    readiness: str = "steady"


Rows = Mapping[str, Sequence[CatalogueRow]]
"""The catalogue's rows by id, one a provider."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to be encrypted.

    * `label`: the name under which cases and records know it, `input-1` and so on.
    * `path`: absolute.
    * `size_B`: its size when it was read, bytes.
    * `sha256`: of its content, hexadecimal.
    """

    label: str
    path: Path
    size_B: int
    sha256: str


def expand(
    study: Study,
    rows: Rows,
    inputs: Sequence[InputFile] = (),
    nearest: Mapping[str, str | None] | None = None,
    libraries: Sequence[str] = (),
    *,
    core_classes: Sequence[str] = (),
) -> list[Case]:
    """The cases of a study, in the order of its file, numbered from 0, each once.

    * `rows`: the catalogue's rows for each id of `study.ciphers()` that it knows, one a provider.
    * `inputs`: the user's files; where there are any, they take the place of the sample files.
    * `nearest`: for each unknown id the known one that looks most like it.
    * `libraries`: names of the user's own libraries: each case of a cipher that one has is measured with it too.
    * `core_classes`: kinds of core that each case is measured on, in place of those that its grid names.

    A grid without providers takes `rustcrypto` where that has the cipher, else the first provider that has. A case
    whose provider can't be had here stays: it becomes a failure when it is measured.

    Raises StudyError naming the key of the first cipher or provider that there isn't, an operation that is none of the
    cipher, or an input that doesn't fit.
    """
    problems = [*_unknown_ciphers(study, rows, nearest or {}), *_unknown_providers(study, rows)]
    problems += [*_wrong_operations(study, rows), *_input_problems(study, inputs)]
    if problems:
        raise refusal(f"study {study.origin}", problems, StudyError)
    cases = (
        replace(case, core_class=core_class, readiness=readiness)
        for grid in study.grid
        for case in _combinations(study, grid, rows, inputs, libraries)
        for readiness in grid.readiness
        for core_class in core_classes or grid.core_class or (None,)
    )
    found: dict[Case, None] = {}
    for case in cases:
        found[case] = None
        if len(found) > MOST_CASES:
            hint = "leave out some levels, or cut it into several studies"
            raise refusal(
                f"study {study.origin}", [Problem("grid", f"has more than {MOST_CASES:,} cases", hint)], StudyError
            )
    return [replace(case, case=number) for number, case in enumerate(found)]


def core_classes_of(cases: Iterable[Case]) -> list[str | None]:
    """The kinds of core that cases are measured on, each once, in the order of the cases."""
    return list(dict.fromkeys(case.core_class for case in cases))


def absences(cases: Iterable[Case], rows: Rows) -> dict[tuple[str, str], str]:
    """Why cases will fail, by cipher and provider: what can't be had here."""
    planned = dict.fromkeys((case.cipher, case.provider) for case in cases)
    found = {(cipher, provider): _row(rows, cipher, provider) for cipher, provider in planned}
    return {
        key: str(row["reason"]) if row else f"{key[1]} has no such cipher"
        for key, row in found.items()
        if row is None or not row["available"]
    }


def missing(cases: Iterable[Case], rows: Rows) -> list[str]:
    """Why cases will fail: one line for each provider and reason, with the ciphers of which it is so."""
    lines: dict[tuple[str, str], list[str]] = {}
    for (cipher, provider), reason in absences(cases, rows).items():
        lines.setdefault((provider, reason), []).append(cipher)
    return [f"{_listed(ciphers)} of {provider} can't be had: {reason}" for (provider, reason), ciphers in lines.items()]


def _listed(ciphers: Sequence[str]) -> str:
    more = len(ciphers) - NAMED_CIPHERS
    return ", ".join(ciphers[:NAMED_CIPHERS]) + (f" and {more} more" if more > 0 else "")


def only(cases: Sequence[Case], rows: Rows, expressions: Sequence[str]) -> list[Case]:
    """The cases that match, numbered from 0.

    * `expressions`: each a cipher's id or a glob of ids, as `aes*`, or `field=glob` pairs with commas between, as
      `cipher=aes*,operation=encrypt`. A field is one of a case or of its cipher's catalogue row. Pairs of different
      fields must all match; of pairs of one field, or of several ids, any may.

    Raises StudyError for an expression that isn't one, an unknown field, or where nothing matches.
    """
    known = list(dict.fromkeys([*_FIELDS, *CatalogueRow.__annotations__]))
    globs: dict[str, list[str]] = {}
    for expression in expressions:
        for field, either in _globs(expression, known).items():
            globs.setdefault(field, []).extend(either)
    chosen = [case for case in cases if _matches(case, _row(rows, case.cipher, case.provider), globs)]
    if not chosen:
        hint = _meant(cases, rows, globs) or "`--dry-run` without `--only` lists the cases"
        raise StudyError(f'--only "{" ".join(expressions)}": none of {len(cases)} cases matches', hint=hint)
    return [replace(case, case=number) for number, case in enumerate(chosen)]


MOST_CASES = 100_000
"""Of a study: some ten minutes a process, at 300 cases in 2 s."""

NAMED_CIPHERS = 3
"""Of those that a line names."""

_FIELDS = [field.name for field in fields(Case)]

_WITH_AAD = {"seal", "open", "open_forged"}

_WITHOUT_AAD = {"encrypt", "decrypt"}

USUAL_PROVIDER = "rustcrypto"

WEBCRYPTO = "webcrypto"


def _row(rows: Rows, cipher: str, provider: str) -> CatalogueRow | None:
    return next((row for row in rows[cipher] if row["provider"] == provider), None)


def _globs(expression: str, known: Sequence[str]) -> dict[str, list[str]]:
    globs: dict[str, list[str]] = {}
    for pair in expression.split(","):
        field, equals, glob = (part.strip() for part in pair.partition("="))
        if field and not equals:
            field, glob = "cipher", field
        if not (field and glob):
            raise StudyError(f'--only "{expression}": "{pair}" is not FIELD=GLOB', hint="for example cipher=aes*")
        if field not in known:
            hint = suggestion(field, known, "the fields are")
            raise StudyError(f'--only "{expression}": no field "{field}"', hint=hint)
        globs.setdefault(field, []).append(glob)
    return globs


def _matches(case: Case, row: CatalogueRow | None, globs: Mapping[str, Sequence[str]]) -> bool:
    return all(
        any(fnmatchcase(str(_value(case, row, field)), glob) for glob in either) for field, either in globs.items()
    )


def _value(case: Case, row: CatalogueRow | None, field: str) -> object:
    """A field of a case, or of its cipher's catalogue row."""
    written: Mapping[str, object] = {**(row or {}), **{name: getattr(case, name) for name in _FIELDS}}
    return written.get(field)


def _meant(cases: Sequence[Case], rows: Rows, globs: Mapping[str, Sequence[str]]) -> str:
    """A hint to the first value that no case has and that looks like one; empty where there is none."""
    for field, either in globs.items():
        there = {str(_value(case, _row(rows, case.cipher, case.provider), field)) for case in cases}
        for value in either:
            is_glob = any(sign in value for sign in "*?[")
            close = None if is_glob or value in there else most_alike(value, sorted(there))
            if close:
                return f'did you mean "{field}={close}"?'
    return ""


def _providers(grid: Grid, rows: Sequence[CatalogueRow], libraries: Sequence[str]) -> list[str]:
    has = [row["provider"] for row in rows if row["available"]]
    usual = USUAL_PROVIDER if USUAL_PROVIDER in has else next(iter(has), rows[0]["provider"])
    named = grid.provider if grid.provider is not None else [usual]
    # A cipher with which a library of the user's own crashes is a case that fails, and says why.
    has += [row["provider"] for row in rows if row.get("broken")]
    return list(dict.fromkeys([*named, *(name for name in libraries if name in has)]))


def _combinations(
    study: Study, grid: Grid, rows: Rows, inputs: Sequence[InputFile], libraries: Sequence[str]
) -> Iterator[Case]:
    payloads = _payloads(study, grid, inputs)
    for cipher in grid.cipher:
        name = rows[cipher][0]["id"]
        for provider, operation in product(_providers(grid, rows[cipher], libraries), grid.operation):
            if operation == "key_setup" or rows[cipher][0].get("public_key_B"):
                has_key = operation not in {"key_setup", "generate"}
                for keying in grid.keying if has_key else ["ready"]:
                    yield Case(0, "study", name, provider, operation, keying, "raw", "hot", "independent", 0, "none")
                continue
            aads = grid.aad_B if operation in _WITH_AAD else [0]
            factors = product(grid.keying, grid.encoding, grid.placement, grid.pattern, payloads, aads)
            for keying, encoding, placement, pattern, (payload_B, data), aad_B in factors:
                how = (keying, encoding, placement, pattern)
                yield Case(0, "study", name, provider, operation, *how, payload_B, data, aad_B)


def _payloads(study: Study, grid: Grid, inputs: Sequence[InputFile]) -> list[tuple[int, str]]:
    if grid.data is None:
        return [(size_B, "random") for size_B in grid.payload_B or []]
    if inputs:
        return [(input_file.size_B, input_file.label) for input_file in inputs]
    return [(study.file_B, kind) for kind in grid.data]


def _unknown_ciphers(study: Study, rows: Rows, nearest: Mapping[str, str | None]) -> Iterator[Problem]:
    for cipher, path in study.ciphers().items():
        if cipher not in rows:
            close = nearest.get(cipher)
            meant = f'did you mean "{close}"? ' if close else ""
            yield Problem(path, f'no cipher "{cipher}"', f"{meant}`wattlock ciphers` lists all of them")


def _unknown_providers(study: Study, rows: Rows) -> Iterator[Problem]:
    for g, grid in enumerate(study.grid):
        known = sorted({row["provider"] for cipher in grid.cipher for row in rows.get(cipher, [])})
        for p, provider in enumerate(grid.provider or []):
            if known and provider not in known:
                hint = suggestion(provider, known, "the providers are")
                if provider == WEBCRYPTO:
                    hint = "only a browser has it: `wattlock page` measures there"
                yield Problem(f"grid[{g}].provider[{p}]", f'no provider "{provider}"', hint)


def _wrong_operations(study: Study, rows: Rows) -> Iterator[Problem]:
    """A whole message of an AEAD is sealed, of any other cipher encrypted; a scheme has operations of its own."""
    for g, grid in enumerate(study.grid):
        for cipher in (cipher for cipher in grid.cipher if cipher in rows):
            for o, operation in enumerate(grid.operation):
                hint = _instead(rows[cipher][0], operation)
                if hint:
                    yield Problem(f"grid[{g}].operation[{o}]", f'{cipher} has no operation "{operation}"', hint)


def _instead(row: CatalogueRow, operation: str) -> str | None:
    """What to write in place of an operation that a cipher doesn't have; None where it has it."""
    operations = row.get("operations")
    if operations:
        return None if operation in operations else f"it has {', '.join(operations)}"
    is_aead = bool(row.get("tag_bits"))
    if operation not in {"key_setup", *_WITH_AAD, *_WITHOUT_AAD}:
        return "it is a cipher: write " + ('"seal" or "open"' if is_aead else '"encrypt" or "decrypt"')
    if is_aead and operation in _WITHOUT_AAD:
        return f'it authenticates: write "{"seal" if operation == "encrypt" else "open"}"'
    if not is_aead and operation in _WITH_AAD:
        return f'it does not authenticate: write "{"encrypt" if operation == "seal" else "decrypt"}"'
    return None


def _input_problems(study: Study, inputs: Iterable[InputFile]) -> Iterator[Problem]:
    grids = [grid for grid in study.grid if grid.data is not None]
    sizes = [input_file.size_B for input_file in inputs]
    if sizes and not grids:
        hint = 'add a [[grid]] with data = ["text"]: its files are replaced by the inputs'
        yield Problem("", "has no grid with data, nothing would work on the inputs", hint)
    if any("L2" in grid.placement for grid in grids):
        for size_B in sizes:
            if size_B > LARGEST_L2_PAYLOAD_B:
                what = f"an input of {size_B} B is over the {LARGEST_L2_PAYLOAD_B} B that placement L2 takes"
                yield Problem("", what, "leave L2 out of the placement")


def read_inputs(path: str | Path) -> list[InputFile]:
    """A file, or the files of a folder in the order of their names: not those of its folders, and no hidden ones.

    Raises InputError naming the path that is missing, unreadable, empty, larger than 64 MiB or neither file nor folder.
    """
    path = Path(path)
    with _named(path):
        path.stat()
        files = _files_of(path) if path.is_dir() else [path]
    return [_hashed(file, f"input-{number}") for number, file in enumerate(files, 1)]


def _files_of(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not files:
        raise InputError(f"input {folder}: the folder holds no file", hint="its folders and hidden files are not read")
    return files


def _hashed(path: Path, label: str) -> InputFile:
    with _named(path):
        if not path.is_file():
            raise InputError(f"input {path}: is neither a file nor a folder", hint="save what it gives to a file first")
        size_B = path.stat().st_size
        if size_B == 0:
            raise InputError(f"input {path}: is empty", hint="there is nothing to encrypt in it")
        if size_B > LARGEST_PAYLOAD_B:
            hint = "a part of it tells the cost a byte just as well"
            raise InputError(f"input {path}: is {size_B} B, the limit is {LARGEST_PAYLOAD_B} B", hint=hint)
        return InputFile(label, path.absolute(), size_B, sha256(path))


def sha256(file: Path) -> str:
    """A file's SHA-256, hexadecimal. Raises OSError where it can't be read."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turns the system's refusals into errors that name the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"input {path}: there is no such file or folder", hint="check the path") from error
    except OSError as error:
        raise InputError(f"input {path}: can't be read: {error.strerror}", hint="check its permissions") from error
