"""Runs against the first, or two providers of one run: ratios, what is lost, and what speaks against a claim.

Times and cycles that fresh processes measured are compared by Welch's interval. Of counted cycles what both sides share
cancels, the error of one core's rules; those of several cores are no slower and no faster version of each other, and it
is how they order the ciphers that is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import polars as pl

from wattlock.analysis import comparison, counts, self_checks
from wattlock.analysis.comparison import SMALLEST_CLAIM, UNTOLD, Quantity, Rules
from wattlock.definitions import suggestion
from wattlock.errors import EvidenceError, InputError, Slower
from wattlock.run.result import Result

UNLIKE, LISTED = "no case of the one has its like in the other", "`wattlock show RUN` lists a run's cases"
SHOWN_CASES = 5
MOST_FACTOR = 10
"""A budget that would have to be so many times longer is not worth the advice."""
UNTIMED = "measure where less else is at work, or longer: --budget 5m"
CLOCK_SHARE = 0.02
"""Clocks that differ by more are told."""
SMALLEST_BETWEEN_BUILDS = 0.2
"""Between machines with a build each no smaller difference is claimed: one build of the same source was seen to move a
short case by 16 % against another (docs/method/build.md)."""


EXACT = Rules(0.0)
"""Counts repeat: each difference is one of the code."""


@dataclass(frozen=True)
class Comparison:
    """Runs compared with the first.

    * `runs`: all of them; one alone where two `providers` of it are compared. `pairs`: each other run beside the first;
      `warnings`: in what the runs differ. `margin`: as it was asked for.
    """

    runs: Sequence[Result]
    pairs: Sequence[Pair]
    warnings: Sequence[str]
    providers: tuple[str, str] | None = None
    margin: float | None = None

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row a case and other run."""
        return pl.concat([pair.compared for pair in self.pairs], how="diagonal_relaxed")

    @cached_property
    def lost(self) -> pl.DataFrame:
        """The cases with a number in the first run alone."""
        return pl.concat([pair.lost for pair in self.pairs], how="diagonal_relaxed")

    @property
    def against(self) -> list[str]:
        """Why --fail-above can't judge."""
        return [reason for pair in self.pairs for reason in pair.against]

    @property
    def is_exact(self) -> bool:
        """Whether counts are compared, which repeat."""
        return "time" not in self.runs[0].quantities

    @cached_property
    def agreement(self) -> pl.DataFrame | None:
        """How alike several cores order the ciphers: of each two runs, by their places, a row a group; else null."""
        if not self.is_exact or len({run.core.name for run in self.runs}) == 1:
            return None
        frames = []
        for a, b in combinations(range(len(self.runs)), 2):
            first, second = self.runs[a], self.runs[b]
            found = counts.agreement(counts.compare(first.estimates, second.estimates))
            places = {"a": a, "b": b, "core_a": first.core.name, "core_b": second.core.name}
            frames.append(found.select(*(pl.lit(value).alias(name) for name, value in places.items()), pl.all()))
        return pl.concat(frames, how="diagonal_relaxed")

    @property
    def undecided(self) -> str:
        """How many cases are undecided, and which; empty where none is."""
        rows = self.table.filter((pl.col("verdict") == "undecided") & (not self.is_exact))
        return f"{rows.height} of {self.table.height} cases are undecided: {_named(rows)}" if rows.height else ""

    def refuse_undecided(self, budget_s: float) -> None:
        """Raises EvidenceError where a case is undecided after `budget_s` of measuring, with what would decide it."""
        if not self.undecided:
            return
        margin = max(pair.rules.smallest for pair in self.pairs)
        rows = self.table.filter((pl.col("verdict") == "undecided") & pl.col("ratio").is_not_null())
        widths = [
            (abs(math.log(ratio)), math.log(high / ratio)) for ratio, high in rows.select("ratio", "ratio_high").rows()
        ]
        if not widths:
            raise EvidenceError(self.undecided, hint=UNTIMED)
        # Whole within this, were it the margin; and the half-width that tells each from the margin, by the square root.
        enough = max(gap + half for gap, half in widths)
        factor = max((half / max(abs(gap - math.log1p(margin)), half / 10)) ** 2 for gap, half in widths)
        what = f"{self.undecided} by a margin of {margin * 100:.4g} % in {budget_s:g} s"
        longer = (
            f"--budget {math.ceil(budget_s * factor * 1.2 / 10) * 10}s may be enough, " if factor < MOST_FACTOR else ""
        )
        hint = f"{longer}--fail-above {math.ceil(1000 * math.expm1(enough) * 1.1) / 10:g}% would decide"
        raise EvidenceError(what, hint=hint)

    def refuse_slower(self) -> None:
        """Raises Slower where the verdict on a case is slower, or it has no number any more.

        Raises EvidenceError where a run can't be judged.
        """
        for pair in self.pairs:
            pair.refuse_unjudged()
        if self.lost.height:
            shown = self.lost.head(SHOWN_CASES).to_dicts()
            cases = ", ".join(f"{row['cipher']} {row['operation']} of {row['provider']}" for row in shown)
            what = f"{self.lost.height} cases have a number in the first and none in the second: {cases}"
            raise Slower(what, hint="`wattlock show RUN` says why each failed; a cipher that is gone has no row")
        if self.is_exact:
            margin = self.margin or 0.0
            slower = counts.more_than(self.table, margin)
            verb, has = "take more", "counts"
        else:
            slower = self.table.filter(pl.col("verdict") == "slower")
            margin, verb, has = max(pair.rules.smallest for pair in self.pairs), "are slower", "intervals"
        if slower.height:
            what = f"{slower.height} of {self.table.height} cases {verb} by more than {margin * 100:.4g} %"
            raise Slower(f"{what}: {_named(slower)}", hint=f"`--format json` prints the {has} of all cases")


