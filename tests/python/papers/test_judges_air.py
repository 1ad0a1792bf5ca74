"""The figures that judges of sending give, by made-up transfers and the papers' tables, and sums done by hand."""

from math import exp, hypot, log

import pytest

from support import papers_made_up as worlds
from support.papers_evidence import PAPERS, about, nothing
from wattlock.analysis.effects import Ratio
from wattlock.papers.judge import AirAnswer, Judgement
from wattlock.papers.on_air import SAYS, _kind, _over
from wattlock.papers.themes import JUDGES

DATA = ("text", "audio", "video")


def sharp(value: float) -> Ratio:
    return Ratio(value, value, value)


def judged(name: str, *transfers: AirAnswer) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), nothing(transfers=transfers))


def values(found: Judgement) -> list[float]:
    return [one.effect.value for one in found.compared]


def sent(scenario: str, seconds: float, data: str = "text", cipher: str = "none", **more: str) -> AirAnswer:
    return AirAnswer(scenario, data, cipher, sharp(seconds), evidence=more.get("evidence", "modelled"))


def test_each_side_of_an_interval_is_joined_with_the_other_side_of_what_it_is_held_against() -> None:
    value, low, high = _over(Ratio(10, 8, 20), Ratio(5, 4, 15))
    assert value == 2
    assert low == pytest.approx(2 * exp(-hypot(log(10 / 8), log(15 / 5))))
    assert high == pytest.approx(2 * exp(hypot(log(20 / 10), log(5 / 4))))


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("measured", "measured", "measured"),
        ("modelled", "modelled", "modelled"),
        ("assumed", "assumed", "assumed"),
        ("measured", "modelled", "modelled"),
        ("modelled", "assumed", "assumed"),
        ("assumed", "measured", "assumed"),
    ],
)
def test_two_transfers_rest_on_the_weaker_of_both(one: str, other: str, both: str) -> None:
    assert _kind(sent("a", 1, evidence=one), sent("b", 1, evidence=other)) == both


# ---------- ciphers against AES


def six(scenario: str, factors: tuple[float, ...]) -> list[AirAnswer]:
    times = iter(factors)
    return [
        sent(scenario, 10.0 if cipher == "aes" else 10.0 * next(times), data, cipher)
        for data in DATA
        for cipher in ("aes", "blowfish", "rc6")
    ]


@pytest.mark.parametrize(
    ("name", "scenario", "says"),
    [
        (
            "adhoc-blowfish-rc6-vs-aes",
            "adhoc_open",
            "text 0.577 to 0.588 (claimed 0.56), audio 0.520 to 0.534 (claimed 0.51), "
            "video 0.570 to 0.590 (claimed 0.57).",
        ),
        ("bss-blowfish-rc6-vs-aes", "bss_tkip", "text 0.682 to 0.683 (claimed 0.68), audio 0.520 to 0.530"),
    ],
)
def test_blowfish_and_rc6_stand_beside_aes_for_all_data_with_the_papers_own_tables(
    name: str, scenario: str, says: str
) -> None:
    transfers = six(scenario, (0.62, 0.63, 0.51, 3.0, 0.57, 0.58))
    found = judged(name, *transfers)
    assert values(found) == pytest.approx([3.0, 0.62, 0.63, 0.51, 0.57, 0.58])
    assert [one.holds for one in found.compared] == [False, *(True,) * 5]
    assert found.compared[0].effect.what == "RC6 over AES, sending audio,"
    assert f"The paper's own tables give {says}" in found.sentence
    assert found.evidence == "modelled sending over 802.11, where the paper measured two laptops"
    for lacking in transfers:
        assert judged(name, *(one for one in transfers if one is not lacking)).verdict == "not tested"


# ---------- scenarios against each other


def test_a_scenario_over_another_is_told_for_the_data_that_both_have() -> None:
    transfers = [
        *(sent("bss_open", times, data) for data, times in (("text", 15.2), ("audio", 30.0), ("video", 40.0))),
        *(sent("adhoc_open", 10.0, data) for data in ("text", "audio", "image")),
        sent("adhoc_open", 1.0, "video", "aes"),
    ]
    found = judged("bss-vs-adhoc", *transfers)
    assert [(one.cases, one.effect.value, one.holds) for one in found.compared] == [
        ("audio", about(3.0), False),
        ("text", about(1.52), True),
    ]
    assert found.compared[0].effect.what == "open BSS over open ad hoc, sending audio in clear,"
    assert found.compared[0].effect.unit == "1"
    assert found.compared[0].bounds is not None
    assert found.compared[0].bounds[:3] == (1.47, 1.57, "1")
    # 12.21 / 8.27 to 43.24 / 27.67 in clear; RC2's audio and 3DES's text with a cipher.
    assert "The paper's own tables give 1.48 to 1.56 for plaintext, 1.16 to 1.83 over the ciphers." in found.sentence
    assert judged("bss-vs-adhoc", *transfers[:3]).verdict == "not tested"


