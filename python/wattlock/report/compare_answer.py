"""What a comparison says, in sentences: which run, by how much, for which ciphers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from wattlock.report.compared import Against, RunComparison
from wattlock.report.formats import listing, number, percent
from wattlock.report.ratios import ENERGY, Measure, case_count, common, quantity_of, ratios

FACTOR = 1.5
"""A ratio beyond this is said as a factor, a lesser one as percent."""
SMALL = 0.02
MOST_NAMED = 4

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "slower": "is slower than",
        "faster": "is faster than",
        "more": "takes more energy than",
        "less": "takes less energy than",
    }
)
WORDS: Mapping[str, str] = MappingProxyType(
    {"slower": "slower", "faster": "faster", "more": "more energy", "less": "less energy"}
)
Counts = Mapping[str, int]
DIRECTIONS: Mapping[str, tuple[str, str]] = MappingProxyType({"cost": ("slower", "faster"), "energy": ("more", "less")})


def answer(compared: RunComparison, measure: Measure) -> list[str]:
    """The sentences on a measure: of several runs their order first, then each of them beside the first run."""
    frame = ratios(compared, measure)
    order = [] if len(compared.others) == 1 else _order(compared, frame, measure)
    return [*order, *(_beside(compared, other, frame, measure) for other in compared.others)]


def by(ratio: float) -> str:
    """How much a ratio is: `a factor of 2.10`, `5.2 %`."""
    if max(ratio, 1 / ratio) >= FACTOR:
        return f"a factor of {number(max(ratio, 1 / ratio))}"
    # Near the difference that matters a third digit tells on which side of it a ratio lies.
    return percent(abs(ratio - 1), 3 if abs(ratio - 1) < SMALL else 2)


def _order(compared: RunComparison, frame: pl.DataFrame, measure: Measure) -> list[str]:
    """The runs by the median of the cases that all have; nothing where no run differs from the first."""
    claimed = [other.side for other in compared.others if not other.pair.unclaimed]
    rows = frame.filter(pl.col("letter").is_in([side.letter for side in claimed]), pl.col("ratio").is_not_null())
    shared = common(rows)
    if shared.is_empty():
        return []
    differing = shared["verdict"].is_in(DIRECTIONS[measure.name]).any()
    if not differing:
        return [f"None of the runs is shown to differ from {compared.first.spoken}."]
    medians = dict(shared.group_by("letter").agg(pl.col("ratio").median()).iter_rows()) | {compared.first.letter: 1.0}
    cases = case_count(shared)
    of = f"the {cases} cases that all have" if cases > 1 else "the case that all have"
    same = compared.smallest
    if all(abs(math.log(median)) <= math.log1p(same) for median in medians.values()):
        return [f"At the median of {of}, no run differs from another by more than {percent(same, 2)}."]
    names = {side.letter: side.brief for side in compared.sides}
    ordered = sorted(medians, key=lambda letter: (medians[letter], letter))
    told = [
        f"{names[letter]} ({'1' if letter == compared.first.letter else number(medians[letter])})" for letter in ordered
    ]
    what = "least energy" if measure is ENERGY else "fastest"
    return [
        f"From the {what} on: {listing(told)}; in brackets the median ratio to {compared.first.letter} over {of}. "
        f"Medians that differ by less than {percent(same, 2)} are no order."
    ]


def _beside(compared: RunComparison, other: Against, frame: pl.DataFrame, measure: Measure) -> str:
    names = other.side.spoken, compared.first.spoken
    if other.pair.unclaimed:
        return f"Nothing is claimed of {names[0]} beside {names[1]}: {other.pair.unclaimed}."
    rows = frame.filter(pl.col("letter") == other.side.letter)
    judged = rows.filter(pl.col("ratio").is_not_null())
    if judged.is_empty():
        return f"{names[0]} has no {'energy' if measure is ENERGY else 'case'} to compare with {names[1]}."
    counts = dict(judged.group_by("verdict").len().iter_rows())
    greater, smaller = DIRECTIONS[measure.name]
    main, minor = (greater, smaller) if counts.get(greater, 0) >= counts.get(smaller, 0) else (smaller, greater)
    if not counts.get(main):
        return _alike(names, judged, counts, other)
    if counts.get("equivalent", 0) > counts[main] + counts.get(minor, 0):
        same = f"{names[0]} is equivalent to {names[1]} in {counts['equivalent']} of {judged.height} cases, within "
        rest = [_back(judged, verdict) for verdict in (main, minor) if counts.get(verdict)]
        return f"{same}{percent(other.pair.rules.smallest, 2)}. It {_rest(rest, counts, ('undecided',), measure)}."
    return " ".join(_differing(names, judged, (main, minor), measure))


def _alike(names: tuple[str, str], judged: pl.DataFrame, counts: Counts, other: Against) -> str:
    equivalent, total = counts.get("equivalent", 0), judged.height
    if equivalent == total:
        cases = "the case that both have" if total == 1 else f"all {total} cases"
        return f"{names[0]} is equivalent to {names[1]} in {cases}, within {percent(other.pair.rules.smallest, 2)}."
    return (
        f"{names[0]} is neither slower nor faster than {names[1]}: of {total} cases {equivalent} are equivalent and "
        f"{counts.get('undecided', 0)} undecided."
    )


def _differing(
    names: tuple[str, str], judged: pl.DataFrame, verdicts: tuple[str, str], measure: Measure
) -> Iterator[str]:
    main, minor = verdicts
    counts = dict(judged.group_by("verdict").len().iter_rows())
    rows = judged.filter(pl.col("verdict") == main).sort(pl.col("ratio").log().abs(), descending=True)
    share = f"{rows.height} of {judged.height} cases"
    if rows.height == judged.height:
        share = "the case that both have" if judged.height == 1 else f"all {judged.height} cases"
    amount = f"by {by(_median(rows))}{' at the median' if rows.height > 1 else ''}"
    most, least = (_named(rows.row(place, named=True)) for place in (0, -1))
    ends = f"; most for {most}, least for {least}" if rows.height > 1 else f", for {most}"
    yield f"{names[0]} {VERBS[main]} {names[1]} in {share}, {amount}{ends}."
    rest = [_back(judged, minor)] if counts.get(minor) else []
    if rest or rows.height < judged.height:
        yield f"It {_rest(rest, counts, ('equivalent', 'undecided'), measure)}."


def _back(judged: pl.DataFrame, verdict: str) -> str:
    """`slower in 4 (AES-128-CBC and RC4-128; by 0.9 %)`."""
    rows = judged.filter(pl.col("verdict") == verdict)
    return f"{WORDS[verdict]} in {rows.height} ({_ciphers(rows)}; by {by(_median(rows))})"


def _rest(rest: Sequence[str], counts: Counts, words: Sequence[str], measure: Measure) -> str:
    verb = "takes" if rest and measure is ENERGY else "is"
    return f"{verb} {listing([*rest, *(f'{word} in {counts[word]}' for word in words if counts.get(word))])}"


def _median(rows: pl.DataFrame) -> float:
    middle = rows["ratio"].median()
    return middle if isinstance(middle, float) else 1.0


def _named(row: Mapping[str, object]) -> str:
    ratio = row["ratio"]
    return f"{row['named']} ({row['case']}, {by(ratio) if isinstance(ratio, float) else ''})"


def _ciphers(rows: pl.DataFrame) -> str:
    names = rows["named"].unique(maintain_order=True).to_list()
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return listing([*names[:MOST_NAMED], *more])


def about(compared: RunComparison) -> str:
    """What is compared, in a sentence."""
    quantity = quantity_of(compared)
    if quantity == "cycles":
        return "Compared are core cycles, which hold still where the clock wanders; 1 is the cost of the first run."
    if quantity == "time":
        return "Compared is time at each run’s median clock; 1 is the time of the first run."
    return (
        "Compared are core cycles, between two kinds of processor time at each run’s median clock; 1 is the first run."
    )
