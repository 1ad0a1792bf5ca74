"""What one process says of each of its cases: the mean over its clean rounds, without those beyond a fence.

The unit is the **canary**: the time of the multiplication chain beside each batch. A batch's ticks over its canaries'
ticks do not depend on the core's clock; times and cycles follow from it by one factor each.

A mean and not the median, because buffers and stack lie elsewhere at each visit: some ciphers have two speeds, 11 %
apart, by where a vector falls on a cache line. Their median jumps from one to the other; their mean does not. A fence,
because in a few batches something is at work that no canary sees: it would take the rarer of two speeds for that, so
where the places of the stack differ each has a fence of its own. No batch is marked for its value: all stay in the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from wattlock.definitions.constants import constant

LEAST_CLEAN_ROUNDS = 3
"""A process with fewer clean rounds of a case says nothing of it."""

MANY_SEGMENTS, LEAST_MEAN_ROUNDS = 8, 2
"""Of a case with many segments each needs one clean round, and all together two on average: errors average out."""

FENCE = 1.5
"""Rounds further beyond the quartiles than this many interquartile ranges do not count (Tukey's fence)."""

LEAST_RANGE = 0.002
"""An interquartile range (log) below this is taken for this: of few rounds it may be next to nothing."""

TURN = 0.26
"""Another program's turn makes a batch longer by 30 % (log) and more: by 3 to 12 ms where it had lasted 0.5 to 2 ms."""

PLACES = 4
"""Places of the stack on a cache line, of 16 B each; visits take them in turn."""

LEAST_ROUNDS_AT_A_PLACE = 4
"""With fewer rounds a place has too few of them for a fence of its own."""

APART, APART_ERRORS = 0.003, 5.0
"""Places differ where the medians of the fastest and the slowest are so far apart: a log, and standard errors."""

WIDE = frozenset({"avx2", "avx512", "vaes256", "vaes512"})
"""Paths of vectors of 256 and 512 bits, which some cores slow down until they grant them."""

WITNESS = "witness_before_ticks"
"""A column that is not null where a witness of the same width stood beside batches of wide code."""

THROTTLED = 0.5
"""Without a witness: a batch of wide code that takes 1.65 times as long (log) as the fastest tenth of its case in any
process was throttled. What was seen took 3.1 times as long; a second speed by layout is 11 % apart."""

NEIGHBOUR: float = 1 + constant("neighbour_percent") / 100
"""A burst that takes more than this of what it takes on a quiet core means a neighbour."""

CASES = 2**32
"""More than a run's cases: `visited` is the place of a process times this and the case. One key is faster than two."""

READ = [
    *("case", "segment", "calls", "ticks", "canary_before_ticks", "canary_after_ticks", "burst_before_ticks"),
    *("burst_after_ticks", "clean", "cause", "wall_ns", "cpu_ns", "place", WITNESS),
]
"""Columns of a batch that its summary is made of."""

READ_OF_BURSTS = [
    *("clean", "cause", "canary_before_ticks", "canary_after_ticks", "burst_before_ticks", "burst_after_ticks"),
]
"""Columns of a batch that tell how quiet the core was."""

SUMMARY_SCHEMA: dict[str, type[pl.DataType]] = {
    "process": pl.Int64,
    "case": pl.Int64,
    "log_canaries": pl.Float64,
    "wall_ns": pl.Float64,
    "cpu_ns": pl.Float64,
    "rounds": pl.Int64,
    "spread": pl.Float64,
    "error": pl.Float64,
    "kept": pl.Int64,
    "log_half": pl.Float64,
    "batches": pl.Int64,
    "dirty": pl.Int64,
    "throttled": pl.Int64,
    "slower": pl.Float64,
}


def cases_of(header: Mapping[str, Any]) -> pl.DataFrame:
    """Calls in a batch, segments and whether the code is of wide vectors, of each case as this header has it.

    `read_ticks`: what reading the timer adds to a batch of one call after a pause; of many calls it is next to nothing.
    """
    cases: Sequence[Mapping[str, Any]] = header["cases"]
    return pl.DataFrame(
        {
            "case": [case["case"] for case in cases],
            "planned_calls": [case["calls"] for case in cases],
            "segments": [case["segments"] for case in cases],
            "wide": [case.get("path") in WIDE and case.get("readiness") != "after-pause" for case in cases],
            "read_ticks": [
                header.get("timer_ticks") or 0 if case.get("readiness") == "after-pause" else 0 for case in cases
            ],
        },
        schema={
            "case": pl.Int64,
            "planned_calls": pl.Int64,
            "segments": pl.Int64,
            "wide": pl.Boolean,
            "read_ticks": pl.Int64,
        },
    )


def step_of(header: Mapping[str, Any]) -> int:
    """The step of the tick counter by which canaries and bursts may be off, in ticks; 0 where it is too fine."""
    return header.get("step_ticks") or 0


def undisturbed(quiet_ppm: int | None, step_ticks: int = 0) -> pl.Expr:
    """Whether a batch counts: clean, and no neighbour on the core by the run's own quiet level.

    * `quiet_ppm`: as of `quiet_level`, of all processes of the run together. One that began beside a neighbour could
      not know it, and one that took an interrupted canary for a quiet one called all of its batches disturbed.
      `step_ticks`: as of `step_of`. The burst may be too long by one, and the canary too short.
    """
    if quiet_ppm is None:
        return pl.col("clean")
    most = NEIGHBOUR * quiet_ppm / 1e6
    undisturbed_else = pl.col("clean") | (pl.col("cause") == "neighbour").fill_null(value=False)
    quiet = [
        pl.col(f"burst_{side}_ticks") - step_ticks <= most * (pl.col(f"canary_{side}_ticks") + step_ticks)
        for side in ("before", "after")
    ]
    return undisturbed_else & quiet[0] & quiet[1]


LEVELS_A_DOUBLING, AGREE, A_QUIET_SHARE, A_TENTH, LEAST_QUIET = 700, 10, 0.01, 0.1, 20
"""The quiet level is found on a scale of 0.1 %: the least 1 % that holds a hundredth of a run's bursts, 20 at least, or
a tenth where that is below what any process learnt."""


def burst_levels(batches: pl.DataFrame) -> pl.DataFrame:
    """How many bursts of a process took how much of their canary: `level` (on a scale of 0.1 %) and `bursts`.

    A burst counts where nothing was seen but perhaps a neighbour, and its canaries agree.
    """
    seen = batches.filter(pl.col("clean") | (pl.col("cause") == "neighbour").fill_null(value=False))
    level = [
        (pl.col(f"burst_{side}_ticks") / pl.col(f"canary_{side}_ticks")).log(2) * LEVELS_A_DOUBLING
        for side in ("before", "after")
    ]
    both = pl.concat([seen.select(level=edge.floor()) for edge in level])
    return both.filter(pl.col("level").is_finite()).group_by("level").agg(bursts=pl.len())


def quiet_level(levels: pl.DataFrame, found: Sequence[int]) -> int | None:
    """What a burst takes of its canary, in millionths, where nothing shares the core: judged over all processes.

    * `levels`: rows of `burst_levels` of all processes together; `found`: what each process found by itself.
    * The least level that two processes found, or on which a hundredth of the bursts agree, both to 1 %. One whose
      canaries were interrupted while it learned has found a lower one, which no other finds and no batch meets. None
      where no process found any.
    """
    if not found:
        return None
    ordered = sorted(found)
    twice = (low for low, high in pairwise(ordered) if high <= low * 1.01)
    learnt = max(ordered[0], min(next(twice, ordered[-1]), _agreed(levels, A_QUIET_SHARE) or ordered[-1]))
    # All may have learnt beside a neighbour that left: what a tenth of the bursts agree on is a quiet core.
    quieter = _agreed(levels, A_TENTH)
    return quieter if quieter is not None and quieter * NEIGHBOUR < learnt else learnt


def _agreed(levels: pl.DataFrame, share: float) -> int | None:
    """The least level on which this share of the bursts agrees; None where none does."""
    counted = levels.group_by("level").agg(pl.col("bursts").sum()).sort("level")
    if counted.is_empty():
        return None
    places, bursts = counted["level"].to_numpy(), counted["bursts"].to_numpy()
    ends = places.searchsorted(places + AGREE, side="left")
    up_to = bursts.cumsum()
    agreeing = up_to[ends - 1] - up_to + bursts
    enough = agreeing >= max(LEAST_QUIET, share * float(up_to[-1]))
    if not enough.any():
        return None
    first = int(enough.argmax())
    # The middle of those that agree, as a process takes it.
    middle = int(up_to.searchsorted(up_to[first] - bursts[first] + agreeing[first] / 2))
    return round(2 ** ((float(places[middle]) + 0.5) / LEVELS_A_DOUBLING) * 1e6)


def sees_no_turns(header: Mapping[str, Any]) -> bool:
    """Whether a process could not see that another program had its turn in the middle of a batch: a browser's can't."""
    return header.get("fingerprint", {}).get("browser") is not None


def uncut() -> pl.Expr:
    """Whether no other program had its turn in the middle of a batch, told by its length alone.

    Up to a third of the batches may be cut, so the median and the lower half, which turns do not reach, say how long a
    batch is and how far it scatters: Tukey's fence drawn from there, and never nearer than a turn.
    """
    log, of = pl.col("log"), ("visited", "segment", "whole")
    median = log.median().over(of)
    scatter = 4 * (median - log.quantile(0.25, "linear").over(of))
    return log <= median + pl.max_horizontal(scatter, TURN)


def fenced(frame: pl.DataFrame, values: str, *over: str) -> pl.Series:
    """Whether each value lies within the fence of its group: at most 1.5 interquartile ranges beyond the quartiles.

    * `values`: a column of `frame`, and `over`: those that its groups are made of.
    """
    low, high = (pl.col(values).quantile(share, "linear").over(over) for share in (0.25, 0.75))
    # As columns: within one expression Polars would take each quartile twice.
    quartiles = frame.select(values, low=low, high=high)
    beyond = FENCE * pl.max_horizontal(pl.col("high") - pl.col("low"), LEAST_RANGE)
    return quartiles.select(pl.col(values).is_between(pl.col("low") - beyond, pl.col("high") + beyond)).to_series()


def summarise(batches: pl.DataFrame, header: Mapping[str, Any], quiet_ppm: int | None = None) -> pl.DataFrame:
    """Summarises the batches of one complete process: `summarise_several` of one."""
    return summarise_several([batches], [header], quiet_ppm)


def summarise_several(
    batches: Sequence[pl.DataFrame], headers: Sequence[Mapping[str, Any]], quiet_ppm: int | None = None
) -> pl.DataFrame:
    """Summarises complete processes, each on its own, at once: most of the time goes into how often Polars is asked.

    * `batches`: of each process, columns of a batch record; `headers`: the header record of each, all of one device;
      `quiet_ppm`: as of `undisturbed`.
    * Returns one row a process and case, the processes as given (`SUMMARY_SCHEMA`): `log_canaries` (log of canaries a
      call, the mean over the undisturbed rounds within the fence, summed over segments), `wall_ns` and `cpu_ns` a call,
      `rounds` (the least number of undisturbed rounds of a segment), `spread` (standard deviation of the log over all
      of them, which asks for visits enough to tell two speeds), `error` (standard error of `log_canaries` by the
      batches within the fence alone) and `kept` (how many those are), `log_half` (log of time a call in half batches
      over whole ones; null where there are none), `batches` and `dirty` (counts), `throttled` (undisturbed batches that
      the core slowed down, told by their length alone) and `slower` (how much longer those took: a log). Cases of which
      too little is left have no row.
    """
    timed = _timed(batches, headers, quiet_ppm)
    seen = timed.group_by("visited").agg(batches=pl.len(), dirty=(~pl.col("counts")).sum())
    clean = timed.filter("counts")
    throttled = _throttled(clean)
    clean = clean.join(throttled, on="row", how="anti") if throttled.height else clean
    if sees_no_turns(headers[0]):
        clean = clean.filter(uncut())
    halves = clean.filter(~pl.col("whole")).group_by("visited").agg(half=pl.col("log").mean())
    slowed = throttled.group_by("visited").agg(throttled=pl.len(), slower=pl.col("slower").mean())
    numbers = dict(enumerate(header["process"] for header in headers))
    return (
        _by_case(clean.filter("whole"))
        .join(halves, on="visited", how="left")
        .join(seen, on="visited")
        .join(slowed, on="visited", how="left")
        .with_columns(
            throttled=pl.col("throttled").fill_null(0),
            process=(pl.col("visited") // CASES).replace_strict(numbers),
            case=pl.col("visited") % CASES,
            # A fence would take other shares of two speeds from a few half batches than from many whole ones.
            log_half=pl.col("half") - pl.col("plain"),
        )
        .sort("visited")
        .select(pl.col(name).cast(dtype) for name, dtype in SUMMARY_SCHEMA.items())
    )


def _timed(
    batches: Sequence[pl.DataFrame], headers: Sequence[Mapping[str, Any]], quiet_ppm: int | None
) -> pl.DataFrame:
    """The batches of all processes with `visited`, `row`, `log` (of canaries a call), `whole` and `counts`."""
    ran, cases = [], []
    for place, (frame, header) in enumerate(zip(batches, headers, strict=True)):
        visited = place * CASES + pl.col("case")
        ran.append(frame.select(READ).with_columns(visited=visited))
        cases.append(cases_of(header).select(pl.exclude("case"), visited=visited))
    canaries = pl.col("canary_before_ticks") + pl.col("canary_after_ticks")
    return (
        pl.concat(ran)
        .join(pl.concat(cases), on="visited")
        .with_columns(ticks=pl.max_horizontal(pl.col("ticks") - pl.col("read_ticks"), 1))
        .with_columns(
            log=(2 * pl.col("ticks") / canaries / pl.col("calls")).log(),
            whole=pl.col("calls") == pl.col("planned_calls"),
            counts=undisturbed(quiet_ppm, step_of(headers[0])),
        )
        .with_row_index("row")
    )


def _throttled(clean: pl.DataFrame) -> pl.DataFrame:
    """Batches of wide code that a core slowed down before it granted the width, in runs without a witness of that.

    * Returns `row`, `visited`, `slower` (log of how much longer it took than the fastest tenth).
    """
    wide = clean.lazy().filter(pl.col("wide") & pl.col(WITNESS).is_null())
    fastest = pl.col("log").quantile(0.1, "linear").over("visited", "segment", "whole")
    # A process that met the slow state alone is told by the others.
    fastest = fastest.min().over(pl.col("visited") % CASES, "segment", "whole")
    slower = wide.with_columns(slower=pl.col("log") - fastest)
    return slower.filter(pl.col("slower") > THROTTLED).select("row", "visited", "slower").collect()


def _by_case(whole: pl.DataFrame) -> pl.DataFrame:
    """Whole undisturbed batches, by segment over their rounds and then by case over its segments."""
    mean = pl.when(pl.col("weight") > 0).then("log").mean().over("visited", "segment", "centre")
    kept = _weighted(whole).with_columns(off=pl.col("log") - mean)
    weight, inside = pl.col("weight") / pl.col("weight").sum(), pl.col("weight") > 0
    # In their order: the sum over the segments of a case is the same to the bit each time.
    by_segment = kept.group_by("visited", "segment", maintain_order=True).agg(
        pl.col("segments").first(),
        log=(pl.col("log") * weight).sum(),
        plain=pl.col("log").mean(),
        wall_ns=(pl.col("wall_ns") / pl.col("calls") * weight).sum(),
        cpu_ns=pl.when(pl.col("cpu_ns").null_count() == 0).then((pl.col("cpu_ns") / pl.col("calls") * weight).sum()),
        rounds=pl.len(),
        spread=pl.col("log").std(),
        # Of the mean of what lies within the fence; a cut case's segments have too few rounds each for it.
        squares=pl.col("off").pow(2).filter(inside).sum(),
        kept=inside.sum(),
    )
    several = pl.col("count") >= MANY_SEGMENTS
    enough = (
        pl.when(several)
        .then(pl.col("mean_rounds") >= LEAST_MEAN_ROUNDS)
        .otherwise(pl.col("rounds") >= LEAST_CLEAN_ROUNDS)
    )
    return (
        by_segment.group_by("visited")
        .agg(
            log_canaries=pl.col("log").exp().sum().log(),
            plain=pl.col("plain").first(),
            wall_ns=pl.col("wall_ns").sum(),
            cpu_ns=pl.when(pl.col("cpu_ns").null_count() == 0).then(pl.col("cpu_ns").sum()),
            rounds=pl.col("rounds").min(),
            mean_rounds=pl.col("rounds").mean(),
            count=pl.len(),
            # Independent errors of many segments average out in their sum.
            spread=pl.col("spread").mean() / pl.len().sqrt(),
            error=_error(),
            kept=pl.col("kept").sum(),
            whole=pl.len() == pl.col("segments").first(),
        )
        .filter(pl.col("whole") & enough)
    )


def _error() -> pl.Expr:
    """Standard error of a case's log: of the sum of its segments, whose rounds scatter alike."""
    scatter = (pl.col("squares").sum() / (pl.col("kept").sum() - pl.len()).clip(1)).sqrt()
    share = pl.col("log").exp() / pl.col("log").exp().sum()
    return scatter * (share.pow(2) / pl.col("kept")).sum().sqrt()


def _weighted(whole: pl.DataFrame) -> pl.DataFrame:
    """The batches with `weight`: 0 beyond the fence, else 1; where places differ, so that each place has as much.

    * Adds `centre` too: the place whose mean a batch scatters about, -1 where that is the mean of all.
    """
    # Of a cut case each segment has a few rounds only: what they scatter about their medians is judged together.
    rest = pl.col("log") - pl.col("log").median().over("visited", "segment")
    place = pl.col("place").fill_null(0) % PLACES
    known = whole.with_columns(rest=rest, place=place)
    known = known.with_columns(within=fenced(known, "rest", "visited"))
    # A segment of which no round is like the others' has to be told by those it has.
    within = pl.col("within") | ~pl.col("within").any().over("visited", "segment")
    known = known.with_columns(weight=within.cast(pl.Float64))
    by_place = _by_place(known.drop("row", strict=False).with_row_index("row"))
    own = pl.int_range(pl.len()).is_in(by_place["row"].implode())
    return known.with_columns(
        known["weight"].scatter(by_place["row"], by_place["weight"]),
        # Where places differ a round scatters about the mean of its place.
        centre=pl.when(own).then("place").otherwise(-1),
    )


def _by_place(known: pl.DataFrame) -> pl.DataFrame:
    """The batches of cases that are not cut and whose speeds differ by the place of the stack: `row` and `weight`."""
    median = pl.col("log").median()
    places = known.filter(pl.col("segments") == 1).group_by("visited", "place").agg(rounds=pl.len(), median=median)
    apart = (
        (pl.len() == PLACES)
        & (pl.col("rounds").min() >= LEAST_ROUNDS_AT_A_PLACE)
        & (pl.col("median").max() - pl.col("median").min() > APART)
    )
    known = known.join(places.group_by("visited").agg(apart=apart).filter("apart"), on="visited", how="semi")
    if known.is_empty():  # the rest takes as long as all before it
        return known.select("row", "weight")
    known = known.with_columns(within=fenced(known, "rest", "visited", "place"))
    kept = pl.col("log").filter("within")
    # A median's standard error is 1.2533 times a mean's.
    error = 1.2533 * kept.std() / kept.len().sqrt()
    places = known.group_by("visited", "place").agg(median=median, error=error)
    fastest, slowest = (pl.struct("median", "error").sort_by("median").get(index) for index in (0, -1))
    gap = slowest.struct.field("median") - fastest.struct.field("median")
    error = (slowest.struct.field("error").pow(2) + fastest.struct.field("error").pow(2)).sqrt()
    differ = places.group_by("visited").agg(differ=(gap > APART_ERRORS * error).fill_null(value=False)).filter("differ")
    weight = pl.col("within") / pl.col("within").sum().over("visited", "place")
    return known.join(differ, on="visited", how="semi").select("row", weight=weight)


def canary_times(batches: pl.DataFrame, header: Mapping[str, Any]) -> pl.Series:
    """Time of each clean batch's canaries, in ns (the mean of the two)."""
    ticks = (pl.col("canary_before_ticks") + pl.col("canary_after_ticks")) / 2
    return batches.filter("clean").select(ns=ticks * 1e9 / header["ticks_per_second"])["ns"]


def causes(batches: pl.DataFrame, quiet_ppm: int | None = None, step_ticks: int = 0) -> dict[str, int]:
    """How many batches do not count, by cause: the engine's, and `neighbour` by the run's own quiet level."""
    judged = batches.select(
        cause=pl.when(undisturbed(quiet_ppm, step_ticks))
        .then(None)
        .otherwise(pl.coalesce("cause", pl.lit("neighbour")))
    )
    counted = judged.drop_nulls().group_by("cause").len()
    return dict(counted.iter_rows())
