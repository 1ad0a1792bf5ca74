"""What one process says of each of its cases: the mean over its clean rounds, without those beyond a fence.

The unit is the **canary**: the time of the multiplication chain beside each batch. A batch's ticks over its canaries'
ticks do not depend on the core's clock; times and cycles follow from it by one factor each.

A mean and not the median, because buffers and stack lie elsewhere at each visit: some ciphers have two speeds, 11 %
apart, by where a vector falls on a cache line. Their median jumps from one to the other; their mean does not. A fence,
because in a few batches something is at work that no canary sees: it would take the rarer of two speeds for that, so
where the places of the stack differ each has a fence of its own. No batch is marked for its value: all stay in the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from wattlock.analysis.estimate import COMMON_WEIGHT, LEVEL, NORMAL_MAD, UNSEEN_ERROR, half_width_of, joined
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
    log, places = pl.col("log"), ("visited", "segment", "whole")
    median = log.median().over(places)
    scatter = 4 * (median - log.quantile(0.25, "linear").over(places))
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
    is_own = pl.int_range(pl.len()).is_in(by_place["row"].implode())
    return known.with_columns(
        known["weight"].scatter(by_place["row"], by_place["weight"]),
        # Where places differ a round scatters about the mean of its place.
        centre=pl.when(is_own).then("place").otherwise(-1),
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


LOOKS = (5, 8, 12, 20, 30, 45, 70, 100)
"""Processes after which the intervals are looked at: a process of two cases takes a tenth of a second."""

LEVELS: dict[tuple[int, ...], float] = {LOOKS: 0.0089}
"""The level of each look at which all intervals of a pair together hold its ratio in 95 of a hundred (of normal values,
made up). A pair stops where its interval is clear of the margin, which its mean decides: so each of them must hold."""

LEAST_VISITS = 4
"""A process with fewer visits that count says nothing of a pair."""

PAIR_FENCE = 3.0
"""A visit counts up to so many standard deviations from the median, by the median distance from it."""

RANGE_OF_NORMAL = 1.349
"""A normal distribution's interquartile range in its standard deviations."""

SCHEMA: dict[str, type[pl.DataType]] = {
    "process": pl.Int64,
    "first": pl.Int64,
    "second": pl.Int64,
    "log_ratio": pl.Float64,
    "error": pl.Float64,
    "visits": pl.Int64,
}
"""A row a process and pair: the log of the second's cost over the first's, its standard error within the process, and
the visits that it rests on."""


def summarise_pairs(
    batches: pl.DataFrame,
    header: Mapping[str, Any],
    summary: pl.DataFrame,
    pairs: Mapping[int, int],
    quiet_ppm: int | None = None,
) -> pl.DataFrame:
    """What one complete process says of the pairs that it measured both cases of.

    * `batches`, `header`, `quiet_ppm`: as of `within.summarise`, and `summary` is its answer. `pairs`: the second case
      of each first.
    * Returns rows of `SCHEMA`. A visit counts where both of its batches are undisturbed and their ratio is within the
      fence. Cases whose calls are cut have as many batches a visit as segments, of which few are undisturbed together:
      their ratio is that of the two means.
    """
    known = {case["case"]: case for case in header["cases"]}
    there = {first: second for first, second in pairs.items() if first in known and second in known}
    whole = {a: b for a, b in there.items() if known[a]["segments"] == known[b]["segments"] == 1}
    cut = beside(summary, {a: b for a, b in there.items() if a not in whole})
    return pl.concat([_of_visits(batches, header, whole, quiet_ppm), cut])


def _of_visits(
    batches: pl.DataFrame, header: Mapping[str, Any], pairs: Mapping[int, int], quiet_ppm: int | None
) -> pl.DataFrame:
    log = (2 * pl.col("ticks") / (pl.col("canary_before_ticks") + pl.col("canary_after_ticks")) / pl.col("calls")).log()
    clean = (
        batches.join(cases_of(header), on="case")
        .filter((pl.col("calls") == pl.col("planned_calls")) & undisturbed(quiet_ppm, step_of(header)))
        # The last try of a visit: one before it may count by what later processes found.
        .unique(("case", "round"), keep="last", maintain_order=True)
        .select("case", "round", "place", log=log)
    )
    named = pl.DataFrame({"first": list(pairs), "second": list(pairs.values())}, schema_overrides=_CASES)
    visits = (
        named.join(clean, left_on="first", right_on="case")
        .join(clean, left_on=["second", "round"], right_on=["case", "round"], suffix="_second")
        .select("first", "second", "place", log=pl.col("log_second") - pl.col("log"))
    )
    by_place = (
        _near(visits)
        .group_by("first", "second", pl.col("place").fill_null(0) % PLACES)
        .agg(
            mean=pl.col("log").mean(),
            squares=(pl.col("log") - pl.col("log").mean()).pow(2).sum(),
            visits=pl.len(),
        )
    )
    count, places = pl.col("visits").sum(), pl.len()
    # Each place of the stack has an equal share; they scatter alike about their means.
    scatter = pl.col("squares").sum() / (count - places).clip(1)
    return (
        by_place.group_by("first", "second", maintain_order=True)
        .agg(
            log_ratio=pl.col("mean").mean(),
            error=(scatter * (1 / pl.col("visits")).sum()).sqrt() / places,
            visits=count,
        )
        .filter(pl.col("visits") >= LEAST_VISITS)
        .sort("first")
        .with_columns(process=pl.lit(header["process"]))
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    )