def compare(
    first: Result,
    others: Sequence[Result] = (),
    providers: tuple[str, str] | None = None,
    margin: float | None = None,
) -> Comparison:
    """Compares runs with the first, or one run with itself by two providers: the second against the first.

    * `margin`: of all verdicts on times, as a share, without it the studies', at least 0.5 %; by as much counts may
      differ where that is judged.

    Raises InputError where no case of the one has its like in the other, EvidenceError where their evidence differs.
    """
    runs = [first, *others]
    counted = [run for run in runs if "time" not in run.quantities]
    if len(counted) == len(runs):
        pairs = [Pair.of_counts(first, other, providers) for other in others or [first]]
        return Comparison(runs, pairs, list(dict.fromkeys(_differences(runs))), providers, margin)
    for run in counted:
        run.timed()
    pairs = [Pair.of_times(first, other, providers, margin) for other in others or [first]]
    noted = warnings([first, *(other for other in others if other is not first)])
    return Comparison(runs, pairs, list(noted), providers, margin)


@dataclass(frozen=True)
class Pair:
    """Two runs compared.

    * `second`: the other run; `compared`: a row a case of both; `lost`, `added`: cases with a number in the first
      alone, in the second alone.
    * `unclaimed`: why nothing is claimed of them, so that every verdict is undecided; empty where something is.
    * `against`: what speaks against a judgement by --fail-above, `hint` what to do. `rules`: what may be claimed.
    """

    second: Result
    compared: pl.DataFrame
    lost: pl.DataFrame
    added: pl.DataFrame
    unclaimed: str
    against: Sequence[str]
    rules: Rules
    hint: str = "measure again, both runs with one build of wattlock, on a device"

    def refuse_unjudged(self) -> None:
        """Raises EvidenceError where something speaks against a judgement."""
        if self.against:
            raise EvidenceError(f"--fail-above {self.against[0]}", hint=self.hint)

    @classmethod
    def of_counts(cls, a: Result, b: Result, providers: tuple[str, str] | None) -> Pair:
        """Compares the counts of `b` with those of `a`."""
        for name, run in zip(providers or (), (a, b), strict=False):
            if name not in (there := run.estimates["provider"].unique().sort().to_list()):
                what = f'run {run.id}: no case is by the provider "{name}"'
                raise InputError(what, hint=f"its providers are {', '.join(there)}")
        # One core's rules are wrong alike on both sides; those of two cores each in its own way.
        is_one_core = a.core.name == b.core.name
        mixes = (a.mixes, b.mixes) if is_one_core else None
        compared = counts.compare(a.estimates, b.estimates, providers, mixes)
        if compared.is_empty():
            raise InputError(UNLIKE, hint=LISTED)
        named = {"run_b": b.id, "core_b": b.core.name, "evidence_a": a.evidence, "evidence_b": b.evidence}
        compared = compared.with_columns(**{name: pl.lit(value) for name, value in named.items()})
        lost = counts.lost(a.estimates, b.estimates)
        against = []
        if not is_one_core:
            against.append("can't judge cycles of two cores: they are no slower and no faster version of each other")
        if a.evidence != b.evidence:
            against.append("can't judge cycles of a board beside counted cycles: they are no version of each other")
        hint = "compare runs of one core" if not is_one_core else "compare runs of one kind"
        return cls(b, compared, lost if providers is None else lost.clear(), lost.clear(), "", against, EXACT, hint)

    @classmethod
    def of_times(cls, a: Result, b: Result, providers: tuple[str, str] | None, margin: float | None = None) -> Pair:
        """Compares `b` with `a`; across builds without a claim, as docs/method/build.md says."""
        first, second, keys = _sides(a, b, providers)
        rules = _rules(a, b, margin)
        compared = comparison.compare(first, second, keys, rules, a.paired_ratios if a is b else None)
        if compared.is_empty():
            raise InputError(UNLIKE, hint=LISTED)
        against = [
            f"can't judge an invalid run: {reason}" for reason in [*a.reasons, *(b.reasons if b is not a else ())]
        ]
        invalid = "an invalid run has no results" if against else ""
        builds = _builds(a, b)
        if builds:
            against.append(f"can't judge {builds}")
            if rules.smallest >= SMALLEST_BETWEEN_BUILDS:
                small = f"{builds}, so that less than {100 * SMALLEST_BETWEEN_BUILDS:.0f} % is not claimed"
                reason = pl.when(pl.col("reason") == UNTOLD).then(pl.lit(small)).otherwise("reason")
                compared, builds = compared.with_columns(reason=reason), ""
        if a.evidence == "emulated":
            against.append("can't judge emulated times: they are the cost of no device")
        if unclaimed := invalid or builds:
            energy = pl.when(pl.col("energy_verdict").is_not_null()).then(pl.lit("undecided"))
            compared = compared.with_columns(
                verdict=pl.lit("undecided"), reason=pl.lit(unclaimed), energy_verdict=energy
            )
        named = {"run_a": pl.lit(a.plan["id"]), "run_b": pl.lit(b.plan["id"])}
        named |= {"evidence_a": pl.lit(a.evidence), "evidence_b": pl.lit(b.evidence)}
        lost, added = comparison.lost(first, second, keys), comparison.lost(second, first, keys)
        return cls(b, compared.with_columns(**named), lost, added, unclaimed, against, rules)


