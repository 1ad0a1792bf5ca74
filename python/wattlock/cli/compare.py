"""`wattlock compare`: the cells of runs against those of the first, or of two providers of one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.table import Format, short
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, InputError, Slower

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from wattlock.run.result import Result

SHORT = ["cipher", "operation", "payload_B", "data", "provider_a", "provider_b", "cycles_per_byte_a"]
SHORT += ["cycles_per_byte_b", "ratio", "ratio_low", "ratio_high", "verdict"]
"""The columns for eyes, with `aad_B` where a cell has associated data; JSON and CSV have all of them."""

ENERGY = ["energy_ratio", "energy_ratio_low", "energy_ratio_high"]
"""Behind them where one meter weighed both: net joules of the second over those of the first, the gain cancelled."""

SHOWN_CELLS = 5
CLOCK_SHARE = 0.02
"""Clocks that differ by more are told."""


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Paths, ids or `last`; the others are held against the first."),
    ],
    providers: Annotated[
        tuple[str, str] | None, typer.Option("--providers", metavar="A B", help="Provider B against provider A.")
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option("--fail-above", metavar="2%", help="End with 9 where a cell is slower by more."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Compare the cells of runs with those of the first, or of two providers: how many times the first is the second.

    A ratio above 1 says that the second one is slower; its interval is of 95 %, for each cell by itself. A cell fails
    --fail-above where its ratio is above that and its interval wholly above 1, and where it has a number in the first
    run and none in the second; cells that can't tell are named. A slowdown of just that size is found in about half of
    all runs, since its ratio comes out above as often as below: to find 2 %, ask for --fail-above 1%. Runs of two
    builds of the probe are shown beside each other, and nothing is claimed of them. Energies are compared where one
    meter weighed both.

    Examples: wattlock compare before after --fail-above 2%    wattlock compare monday tuesday wednesday
    wattlock compare last --providers rustcrypto openssl
    """
    import polars as pl

    share = _share(fail_above) if fail_above is not None else None
    if len(runs) == 1 and providers is None:
        raise InputError(
            "nothing to compare the run with",
            hint="name a second run, or two providers: --providers rustcrypto openssl",
        )
    a, *others = [_read(name) for name in runs]
    others = others or [a]
    for line in _warnings([a, *(b for b in others if b is not a)]):
        typer.echo(f"warning: {line}", err=True)
    pairs = [_Pair.of(a, b, providers) for b in others]
    table = pl.concat([pair.compared for pair in pairs], how="diagonal_relaxed")
    several = ["run_b"] if len(others) > 1 else []
    columns = [*several, *SHORT, *([] if table["energy_ratio"].null_count() == table.height else ENERGY)]
    print_table(table.select(short(columns, table)) if form is Format.table else table, form)
    if share is not None:
        _judge(pairs, share)


@dataclass(frozen=True)
class _Pair:
    """Two runs compared: a row a cell, the cells that are lost, and what speaks against a judgement."""

    compared: pl.DataFrame
    lost: pl.DataFrame
    against: Sequence[str]

    @classmethod
    def of(cls, a: Result, b: Result, providers: tuple[str, str] | None) -> _Pair:
        """Compares `b` with `a`; across builds without a claim, as docs/method/build.md says."""
        import polars as pl

        from wattlock.analysis.comparison import lost

        first, second, keys = _sides(a, b, providers)
        compared = _compared(a, b, first, second, keys)
        builds = [one.plan["probe_sha256"][:12] for one in (a, b)]
        against = [f"can't judge an invalid run: {one}" for one in a.reasons]
        against += [f"can't judge an invalid run: {one}" for one in b.reasons if b is not a]
        if builds[0] != builds[1]:
            why = f"two builds of the probe, {builds[0]} and {builds[1]}: a difference may be theirs"
            compared = compared.with_columns(verdict=pl.lit("undecided"), reason=pl.lit(why))
            against.append(f"can't judge {why}")
        named = {"run_a": pl.lit(a.plan["id"]), "run_b": pl.lit(b.plan["id"])}
        return cls(compared.with_columns(**named), lost(first, second, keys), against)


def _share(text: str) -> float:
    """`2%` as 0.02.

    Raises InputError for anything else, as for a bare 2, of which nobody knows what it means.
    """
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not (text.endswith("%") and 0 <= percent <= 1000):
        raise InputError(f'--fail-above "{text}" is no percentage', hint="for example --fail-above 2%")
    return percent / 100


def _read(name: str) -> Result:
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    return read(RunFolder.open(find(name)))


