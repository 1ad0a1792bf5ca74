"""A set of figures that others published: what was printed, of what, where, and nothing that wattlock measured."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from wattlock.definitions.table import Table, Text
from wattlock.errors import InputError

Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(gt=0)]


class Figure(Table):
    """One published figure: what one call took, in the unit of its set.

    * `cipher`, `implementation`, `operation`: as their authors call them; `build`: compiler or flags, where told.
    * `low`, `high`: quartiles beside a median, the least and the greatest beside a mean. `count`: of measurements.
    """

    cipher: Text
    implementation: Text
    operation: Text
    build: str | None = None
    payload_B: Count | None = None
    aad_B: Count | None = None
    value: Number
    low: Number | None = None
    high: Number | None = None
    count: Count | None = None


class PublishedSet(Table):
    """The figures of one file, with where they come from.

    * `source`: where the file was published; `file`, `sha256`: its name and sum; `machine`: what it was measured on.
    * `statistic`: what `value` is; `unit`: cycles, or microseconds.
    """

    format: Literal["supercop", "lwc", "pqm4"]
    source: Text
    machine: Text
    file: Text
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    unit: Literal["cycles", "us"]
    statistic: Literal["median", "mean", "one measurement"]
    evidence: Literal["published"] = "published"
    figures: Annotated[list[Figure], Field(min_length=1)]

    @classmethod
    def read(cls, path: Path) -> Self:
        """A set that `write` wrote. Raises InputError where the file is none."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            hint = "`wattlock import FILE --out SET.json` writes one"
            raise InputError(f"{path}: no set of published figures: {where}: {first['msg']}", hint=hint) from None

    def keeping(self, ciphers: Sequence[str], lengths_B: Sequence[int]) -> Self:
        """The figures of ciphers that a pattern names, at these lengths; all of them for none.

        Raises InputError where nothing is left.
        """
        kept = [
            figure
            for figure in self.figures
            if (not ciphers or any(fnmatchcase(figure.cipher, one) for one in ciphers))
            and (not lengths_B or figure.payload_B in lengths_B)
        ]
        if not kept:
            hint = "`wattlock import FILE` without --only and --payload-B prints all of them"
            raise InputError(f"{self.file}: none of its {len(self.figures)} figures is kept", hint=hint)
        return self.model_copy(update={"figures": kept})

    def write(self) -> bytes:
        """The set as JSON, the same bytes for the same figures."""
        return self.model_dump_json(indent=1, exclude_none=True).encode() + b"\n"


def number(text: str, where: str) -> float:
    """A printed number, thousands apart by commas or not. Raises InputError naming where it stands."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = -1.0
    if not 0 < value < 1e18:
        raise InputError(f"{where}: {text[:40]!r} is no number of cycles or microseconds", hint="is the file whole?")
    return value