def test_a_scenario_in_percent_is_held_against_percents() -> None:
    found = judged("open-vs-wep", sent("adhoc_wep", 10.4), sent("adhoc_open", 10.0))
    (one,) = found.compared
    assert one.effect == (
        "what ad hoc with WEP costs over open ad hoc, sending text in clear,",
        "%",
        *(about(4),) * 3,
    )
    assert one.bounds is not None
    assert one.bounds[:3] == (0, 5, "%")
    assert found.verdict == "explained"


def test_a_poor_signal_is_held_against_an_open_one_first_and_the_one_that_fails_is_told() -> None:
    transfers = [
        *(sent("adhoc_poor", times, data) for data, times in (("text", 17.1), ("audio", 17.0), ("video", 18.0))),
        *(sent("adhoc_open", 10.0, data) for data in DATA),
        *(sent("adhoc_wep", 12.0, data) for data in DATA),
    ]
    found = judged("poor-signal", *transfers)
    assert values(found) == pytest.approx([70, 71, 80, 42.5, 41.6667, 50])
    # What lies on the bound is not above it.
    assert [one.holds for one in found.compared] == [False, True, True, False, False, False]
    assert [one.cases for one in found.compared] == [
        f"{data}, against {SAYS[under]}"
        for under, kinds in (("adhoc_open", ("audio", "text", "video")), ("adhoc_wep", DATA))
        for data in kinds
    ]


# ---------- energies


def spent(
    radio: Ratio | None, host: Ratio | None, cipher: str = "aes", scenario: str = "adhoc_open", data: str = "text"
) -> AirAnswer:
    return AirAnswer(scenario, data, cipher, sharp(1), radio, host)


def test_the_radios_share_has_its_ends_where_one_part_is_least_and_the_other_greatest() -> None:
    found = judged("transmission-dominates", spent(Ratio(6, 5, 9), Ratio(2, 1, 5)))
    assert found.compared[0].effect[2:] == pytest.approx((0.75, 0.5, 0.9))
    assert found.compared[0].holds is True
    assert "the radio's least share of all data and conditions, text with AES," in found.compared[0].effect.what
    # 45.93 s over 17.35 s for text at a poor signal, 26.84 s over 19.39 s for video.
    assert "The paper's own tables have AES at 1.38 to 2.65 times the plain transfer." in found.sentence


def test_only_a_ciphers_transfers_in_the_papers_scenarios_with_both_energies_count() -> None:
    none = [
        spent(sharp(1), sharp(9), "none"),
        spent(sharp(1), sharp(9), scenario="whole"),
        spent(None, sharp(9)),
        spent(sharp(1), None),
    ]
    for one in none:
        assert judged("transmission-dominates", one).verdict == "not tested"
    some = [*none, spent(sharp(4), sharp(1), "des"), spent(sharp(3), sharp(1)), spent(sharp(1), sharp(1.5), "rc2")]
    found = judged("transmission-dominates", *some, spent(sharp(3.5), sharp(1), "des", data="video"))
    assert values(found) == pytest.approx([0.4, 0.75, 3.5 / 4.5])
    assert [one.holds for one in found.compared] == [False, True, True]


def test_of_a_ciphers_shares_the_one_that_fails_is_the_least_and_then_the_one_that_is_open() -> None:
    open_one, sure = spent(Ratio(8, 1, 9), Ratio(1, 0.9, 9)), spent(sharp(3), sharp(2), data="audio")
    found = judged("transmission-dominates", sure, open_one)
    assert [(one.holds, one.effect.value) for one in found.compared] == [(None, about(8 / 9))]


def small(size: int, share: float, **more: float) -> AirAnswer:
    shares = Ratio(share, more.get("low", share), more.get("high", share))
    return AirAnswer("packet", "", "none", sharp(1), payload_B=size, overhead_share=shares)


def test_packets_of_100_bytes_and_less_tell_the_overhead() -> None:
    found = judged("mac-overhead-cited", small(0, 0.1), small(1, 0.9), small(100, 0.8), small(101, 0.2), small(64, 0.4))
    assert values(found) == [0.4, 0.9, 0.8]
    assert found.compared[0].effect.what == "what headers, gaps and answers take of 64 B packets"
    unsized = AirAnswer("packet", "", "none", sharp(1), overhead_share=sharp(0.9))
    assert judged("mac-overhead-cited", unsized).verdict == "not tested"
    bare = AirAnswer("packet", "", "none", sharp(1), payload_B=64)
    assert judged("mac-overhead-cited", bare).verdict == "not tested"
    # Just half counts, by our own bound.
    assert judged("mac-overhead-cited", small(64, 0.5)).verdict == "explained"


