"""Where the papers contradict: each entry is of a known paper and claim, and its figures are those of the tables."""

import re
from collections.abc import Iterable

import pytest

from support import papers_made_up
from wattlock.analysis.front import front
from wattlock.papers import literature
from wattlock.papers.literature import Contradiction, SendingTable
from wattlock.papers.themes import JUDGES

PAPERS = literature.load()
TABLES: list[SendingTable] = list(PAPERS.sending.values())
CIPHERS = list(TABLES[0].duration_s)
CLAIMED = "transmission-dominates"


def of(claim: str, against: str, holds: str = "") -> Contradiction:
    """The only contradiction of a claim against something that holds these words."""
    (found,) = (
        one
        for one in PAPERS.contradictions
        if claim in one.claims and one.against == against and holds in f"{one.says} {one.but}"
    )
    return found


def over(above: str, below: str) -> list[float]:
    """One condition over another, in all cells."""
    return [table.of(cipher, above) / table.of(cipher, below) for table in TABLES for cipher in CIPHERS]


def plain(above: str, below: str) -> list[float]:
    return [table.of("none", above) / table.of("none", below) for table in TABLES]


def percent(ratios: Iterable[float]) -> list[float]:
    return sorted(100 * (one - 1) for one in ratios)


def test_every_contradiction_is_of_known_papers_and_claims_and_stands_once() -> None:
    papers, claims = {one.id for one in PAPERS.sources}, {one.id for one in PAPERS.claims}
    for one in PAPERS.contradictions:
        assert set(one.source) <= papers
        assert set(one.claims) <= claims
        assert one.says.endswith(".")
        assert one.but.endswith(".")
    sentences = [one.says + one.but for one in PAPERS.contradictions]
    assert len(sentences) == len(set(sentences))


def test_a_paper_is_said_to_contradict_another_only_where_two_are_named() -> None:
    for one in PAPERS.contradictions:
        assert bool(one.by) == (one.against == "papers")
        assert set(one.by) <= {paper.id for paper in PAPERS.sources} - set(one.source)
    assert all("toldinas" not in one.source for one in PAPERS.contradictions if one.against == "itself")


@pytest.mark.parametrize(
    "word", ["disagree", "contradict", "mplausible", "misreading", "do not depend", "which the paper"]
)
def test_a_claim_whose_note_names_a_contradiction_is_in_the_list(word: str) -> None:
    listed = {claim for one in PAPERS.contradictions for claim in one.claims}
    noted = {claim.id for claim in PAPERS.claims if word in claim.note}
    assert noted
    assert noted <= listed


@pytest.mark.parametrize("words", ["called bytes", "mostly says itself", "9, 11 or 13", "By its times of encryption"])
def test_the_errors_of_toldinas_are_named(words: str) -> None:
    assert any(one.source == ["toldinas"] and words in f"{one.says} {one.but}" for one in PAPERS.contradictions)


@pytest.mark.parametrize("words", ["RC5", "800 MHz", "7.139Mega", "labelled in µJ", "given in words only"])
def test_what_sources_conditions_and_exhibits_name_is_in_the_list(words: str) -> None:
    assert any(words in f"{one.says} {one.but}" for one in PAPERS.contradictions)


def test_the_transfers_of_the_tables_are_as_told() -> None:
    described = of(CLAIMED, "tables").but
    aes = [table.of("aes", column) / table.of("none", column) for table in TABLES for column in table.columns]
    assert f"{min(aes):.2f} to {max(aes):.2f} times the plain" in described
    spreads = []
    for table in TABLES:
        for column in table.columns:
            cells = [table.of(cipher, column) for cipher in CIPHERS if cipher != "none"]
            spreads.append(max(cells) / min(cells))
    assert f"{min(spreads):.2f} to {max(spreads):.2f} times the fastest" in described


def test_blowfish_and_rc6_over_aes_are_as_told() -> None:
    described = of("adhoc-blowfish-rc6-vs-aes", "tables").but
    for table in TABLES:
        ratios = [
            100 * table.of(family, column) / table.of("aes", column)
            for family in ("blowfish", "rc6")
            for column in ("adhoc_open", "adhoc_wep")
        ]
        assert f"{min(ratios):.1f} to {max(ratios):.1f} % for {table.data}" in described


def totals(above: str, below: str) -> dict[str, float]:
    """By kind of data, how many percent all six ciphers together take more."""
    six = [cipher for cipher in CIPHERS if cipher != "none"]
    return {
        table.data: 100 * (sum(table.of(c, above) for c in six) / sum(table.of(c, below) for c in six) - 1)
        for table in TABLES
    }


def test_a_poor_signal_is_as_told_by_cell_and_by_the_six_ciphers_totals() -> None:
    described = of("poor-signal", "tables", "at least 70").but
    for below in ("adhoc_open", "adhoc_wep"):
        added = percent(over("adhoc_poor", below))
        assert f"{added[0]:.0f} to {added[-1]:.0f} %" in described
        sums = totals("adhoc_poor", below).values()
        assert f"{min(sums):.1f} to {max(sums):.1f} %" in described
    added = percent(over("adhoc_poor", "adhoc_open"))
    assert f"its {len(added)} cells" in described
    assert f"{sum(one < 70 for one in added)} of them below 70 %" in described
    whole = totals("adhoc_poor", "adhoc_open")
    described = of("poor-signal", "tables", "about 100 %").but
    assert f"totals give {whole['text']:.1f} %" in described
    assert f"right: {whole['audio']:.1f} and {whole['video']:.1f} %" in described