def _near(visits: pl.DataFrame) -> pl.DataFrame:
    """The visits of each pair whose ratio is near the median at its place of the stack.

    Beside other programs one batch of a visit in three takes some per cent more that no canary sees, as often the
    second's as the first's: a median stands in the middle of that where quartiles don't, and so does the median
    distance from it.
    """
    log = pl.col("log")
    away = (log - log.median().over("first", "place")).abs()
    at_place = (
        visits.with_columns(away=away)
        .group_by("first", "place")
        .agg(median=log.median(), error=NORMAL_MAD * pl.col("away").median() / pl.len().sqrt(), visits=pl.len())
    )
    gap = pl.col("median").max() - pl.col("median").min()
    enough = pl.col("visits").min() >= LEAST_ROUNDS_AT_A_PLACE
    # A place where half of the visits were disturbed has a median of its own, and a wide one.
    apart = enough & (gap > APART) & (gap > APART_ERRORS * pl.col("error").max())
    known = visits.join(at_place.group_by("first").agg(apart=apart), on="first")
    rest = log - pl.when("apart").then(log.median().over("first", "place")).otherwise(log.median().over("first"))
    known = known.with_columns(rest=rest.abs())
    least = LEAST_RANGE / RANGE_OF_NORMAL
    reach = PAIR_FENCE * pl.max_horizontal(NORMAL_MAD * pl.col("rest").median().over("first"), least)
    return known.filter(pl.col("rest") <= reach)


_CASES: dict[str, type[pl.DataType]] = {"first": pl.Int64, "second": pl.Int64}


def beside(summaries: pl.DataFrame, pairs: Mapping[int, int]) -> pl.DataFrame:
    """Rows of `SCHEMA` for cases that were not visited in pairs: the means of their processes, in the order measured.

    * `summaries`: rows of `within.summarise`. The first process that has the one case stands beside the first that has
      the other, and so on: of processes that alternate they are neighbours in time.
    """
    value = summaries.select("process", "case", "log_canaries", "rounds", "error").with_columns(
        turn=pl.col("process").rank("ordinal").over("case")
    )
    named = pl.DataFrame({"first": list(pairs), "second": list(pairs.values())}, schema_overrides=_CASES)
    return (
        named.join(value, left_on="first", right_on="case")
        .join(value, left_on=["second", "turn"], right_on=["case", "turn"], suffix="_second")
        .with_columns(
            log_ratio=pl.col("log_canaries_second") - pl.col("log_canaries"),
            error=(pl.col("error").pow(2) + pl.col("error_second").pow(2)).sqrt(),
            visits=pl.min_horizontal("rounds", "rounds_second"),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    )


def leant(errors: Sequence[float], visits: Sequence[int]) -> NDArray[np.float64]:
    """Standard errors as `estimate.errors_of` has them: what few visits scatter leans on what the median process's do.

    A visit is the only one at its place of the stack in a process of few: their scatter tells nothing.
    """
    count = np.asarray(visits, dtype=np.float64)
    freedom, scatter = np.maximum(count - PLACES, 0.0), np.square(errors) * count
    common = float(np.median(scatter[freedom > 0])) if freedom.any() else 0.0
    leaning = (freedom * scatter + COMMON_WEIGHT * common) / (freedom + COMMON_WEIGHT)
    return np.asarray(np.sqrt(leaning / count))


def ratio_over_processes(values: Sequence[float], errors: ArrayLike, level: float) -> tuple[float, float]:
    """Log ratio over processes, and the half-width of its interval at `level`: their consensus.

    * `values`: log ratio of each process; `errors`: their standard errors within the process.
    """
    mean, error, freedom = joined(values, errors)
    return mean, half_width_of(math.hypot(error, UNSEEN_ERROR), freedom, level)


def ratios(rows: pl.DataFrame, looks: Sequence[int]) -> dict[tuple[int, int], tuple[float, float]]:
    """Log ratio and half-width by first and second case, either way round; of pairs with two processes and more.

    * `rows`: of `SCHEMA`; `looks`: after which the run looked.
    """
    found, level = {}, LEVELS.get(tuple(looks), LEVEL / max(1, len(looks)))
    for (first, second), group in rows.group_by("first", "second", maintain_order=True):
        if group.height < 2:
            continue
        errors = leant(group["error"].to_list(), group["visits"].to_list())
        gap, half_width = ratio_over_processes(group["log_ratio"].to_list(), errors, level)
        found[first, second] = gap, half_width
        found[second, first] = -gap, half_width
    return found