# ---------- fragments


def fragments(signal: float | None, energy: float, time: float, cut: str = "fragmented") -> list[AirAnswer]:
    return [
        AirAnswer("whole", "", "aes", sharp(2), sharp(4), signal_dBm=signal),
        AirAnswer(cut, "", "aes", sharp(2 * time), sharp(4 * energy), signal_dBm=signal),
    ]


def test_fragments_hold_where_they_save_energy_and_take_longer() -> None:
    alone = AirAnswer("fragmented", "", "aes", sharp(1), sharp(1), signal_dBm=-40.0)
    unweighed = [
        AirAnswer(one, "", "aes", sharp(1), energy, signal_dBm=-45.0)
        for one, energy in (("whole", sharp(1)), ("fragmented", None))
    ]
    found = judged(
        "fragmentation",
        alone,
        *unweighed,
        *fragments(-50.0, 1.2, 1.3),
        *fragments(-60.0, 0.75, 1.3),
        *fragments(-70.0, 0.5, 1.25),
        *fragments(-80.0, 0.9, 1.0),
        *fragments(-81.0, 0.9, 0.5),
        *fragments(-82.0, 1.0, 1.5),
    )
    assert [(one.cases, one.holds) for one in found.compared] == [
        ("signal -50 dBm", False),
        ("signal -80 dBm", False),
        ("signal -81 dBm", False),
        ("signal -82 dBm", False),
        ("signal -60 dBm", True),
        ("signal -70 dBm", True),
    ]
    assert values(found) == pytest.approx([20, -10, -10, 0, -25, -50])
    assert "It holds at: signal -60 dBm, signal -70 dBm." in found.sentence
    assert (
        "Energy alone is saved at -80 dBm, where the transfer takes 1 times as long, -81 dBm, where the transfer takes "
        "0.5 times as long: the throughput is not lowered there." in found.sentence
    )


def test_fragments_that_hold_nowhere_say_so_and_without_any_nothing_is_said() -> None:
    dearer = judged("fragmentation", *fragments(-50.0, 1.2, 1.3))
    assert dearer.sentence.endswith("It holds at none of these signals.")
    neither = judged("fragmentation", *fragments(-50.0, 1.2, 1.3, cut="other"))
    assert neither.verdict == "not tested"
    assert "It holds" not in neither.sentence


# ---------- the papers' own tables


def test_the_cases_in_which_ciphertext_arrives_sooner_are_counted_and_the_greatest_lead_is_told() -> None:
    name = "ciphertext-faster-than-plaintext"
    found = judged(name)
    assert values(found) == [9]
    assert found.compared[0].effect.described() == "9"
    assert found.compared[0].effect.what == "the number of cases in which ciphertext arrives sooner"
    assert found.compared[0].cases == "30 cases"
    # RC6's video at a poor signal, 14.13 s over 19.39 s.
    assert "The greatest lead is 27 % (video with RC6, ad hoc with WEP and a poor signal): so far" in found.sentence
    late = worlds.world(PAPERS.claim(name), "fails")
    none = JUDGES[name](PAPERS.claim(name), late)
    assert values(none) == [0]
    assert "The greatest lead is 0 % (none)" in none.sentence


def test_as_long_as_in_clear_is_not_sooner() -> None:
    name = "ciphertext-faster-than-plaintext"
    even = {
        data: table.model_copy(
            update={"duration_s": {**table.duration_s, **dict.fromkeys(("blowfish", "rc6"), table.duration_s["none"])}}
        )
        for data, table in PAPERS.sending.items()
    }
    evidence = nothing(papers=PAPERS.model_copy(update={"sending": even}))
    assert values(JUDGES[name](PAPERS.claim(name), evidence)) == [0]


def test_what_sending_rests_on_is_named_by_all_that_was_compared() -> None:
    def said(*kinds: str) -> str:
        transfers = [
            sent(scenario, 10.0, data, evidence=kind)
            for data, kind in zip(DATA, kinds, strict=False)
            for scenario in ("bss_open", "adhoc_open")
        ]
        return judged("bss-vs-adhoc", *transfers).evidence.partition(" sending")[0]

    assert said("measured") == "measured"
    assert said("modelled", "assumed") == "assumed and modelled"
    assert judged("bss-vs-adhoc", sent("bss_open", 10.0, evidence="assumed")).evidence == "nothing"