def _sides(a: Result, b: Result, providers: tuple[str, str] | None) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The cells of either side, and what two of them must have in common."""
    from wattlock.analysis import comparison

    same_meter = a.meter is not None and b.meter is not None and a.meter["name"] == b.meter["name"]
    first, second = (_cells(one, weighed=same_meter) for one in (a, b))
    _refuse_mixed([first, second])
    keys = ["cipher", *comparison.FACTORS]
    if providers is None:
        keys.append("provider")
    else:
        first, second = _of_provider(first, providers[0]), _of_provider(second, providers[1])
    return first, second, keys


def _compared(a: Result, b: Result, first: pl.DataFrame, second: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    from wattlock.analysis import comparison, sentinels
    from wattlock.analysis.ranking import SMALLEST_CLAIM

    least = max(SMALLEST_CLAIM, *(sentinels.copies_spread(one.verdicts) for one in (a, b)))
    margin = max(least, *(one.plan["study"]["smallest_effect_percent"] / 100 for one in (a, b)))
    compared = comparison.compare(first, second, keys, least, margin)
    if compared.is_empty():
        hint = "`wattlock show RUN` lists the cells of a run"
        raise InputError("no cell of the one has its like in the other", hint=hint)
    return compared


def _cells(result: Result, *, weighed: bool) -> pl.DataFrame:
    """The cells with their deviation, and their energies where one meter weighed both runs."""
    import polars as pl

    content = {one["data"]: f"{one['data']} {one['sha256'][:12]}" for one in result.inputs}
    estimates = result.estimates
    if weighed and result.energies is not None:
        energies = result.energies.select("cell", "energy_uJ", "energy_random_percent")
        estimates = estimates.join(energies, on="cell", how="left", maintain_order="left")
    return estimates.join(result.across.select("cell", "deviation"), on="cell", how="left").with_columns(
        # A user's file is known by what it holds: `input-1` of two runs may be two files.
        pl.col("data").replace(content),
        pl.col("aad_B").fill_null(0),
    )


def _refuse_mixed(frames: Sequence[pl.DataFrame]) -> None:
    kinds = sorted({kind for frame in frames for kind in frame["time_evidence"].drop_nulls()})
    if len(kinds) > 1:
        what = f"times that are {' and '.join(kinds)} are not compared"
        raise EvidenceError(what, hint="compare runs of one kind of evidence")


def _of_provider(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    from wattlock.definitions import suggestion

    known = sorted(set(frame["provider"]))
    if name not in known:
        raise InputError(f'no cell of provider "{name}"', hint=suggestion(name, known, "the run has"))
    return frame.filter(pl.col("provider") == name)


def _warnings(runs: Sequence[Result]) -> Iterator[str]:
    for result in runs:
        name = result.plan["id"]
        yield from (f"run {name} is invalid: {reason}" for reason in result.reasons)
        yield from (f"run {name}: {line}" for line in result.warnings)
    first, *others = runs
    for other in others:
        pair = "the runs" if len(runs) == 2 else f"{first.plan['id']} and {other.plan['id']}"
        for what, one, two in _conditions(first, other):
            if one != two:
                yield f"{pair} differ in their {what}: {one} and {two}"
        clocks = first.clock.GHz, other.clock.GHz
        if clocks[0] and clocks[1] and abs(clocks[1] / clocks[0] - 1) > CLOCK_SHARE:
            told = f"{clocks[0]:.2f} and {clocks[1]:.2f} GHz; cycles in memory are not alike"
            yield f"{pair} differ in their clock: {told}"


def _conditions(a: Result, b: Result) -> Iterator[tuple[str, Any, Any]]:
    for what, group, key in (
        ("processor", "hardware", "model_name"),
        ("stepping", "hardware", "stepping"),
        ("system", "kernel", "release"),
        ("governor", "power", "governor"),
        ("compiler", "build", "rustc"),
        ("compiler's flags", "build", "flags"),
    ):
        yield what, *(one.header["fingerprint"].get(group, {}).get(key) for one in (a, b))
    yield "meter", _meter(a), _meter(b)
    yield "build (SHA-256 of the probe)", *(one.plan["probe_sha256"][:12] for one in (a, b))


def _meter(result: Result) -> str | None:
    return result.meter["name"] if result.meter else None


def _judge(pairs: Sequence[_Pair], share: float) -> None:
    """Raises Slower where a cell is or has none any more, EvidenceError where a run can't be judged.

    Names the cells that can't tell.
    """
    import polars as pl

    from wattlock.analysis.comparison import slower_than

    table = pl.concat([pair.compared for pair in pairs], how="diagonal_relaxed")
    lost = pl.concat([pair.lost for pair in pairs], how="diagonal_relaxed")
    slower, unclear = slower_than(table, share)
    if unclear.height:
        typer.echo(f"warning: {unclear.height} cells can't tell: {_named(unclear)}", err=True)
    against = [reason for pair in pairs for reason in pair.against]
    if against:
        hint = "measure again, both runs with one build of wattlock"
        raise EvidenceError(f"--fail-above {against[0]}", hint=hint)
    if lost.height:
        cells = ", ".join(
            f"{row['cipher']} {row['operation']} of {row['provider']}" for row in lost.head(SHOWN_CELLS).to_dicts()
        )
        what = f"{lost.height} cells have a number in the first and none in the second: {cells}"
        raise Slower(what, hint="`wattlock show RUN` says why each failed; a cipher that is gone has no row")
    if slower.height:
        what = f"{slower.height} of {table.height} cells are slower by more than {share * 100:.4g} %"
        raise Slower(f"{what}: {_named(slower)}", hint="`--format json` prints the intervals of all cells")


def _named(cells: pl.DataFrame) -> str:
    shown = [
        f"{row['cipher']} {row['operation']} {row['payload_B']} B"
        + (f" and {row['aad_B']} B of associated data" if row["aad_B"] else "")
        + f" of {row['provider_b']}"
        + (f" ({(row['ratio'] - 1) * 100:+.1f} %)" if row["ratio"] else "")
        for row in cells.head(SHOWN_CELLS).iter_rows(named=True)
    ]
    more = [f"{cells.height - SHOWN_CELLS} more"] if cells.height > SHOWN_CELLS else []
    return ", ".join([*shown, *more])
