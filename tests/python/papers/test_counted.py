"""The claims by counted cycles: a judge sees in which world it is, and no arithmetic makes a core's error smaller."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support import papers_made_up as worlds
from support.counted_runs import C3, M0PLUS, M4, M4_PART, STUDY, Replayed
from support.papers_counted import counted, counted_world
from support.papers_evidence import KINDS, PAPERS, Kind, row, run_of
from wattlock.errors import InputError, StoreError
from wattlock.papers.themes import JUDGES, judge_all
from wattlock.papers.verdicts import (
    ANSWERS,
    NO_CYCLES,
    NOT_COUNTABLE,
    SCHEMA,
    Answer,
    CoreAnswer,
    CoreJudged,
    answer,
    countable,
    judge_counted,
    table,
)
from wattlock.run.begin import measure

COUNTABLE = [claim.id for claim in countable(PAPERS)]
OF_KIND: dict[Kind, Answer] = {"holds": "supported", "fails": "contradicted", "unclear": "undecided"}


def said(name: str, rows: list[dict[str, object]]) -> CoreAnswer:
    return answer(PAPERS.claim(name), counted(pl.DataFrame(rows, infer_schema_length=None)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COUNTABLE)
def test_a_core_sees_in_which_world_it_is(name: str, kind: Kind) -> None:
    claim = PAPERS.claim(name)
    found = answer(claim, counted_world(worlds.world(claim, kind)))
    # RC4's cycles are those of a Pentium, which no core here is.
    assert found.answer == ("undecided" if name == "rc4-cycles" else OF_KIND[kind]), found.sentence
    assert found.effect is not None
    assert found.effect.low <= found.effect.value <= found.effect.high


def test_every_claim_on_time_or_energy_is_counted_or_told_why_not() -> None:
    never = [name for names in NOT_COUNTABLE.values() for name in names]
    about = {claim.id for claim in PAPERS.claims if claim.about in {"time", "energy"}}
    assert len(never) == len(set(never))
    assert set(never) | set(COUNTABLE) == about
    assert not set(never) & set(COUNTABLE)
    assert len(COUNTABLE) == 29


@pytest.mark.parametrize("name", COUNTABLE)
def test_a_sentence_names_bytes_and_no_kind_of_data_that_was_not_counted(name: str) -> None:
    claim = PAPERS.claim(name)
    found = answer(claim, counted_world(worlds.world(claim, "holds")))
    assert "random data" in found.sentence
    assert " B" in found.sentence
    assert not [word for word in ("text", "audio", "video", "image") if word in found.sentence.split("what counts")[0]]


def test_a_ratio_carries_the_whole_error_on_both_sides() -> None:
    rows = [row("3des", 1000, half_width_percent=10.0, data="text"), row("des", 500, half_width_percent=10.0)]
    found = said("3des-vs-des", rows)
    assert found.effect is not None
    assert found.effect[2:] == pytest.approx((0.5, 0.5 / 1.21, 0.5 * 1.21))
    independent = JUDGES["3des-vs-des"](
        PAPERS.claim("3des-vs-des"), run_of([one | {"data": "text"} for one in rows])
    ).effect
    assert independent is not None
    assert independent.high < found.effect.high


def test_an_error_that_ends_before_the_bound_decides_and_one_that_reaches_it_does_not() -> None:
    """Before 1.25 the interval of a ratio of 1.25 ends with errors below 11.8 %, both sides together."""

    def of(percent: float) -> str:
        rows = [row(name, cost, half_width_percent=percent) for name, cost in (("aes", 1000), ("blowfish", 800))]
        return said("advice-blowfish-rc6", [*rows, row("rc6", 800, half_width_percent=percent)]).answer

    assert (of(11.7), of(11.9)) == ("supported", "undecided")


def test_no_average_makes_the_error_smaller() -> None:
    claim = PAPERS.claim("decrypt-vs-encrypt")
    for percent in (0.1, 5.0):
        world = worlds.world(claim, "holds").estimates.with_columns(half_width_percent=pl.lit(percent))
        effect = answer(claim, counted(world)).effect
        assert effect is not None
        whole = (1 + percent / 100) ** 2
        compared = next(one for one in JUDGES[claim.id](claim, counted(world)).compared if "over" in one.effect.what)
        assert compared.effect.high / compared.effect.value >= whole * (1 - 1e-9)
        assert compared.effect.value / compared.effect.low >= whole * (1 - 1e-9)


def test_a_crossing_lies_between_those_of_the_worst_errors() -> None:
    """900 + size against 10 * size meet at 100 B; with the one f times and the other 1/f times as much elsewhere."""
    rows = [
        row(family, fixed + each * size, payload_B=size, keying=keying, half_width_percent=5.0)
        for family, fixed, each in (("rc4", 900.0, 1.0), ("aes", 0.0, 10.0))
        for keying in ("each", "ready")
        for size in worlds.SIZES
    ]
    found = said("rc4-aes-crossover", rows).effect
    assert found is not None
    f = 1.05**2
    assert found.value == pytest.approx(100)
    assert found.low == pytest.approx(900 / f / (10 - 1 / f))
    assert found.high == pytest.approx(900 * f / (10 - f))


def test_a_saving_carries_the_whole_error_on_both_sides() -> None:
    sizes = (14, 1500)
    rows = [
        row(family, cost, payload_B=size, keying=keying, half_width_percent=2.0)
        for family, costs in (("rc4", (500.0, 500.0, 1500.0)), ("aes", (50.0, 450.0, 9000.0)))
        for keying in ("each", "ready")
        for size, cost in zip((sizes[0], 100, sizes[1]), costs, strict=True)
    ]
    compared = JUDGES["hybrid-saves"](PAPERS.claim("hybrid-saves"), counted(pl.DataFrame(rows))).compared[0]
    whole = compared.parts[0].effect
    value = (50 + 500 + 1500) / (500 + 500 + 1500)
    ends = [100 * (value * factor - 1) for factor in (1, 1.02**-2, 1.02**2)]
    assert whole[2:] == pytest.approx(ends)


def test_the_same_count_of_the_same_image_is_the_same_whatever_the_rules() -> None:
    claim = PAPERS.claim("rc4-key-size")
    rows = [row("rc4", 1000, key_bits=bits, half_width_percent=9.9) for bits in (40, 128, 256)]
    apart = counted(pl.DataFrame(rows))
    assert answer(claim, apart).answer == "undecided"
    one_image = apart.estimates.with_columns(image_sha256=pl.lit("one"))
    assert answer(claim, replace(apart, estimates=one_image)).answer == "undecided"
    alike = one_image.with_columns(instructions=pl.lit(7))
    found = answer(claim, replace(apart, estimates=alike))
    assert found.answer == "supported"
    assert found.effect is not None
    assert found.effect[2:] == (0, 0, 0)


def test_constant_time_aes_has_its_answer_beside_and_decides_nothing() -> None:
    rows = [row("aes", 1000), row("aes", 5000, path="fixsliced", provider="rustcrypto-soft"), row("blowfish", 800)]
    found = said("blowfish-vs-aes-text", [one | {"provider": "rustcrypto"} for one in rows])
    assert found.answer == "contradicted"
    assert found.sentence.endswith("with constant-time software supported")
    assert list(found.findings[0].answers.values()) == ["not reproduced", "reproduced"]


def test_a_claim_on_another_machine_has_the_figure_beside() -> None:
    found = said("rc4-cycles", [row("rc4", 7 * 100_000 / 3)])
    assert found.answer == "undecided"
    assert found.sentence.startswith("of a Pentium; what RC4 takes here is 7 cycles/B")
    assert found.bounds is None


def test_what_was_not_counted_is_named() -> None:
    found = said("blowfish-vs-aes-text", [row("aes", 1000)])
    assert (found.answer, found.effect) == ("undecided", None)
    assert found.sentence == "not counted: it needs cases of blowfish and aes that encrypt text"


def core_of(kind: Kind) -> CoreJudged:
    answers = [answer(claim, counted_world(worlds.world(claim, kind))) for claim in countable(PAPERS)]
    return CoreJudged("runs/m4", "counted-1", "papers/mcu", "cortex-m4", 0.2, tuple(answers))


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_has_each_cores_answer_with_its_figure_beside_the_hosts(kind: Kind) -> None:
    core = core_of(kind)
    judgements = judge_all(run_of([row("null", 1.0, placement="L2")]))
    rows = table(judgements, PAPERS, [core])
    assert rows.schema == SCHEMA
    for line in rows.iter_rows(named=True):
        known = core.of(line["claim"])
        assert len(line["counted"]) == (known is not None)
        if known is not None:
            (told,) = line["counted"]
            assert (told["core"], told["evidence"], told["answer"]) == ("cortex-m4", "emulated", known.answer)
            assert known.effect is not None
            assert told["effect_value"] == pytest.approx(known.effect.value)
            assert all(one["answer"] in ANSWERS for one in told["findings"])
    assert table(judgements, PAPERS)["counted"].list.len().sum() == 0


def test_a_core_without_rules_decides_nothing_and_says_why() -> None:
    (core,) = judge_counted([C3])
    assert not core.has_cycles
    assert {(one.answer, one.sentence, one.effect) for one in core.answers} == {("undecided", NO_CYCLES, None)}


def test_runs_on_two_cores_are_judged_each_by_itself() -> None:
    cores = judge_counted([M4, M0PLUS])
    assert [core.core for core in cores] == ["cortex-m4", "cortex-m0plus"]
    assert cores[0].error_percent == 9.9
    beside = cores[0].of("rc4-cycles")
    assert beside is not None
    assert beside.effect is not None
    assert "64 B of random data" in beside.sentence


def test_a_second_run_of_a_core_is_refused_also_in_a_part() -> None:
    with pytest.raises(InputError, match="same core, cortex-m4"):
        judge_counted([M4, M0PLUS, M4_PART])


def test_a_run_without_the_papers_ciphers_is_refused(tmp_path: Path) -> None:
    study = tmp_path / "counted.toml"
    study.write_text(
        STUDY.replace(', "rc4-128"]', "]")
        .replace('["rc4-128"]', '["ascon-aead128"]')
        .replace('operation = ["encrypt"]', 'operation = ["open"]')
    )
    measure(str(study), target=Replayed(), out=tmp_path / "run")
    with pytest.raises(InputError, match="none of the papers' ciphers") as raised:
        judge_counted([tmp_path / "run"])
    assert "wattlock run papers/mcu --on qemu:cortex-m4" in raised.value.hint


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        judge_counted([tmp_path])
