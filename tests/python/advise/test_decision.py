"""What is decided: one choice, options with ties collapsed, reasons, consequences, the record's figures and links."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from support.advice import TODAY, ask
from support.tree import TREE
from wattlock import cli
from wattlock.advise import Advice, advise, decision, load, prose, question, record
from wattlock.advise.days import DAY_s
from wattlock.advise.rank import tied
from wattlock.errors import UsageError
from wattlock.report.decision_page import decision_figure, decision_page

ASK = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840"]
LINES, COLUMNS, ROWS = 24, 80, 6


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


@pytest.fixture(scope="module")
def beacon() -> Advice:
    return advise(load("beacon"), allow_assumed=True, today=TODAY)


@pytest.mark.parametrize("words", [ASK, *(["advise", name, "--allow-assumed"] for name in question.names())])
def test_the_answer_is_one_screen_of_24_lines_and_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert lines[1].startswith("Use ")
    head = next(number for number, line in enumerate(lines) if line.startswith("  rank  cipher"))
    rows = lines[head + 1 : lines.index("", head)]
    assert 1 <= len(rows) <= ROWS
    assert sum(row.startswith("> ") for row in rows) == 1
    assert sum(line.startswith("Measure next: ") for line in lines) == 1
    assert "--explain: " in " ".join(lines)


def test_the_guide_shows_the_answer_as_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(ASK) == 0
    guide = (TREE / "docs" / "guide" / "advise.md").read_text(encoding="utf-8")
    assert f"```\nwattlock {' '.join(ASK)}\n" in guide
    assert f"```\n{capsys.readouterr().out}```\n" in guide


def test_what_the_battery_cannot_give_is_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["advise", "beacon", "--allow-assumed"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "The radio draws 6.62 mA at its peak, battery cr2032 gives 3 mA: a capacitor must carry the peaks." in out


def test_explain_shows_every_choice_and_all_tables_and_top_cuts_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer([*ASK, "--explain"]) == 0
    out = capsys.readouterr().out
    every = len(ask().choices)
    table = out[out.index("rank  choice") :].split("\n\n")[0].splitlines()
    assert sum(bool(re.match(r"\d+ +\S", line)) for line in table) == every
    for part in (
        "legacy ciphers, for reference",
        "where the ciphers' costs come from",
        "where the answer changes",
        "ways to spend less",
        "the front",
        "assumed: ",
        "note: ",
        "excluded",
    ):
        assert part in out
    assert cli.answer([*ASK, "--explain", "--top", "2", "--try", "headers"]) == 0
    short = capsys.readouterr().out
    assert f"{every - 2} more choices pass" in short
    assert cli.answer([*ASK, "--top", "2"]) == 0
    rows = re.findall(r"^[> ] \d  .*$", capsys.readouterr().out, re.MULTILINE)
    assert len(rows) == 2
    assert rows[-1].startswith("> ")


def test_what_is_decided_stands_among_the_rows_however_few_they_are(answer: Advice) -> None:
    for most in (1, 2, 5):
        shown = decision.first_options(answer, most)
        assert len(shown) == most
        assert sum(one.decided for one in shown) == 1


@pytest.mark.parametrize("name", ["", *question.names()])
def test_a_cipher_has_one_row_however_many_tags_framings_and_implementations_it_has(name: str) -> None:
    of = advise(load(name), allow_assumed=True, today=TODAY) if name else ask()
    ciphers = [cipher for one in decision.options(of) for cipher in one.ciphers]
    assert sorted(ciphers) == sorted({choice.cipher for choice in of.choices})
    (figure,) = (part.figures["days"] for part in record.sections(of, {}, "x") if "days" in part.figures)
    assert isinstance(figure, record.DaysFigure)
    labels = [bar.name.partition(". ")[2] for bar in figure.bars]
    assert len(set(labels)) == len(labels)


def test_a_row_stands_for_all_choices_of_a_cipher_and_ciphers_that_tie_by_mode_share_one(answer: Advice) -> None:
    every = decision.options(answer)
    assert sum(one.ways for one in every) == len(answer.places)
    assert [one.rank for one in every] == sorted(one.rank for one in every)
    assert len({(one.rank, one.name.partition("-")[0]) for one in every}) == len(every)
    heads = {place.group: place.number for place in reversed(answer.places)}
    for one in every:
        assert tied(answer.life_s[heads[one.rank]], answer.life_s[one.place.number])
        if not one.decided:
            of_it = [place for place in answer.places if answer.choices[place.number].cipher == one.ciphers[0]]
            assert one.place == of_it[0], "the longest-lasting"
    (chosen,) = (one for one in every if one.decided)
    assert chosen.place == decision.decided(answer), (
        "the row of what is decided shows its days, not a longer-lasting way's"
    )
    both = next(one for one in every if len(one.ciphers) > 1)
    assert (both.ciphers, both.name) == (["aes128-ccm8", "aes128-ccm"], "aes128-ccm8, -ccm")


def test_the_strongest_of_the_tied_is_decided_and_its_days_are_told(answer: Advice) -> None:
    place = decision.decided(answer)
    choice = answer.choices[place.number]
    assert choice is answer.strongest
    assert choice.security.strength_bits == max(one.security.strength_bits for one in answer.tied)
    assert place != answer.best, "the longest life is another's"
    assert decision.sentence(answer) == f"Use {prose.named(choice)}: {prose.lasts(place)}."
    assert prose.days(place.seconds) in decision.sentence(answer)


def test_without_cryptography_the_battery_lasts_longer_by_what_tag_nonce_and_cipher_take(
    answer: Advice, beacon: Advice
) -> None:
    for of in (answer, beacon):
        bare = decision.without(of)
        assert bare["days"] == pytest.approx(float(np.median(of.bare_s)) / DAY_s)
        assert np.all(of.bare_s >= of.life_s.max(axis=0)), "no choice outlives none, in any sample"
        place = decision.decided(of)
        more = 100 * (of.bare_s / of.life_s[place.number] - 1)
        assert bare["longer_percent"] == pytest.approx(float(np.median(more)))
    # Where nothing but the radio counts the octets decide: 27 of an advertisement against 12.
    assert decision.without(beacon)["longer_percent"] > 10


def test_a_session_is_part_of_what_cryptography_costs() -> None:
    session = {"every": "1h", "sent": "1kB", "received": "1kB"}
    plain, keyed = (decision.without(ask(one)) for one in ({}, {"session": session}))
    assert keyed["days"] == pytest.approx(plain["days"]), "who exchanges no keys has no handshake"
    assert keyed["longer_percent"] > plain["longer_percent"]


def test_reasons_say_the_tie_the_energy_and_the_cost_in_three_lines(answer: Advice) -> None:
    tie, energy, cost = decision.reasons(answer)
    assert "4 of 57 choices last equally long" in tie
    assert tie.endswith("(256 bits, tag 64).")
    shares = answer.shares(decision.decided(answer).number)
    told = [float(number) for number in re.findall(r"([\d.]+) %", energy)]
    assert told[0] == pytest.approx(100 * shares["cipher"], abs=0.051)
    assert sum(told) == pytest.approx(100, abs=0.2)
    assert cost == f"Without any cryptography it would last {prose.short_share(cost_share(answer))} longer."
    alone = replace(answer, places=[answer.places[0], *(one._replace(group=2) for one in answer.places[1:])])
    assert decision.reasons(alone)[0] == "It lasts longest of 57 choices that pass (128 bits, tag 64)."


def cost_share(of: Advice) -> float:
    return decision.without(of)["longer_percent"] / 100


def test_a_battery_that_its_shelf_life_ends_is_not_blamed_on_cryptography() -> None:
    of = advise(load("gas-meter"), allow_assumed=True, today=TODAY)
    assert decision.reasons(of)[2] == "What ends it is the battery's shelf life, which no cipher changes."


def test_consequences_say_days_joules_nonces_tag_keys_and_what_to_measure(answer: Advice, beacon: Advice) -> None:
    said = dict(decision.consequences(answer))
    assert list(said) == ["Battery", "Energy", "Nonces", "The other end", "Tag", "Keys", "Memory", "Measure next"]
    place = decision.decided(answer)
    cipher_J = answer.loads[place.number].group_W("cipher")
    assert (
        f"the cipher {decision.spoken_joules(cipher_J * DAY_s)}, {decision.spoken_joules(cipher_J)} a message"
        in said["Energy"]
    )
    assert said["Tag"].startswith("64 bits: ")
    assert "at most 127 lost in a row" in said["The other end"]
    assert said["Measure next"].startswith("sleep (")
    assert "a capacitor must carry the peaks" in dict(decision.consequences(beacon))["Supply"]
    whole = ask({"floor.tag": 128})
    assert "Tag" not in dict(decision.consequences(whole))


def test_keys_are_renewed_as_often_as_the_least_limit_asks(answer: Advice) -> None:
    place = decision.decided(answer)

    def said(rekeys_per_s: float) -> str:
        loads = list(answer.loads)
        loads[place.number] = loads[place.number]._replace(rekeys_per_s=rekeys_per_s)
        return dict(decision.consequences(replace(answer, loads=loads)))["Keys"]

    assert said(1 / (2 * DAY_s)).startswith("a new one every 2 d")
    assert said(1e-12).startswith("one is enough for more than ten years")
    assert said(0.0) == "no source limits what one key may protect"


@pytest.mark.parametrize(
    ("energy_J", "said"),
    [(0.0, "0 nJ"), (3e-10, "0.3 nJ"), (1.47e-6, "1.47 uJ"), (0.9996, "1 J"), (0.05, "50 mJ"), (38_612.0, "38,600 J")],
)
def test_joules_are_said_to_three_digits_in_the_largest_unit(energy_J: float, said: str) -> None:
    assert decision.spoken_joules(energy_J) == said


def test_json_holds_the_decision_beside_the_ranking(answer: Advice, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer([*ASK, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["decision"] == decision.sentence(answer)
    assert found["reasons"] == decision.reasons(answer)
    assert found["consequences"] == dict(decision.consequences(answer))
    assert found["without_cryptography"]["days"] == pytest.approx(decision.without(answer)["days"])
    assert [one["decided"] for one in found["options"]].count(True) == 1
    assert sum(one["ways"] for one in found["options"]) == len(found["ranked"])


def test_a_records_head_says_status_date_and_decider(answer: Advice, tmp_path: Path) -> None:
    first = record.sections(answer, {}, "wattlock advise")[0]
    assert first.title == "Decision"
    assert first.facts == [("Status", "proposed"), ("Date", "2026-01-01"), ("Decider", "to be named")]
    path = tmp_path / "decision.json"
    assert cli.answer([*ASK, "--record", str(path), "--decider", "R. Roe"]) == 0
    written = json.loads(path.read_text())
    assert (written["status"], written["decider"]) == ("proposed", "R. Roe")
    assert cli.answer([*ASK, "--decider", "R. Roe"]) == UsageError.exit_code


def test_a_records_parts_are_those_of_a_decision_record_with_legacy_ciphers_last(answer: Advice) -> None:
    parts = record.sections(answer, {}, "wattlock advise")
    assert [part.title for part in parts if not part.appendix] == [
        "Decision",
        "Consequences",
        "Context",
        "Options considered",
        "Reasons",
        "Evidence",
        "How to repeat it",
    ]
    assert parts[-1].title == "Legacy ciphers, for reference"
    assert [part.appendix for part in parts] == sorted(part.appendix for part in parts)
    assert not any("blowfish" in json.dumps([part.sentences, part.rows]) for part in parts[:-1])
    assert any("blowfish" in sentence for sentence in parts[-1].sentences)


def test_sources_are_links_where_they_have_an_address_on_the_web(answer: Advice) -> None:
    assert record.linked("a", "https://b") == record.Link("a", "https://b")
    assert record.linked("a", "javascript:alert(1)") == "a"
    parts = record.sections(answer, {}, "wattlock advise")
    for title in ("Excluded", "Where the ciphers' costs come from", "Sources on security"):
        (rows,) = (part.rows for part in parts if part.title == title)
        assert any(isinstance(row["source"], record.Link) for row in rows), title
    page, text = decision_page("x", parts), record.markdown("x", parts)
    assert '<a href="https://www.rfc-editor.org/rfc/rfc9147">RFC 9147' in page
    assert re.search(r"\[RFC 9147[^]]*\]\(https://www\.rfc-editor\.org/rfc/rfc9147\)", text)


def test_markdown_names_its_figures_that_stand_beside_it_as_svg(tmp_path: Path) -> None:
    path = tmp_path / "choice.md"
    assert cli.answer([*ASK, "--record", str(path)]) == 0
    names = re.findall(r"!\[[^]]+\]\(([^)]+)\)", path.read_text())
    assert names == ["choice-days.svg", "choice-energy.svg"]
    for name in names:
        drawing = (tmp_path / name).read_text()
        ElementTree.fromstring(drawing)  # noqa: S314 - ours
        assert "var(" not in drawing, "no style sheet is there to give its colours"


def test_the_figure_of_days_has_a_row_an_option_in_their_order_and_the_reference(answer: Advice) -> None:
    figure = record.sections(answer, {}, "x")[0].figures["days"]
    assert isinstance(figure, record.DaysFigure)
    shown = decision.first_options(answer, record.OPTIONS)
    assert [bar.days for bar in figure.bars] == [one.place.seconds / DAY_s for one in shown]
    svg = ElementTree.fromstring(decision_figure(figure))  # noqa: S314 - ours
    circles = list(svg.iter("{http://www.w3.org/2000/svg}circle"))
    fills = [one.attrib["fill"] for one in circles]
    assert [fills.count(fill) == 1 for fill in fills] == [bar.decided for bar in figure.bars], "the decided one alone"
    dots = [float(one.attrib["cx"]) for one in circles]
    assert dots == sorted(dots, reverse=True)
    (dashed,) = (one for one in svg.iter() if "stroke-dasharray" in one.attrib)
    reference = float(dashed.attrib["x1"])
    assert reference > max(dots)
    left, right = 8.0, 348.0
    ends = [float(one.attrib["x2"]) for one in svg.iter("{http://www.w3.org/2000/svg}line")]
    assert max(ends) == right, "the longest bar takes all the room"
    for bar, dot in zip(figure.bars, dots, strict=True):
        assert (dot - left) / (reference - left) == pytest.approx(bar.days / figure.without, abs=1e-3)


def test_the_bar_of_energy_is_cut_by_the_shares_of_what_is_decided(answer: Advice) -> None:
    figure = record.sections(answer, {}, "x")[0].figures["energy"]
    assert isinstance(figure, record.SplitFigure)
    shares = answer.shares(decision.decided(answer).number)
    assert dict(figure.shares)["cipher"] == shares["cipher"]
    assert sum(share for _, share in figure.shares) == pytest.approx(1)
    drawing = decision_figure(figure)
    assert all(f"{name} " in drawing for name, _ in figure.shares)


def test_short_lives_are_drawn_and_listed_in_hours() -> None:
    of = advise(load("voice"), allow_assumed=True, today=TODAY)
    parts = record.sections(of, {}, "x")
    (options,) = (part.rows for part in parts if part.title == "Options considered")
    place = decision.first_options(of, 1)[0].place
    (chosen,) = (row for row in options if str(row["option"]).endswith("(decided)"))
    assert chosen["hours"] == f"{place.seconds / 3600:.3g}"
    assert chosen["95 %"] == f"{place.low_s / 3600:.3g} to {place.high_s / 3600:.3g}"
    assert "hours of battery" in decision_figure(parts[0].figures["days"])


def test_evidence_is_a_chip_on_the_page(answer: Advice) -> None:
    page = decision_page("x", record.sections(answer, {}, "x"))
    assert page.count('data-evidence="assumed"') >= 2
    assert '<td><span class="chip" data-evidence="modelled">modelled</span></td>' in page