def test_what_the_paper_adds_up_is_not_said_to_be_wrong() -> None:
    whole = totals("adhoc_poor", "adhoc_open")
    for kind, printed in (("audio", 74), ("video", 71)):
        assert whole[kind] == pytest.approx(printed, abs=1.1)
        assert not any(f"{printed} %" in one.says for one in PAPERS.contradictions)


def test_the_tables_give_blowfish_and_rc6_the_same_share_wherever_it_is_told() -> None:
    claim = PAPERS.claim("adhoc-blowfish-rc6-vs-aes")
    judged = JUDGES[claim.id](claim, papers_made_up.world(claim, "holds")).sentence
    described = of(claim.id, "tables").but
    found = re.findall(r"(text|audio|video) (0\.\d+) to (0\.\d+)", judged)
    assert len(found) == 3
    for kind, low, high in found:
        assert f"{100 * float(low):.1f} to {100 * float(high):.1f} % for {kind}" in described


def test_what_no_paper_says_is_marked_as_read_off_or_ours() -> None:
    assert sorted(one.origin for one in PAPERS.contradictions if one.origin != "stated") == ["ours", *["read-off"] * 3]
    for one in PAPERS.contradictions:
        origins = {PAPERS.claim(claim).origin for claim in one.claims}
        assert origins != {"read-off"} or one.origin != "stated", one.says
        if origins == {"cited"} and one.against != "papers":
            assert "cite" in one.says or one.says.startswith(THEIR_OWN), one.says


# Sentences of their own that bear on a claim which they cite.
THEIR_OWN = ("AES has 9, 11 or 13", "DES has keys")


def test_singh_is_not_said_to_print_keys_of_64_bits() -> None:
    assert "singh" not in of("3des-vs-des", "known").source


def test_wep_access_points_and_tkip_are_as_told() -> None:
    described = of("open-vs-wep", "tables").but
    wep = percent(over("adhoc_wep", "adhoc_open"))
    alone = percent(plain("adhoc_wep", "adhoc_open"))
    assert f"{alone[0]:.1f} to {alone[-1]:.1f} %" in described
    assert f"{sum(one > 5 for one in wep)} of all {len(wep)} cells" in described
    assert f"{wep[-1]:.1f} %" in described
    through = over("bss_open", "adhoc_open")
    assert f"{min(through):.2f} to {max(through):.2f} times" in of("bss-vs-adhoc", "tables").but
    tkip = over("bss_tkip", "bss_open")
    described = of("tkip-vs-open", "tables").but
    assert f"{min(tkip):.2f} to {max(tkip):.2f} times" in described
    assert f"{sum(one < 1 for one in tkip)} of {len(tkip)} cells" in described


def test_rijndael_by_time_by_front_and_by_step_is_as_told() -> None:
    rows = PAPERS.toldinas.rijndael
    least = [
        min((row for row in rows if row.key_bits == key), key=lambda one: one.encrypt_s) for key in (128, 192, 256)
    ]
    assert [row.block_bits for row in least] == [128, 128, 192]
    assert [row.encrypt_s for row in rows].count(8821) == 3
    described = of("rijndael-pareto", "tables", "larger block").but
    for operation, words in (("encrypt", "encryption"), ("decrypt", "decryption")):
        costs = [getattr(row, f"{operation}_battery_percent") for row in rows]
        keys, blocks = [row.key_bits for row in rows], [row.block_bits for row in rows]
        more = [
            f"{row.block_bits}/{row.key_bits}"
            for row, on in zip(rows, front(costs, keys, blocks), strict=True)
            if on and row.block_bits != row.key_bits
        ]
        assert [f"{place} ({words})" in described for place in more] == [True]
        table = {row.key_bits: cost for row, cost in zip(rows, costs, strict=True) if row.block_bits == row.key_bits}
        steps = [100 * (table[b] / table[a] - 1) for a, b in ((128, 192), (192, 256))]
        assert f"{steps[0]:+.1f} and {steps[1]:+.1f} % for {words}" in of("rijndael-profiles", "tables").but


def test_sentences_set_beside_each_other_are_as_told() -> None:
    discharges = PAPERS.claim("3des-battery").expect, PAPERS.claim("blowfish-battery").expect
    each_3des = (100 - discharges[0]["left_percent"]) / (discharges[0]["encryptions"] * 5e6)
    each_blowfish = discharges[1]["drained_percent"] / discharges[1]["bytes"]
    assert round(each_blowfish / each_3des, -4) == 290_000
    assert "some 290,000 times" in of("3des-battery", "itself").but
    ratio = 1 / PAPERS.claim("rc6-vs-aes-video-singh").expect["ratio"]
    assert f"{100 * ratio:.0f} % of AES's" in of("rc6-vs-aes-video-singh", "papers").but
    cells = {(row.block_bits, row.key_bits): row.encrypt_battery_percent for row in PAPERS.toldinas.rijndael}
    steps = [100 * (cells[128, key] / cells[128, 128] - 1) for key in (192, 256)]
    assert f"{steps[0]:+.0f} and {steps[1]:+.0f} % at a block of 128 bits" in of("aes-key-size", "papers").but