def _builds(a: Result, b: Result) -> str:
    """That two builds of the probe measured, where they did."""
    builds = [str(result.plan["probe_sha256"])[:12] for result in (a, b)]
    if builds[0] == builds[1]:
        return ""
    return f"two builds of the probe, {builds[0]} and {builds[1]}: a difference may be theirs"


def _sides(a: Result, b: Result, providers: tuple[str, str] | None) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The cases of either side, and what two of them must have in common."""
    metered = meters_are_alike(a, b)
    first, second = (_cases(result, metered=metered) for result in (a, b))
    _refuse_mixed([first, second])
    keys = ["cipher", *comparison.FACTORS]
    if max(len(a.core_classes), len(b.core_classes)) > 1:
        keys.append("core_class")
    if providers is None:
        keys.append("provider")
    else:
        first, second = _of_provider(first, providers[0]), _of_provider(second, providers[1])
    return first, second, keys


def meters_are_alike(a: Result, b: Result) -> bool:
    """Whether joules may be compared: of one meter, or of two that include the same."""
    if a.meter is None or b.meter is None:
        return False
    return a.meter["name"] == b.meter["name"] and (_same_core(a, b) or a.meter["scope"] == b.meter["scope"])


def _rules(a: Result, b: Result, margin: float | None) -> Rules:
    """What may be claimed of two runs: of one kind of core in cycles, of two in time."""
    if margin is None:
        margin = max(SMALLEST_CLAIM, *(result.plan["study"]["smallest_effect_percent"] / 100 for result in (a, b)))
    # What moves two copies of one case apart in a run moves its other cases: noise, which widens no margin.
    excess = max(self_checks.aa_excess(result.verdicts) for result in (a, b))
    same_core = _same_core(a, b)
    quantity: Quantity = "cycles" if same_core else "time"
    if not same_core and _builds(a, b) and _same_profile(a, b):
        # A machine of another kind has a build of its own, which is a part of what it costs there.
        return Rules(max(margin, SMALLEST_BETWEEN_BUILDS), False, excess, quantity, one_meter=False)
    return Rules(margin, excess=excess, quantity=quantity, one_meter=same_core)


def _same_core(a: Result, b: Result) -> bool:
    keys = [("build", "isa"), *(("hardware", key) for key in ("vendor", "model_name", "family", "model"))]
    return a.core_classes == b.core_classes and all(_known(a, *key) == _known(b, *key) for key in keys)


def _same_profile(a: Result, b: Result) -> bool:
    return all(_known(a, "build", key) == _known(b, "build", key) for key in ("opt_level", "lto", "codegen_units"))


def _known(result: Result, group: str, key: str) -> Any:
    return result.header["fingerprint"].get(group, {}).get(key)


def _cases(result: Result, *, metered: bool) -> pl.DataFrame:
    """The cases with their deviation, and their energies where alike meters measured both runs."""
    content = {input_file["data"]: f"{input_file['data']} {input_file['sha256'][:12]}" for input_file in result.inputs}
    estimates = result.estimates
    if metered and result.energies is not None:
        energies = result.energies.select(
            "case", "energy_uJ", "energy_low_uJ", "energy_high_uJ", "energy_random_percent"
        )
        estimates = estimates.join(energies, on="case", how="left", maintain_order="left")
    return estimates.join(result.across.select("case", "deviation"), on="case", how="left").with_columns(
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
    known = sorted(set(frame["provider"]))
    if name not in known:
        raise InputError(f'no case of provider "{name}"', hint=suggestion(name, known, "the run has"))
    return frame.filter(pl.col("provider") == name)


def warnings(runs: Sequence[Result]) -> Iterator[str]:
    """What speaks against a comparison: invalid runs, and conditions in which others differ from the first."""
    for result in runs:
        name = result.plan["id"]
        yield from (f"run {name} is invalid: {reason}" for reason in result.reasons)
        yield from (f"run {name}: {line}" for line in result.warnings)
    first, *others = runs
    for other in others:
        pair = "the runs" if len(runs) == 2 else f"{first.plan['id']} and {other.plan['id']}"
        for what, sentence, two in _conditions(first, other):
            if sentence != two:
                yield f"{pair} differ in their {what}: {sentence} and {two}"
        if not _same_core(first, other):
            yield f"{pair} are of different processors: times are compared, not cycles"
        if first.meter and other.meter and not meters_are_alike(first, other):
            yield f"{pair} have joules of meters that don't include the same: they are not compared"
        clocks = first.clock.GHz, other.clock.GHz
        if clocks[0] and clocks[1] and abs(clocks[1] / clocks[0] - 1) > CLOCK_SHARE:
            memory = "; cycles in memory are not alike" if _same_core(first, other) else ""
            described = f"{clocks[0]:.2f} and {clocks[1]:.2f} GHz{memory}"
            yield f"{pair} differ in their clock: {described}"


def _conditions(a: Result, b: Result) -> Iterator[tuple[str, Any, Any]]:
    for what, group, key in (
        ("processor", "hardware", "model_name"),
        ("stepping", "hardware", "stepping"),
        ("system", "kernel", "release"),
        ("governor", "power", "governor"),
        ("compiler", "build", "rustc"),
        ("compiler's flags", "build", "flags"),
    ):
        yield what, _known(a, group, key), _known(b, group, key)
    yield "meter", _meter(a), _meter(b)
    yield "build (SHA-256 of the probe)", *(run.plan["probe_sha256"][:12] for run in (a, b))


def _meter(result: Result) -> str | None:
    return result.meter["name"] if result.meter else None


def _named(cases: pl.DataFrame) -> str:
    shown = [
        f"{row['cipher']} {row['operation']} {row['payload_B']} B"
        + (f" and {row['aad_B']} B of associated data" if row["aad_B"] else "")
        + f" of {row.get('provider_b') or row['provider']}"
        + (f" ({(row['ratio'] - 1) * 100:+.1f} %)" if row["ratio"] else "")
        for row in cases.head(SHOWN_CASES).iter_rows(named=True)
    ]
    more = [f"{cases.height - SHOWN_CASES} more"] if cases.height > SHOWN_CASES else []
    return ", ".join([*shown, *more])


def _differences(runs: Sequence[Result]) -> Iterator[str]:
    """In what runs that counted differ from the first."""
    first = runs[0]
    for other in runs[1:]:
        titles = f"{first.core.title} and {other.core.title}"
        if first.core.name != other.core.name:
            yield f"the runs are of two cores: {titles}; cycles of each are its own"
        elif first.evidence != other.evidence:
            kinds = " and ".join(f"{run.evidence} on {run.core.title}" for run in (first, other))
            yield (
                f"the runs differ in their evidence: {kinds}; a board's cycles hold its flash, caches and layout, "
                "core cycles the error of the core's rules"
            )
        elif first.core.target != other.core.target:
            yield f"the runs differ in their {'part' if first.core.board is None else 'board'}: {titles}"
        conditions = (
            ("compiler", *(run.header["fingerprint"]["build"]["rustc"] for run in (first, other))),
            ("build (SHA-256 of the probe)", *(run.plan["probe_sha256"][:12] for run in (first, other))),
            ("emulator", *(run.emulator or "none" for run in (first, other))),
        )
        yield from (f"the runs differ in their {what}: {a} and {b}" for what, a, b in conditions if a != b)
