"""`wattlock link --compare`: designs of secure links side by side."""

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import product
from typing import Any

import pytest

from support.tree import require_programs
from wattlock import cli
from wattlock.advise import question
from wattlock.link.designs import LOSSES, compared
from wattlock.targets.parts import step


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


def computed(payload_B: int, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The program's rows."""
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_the_comparison_has_a_row_a_design_radio_and_loss_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    printed = computed(16, capsys)
    assert {row["design"] for row in printed} == set(compared().design)
    assert {row["payload_B"] for row in printed} == {16}
    of = {(row["radio"], row["design"], row["loss"]) for row in printed}
    assert len(of) == len(printed)


@pytest.fixture(scope="module")
def told() -> tuple[list[dict[str, Any]], dict[str, list[list[str]]]]:
    """The rows for programs, and what a terminal of 100 letters shows: the cells below each table's title."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        patch.setenv("COLUMNS", "100")
        assert cli.answer(["link", "--compare", "tracker", "--format", "json"]) == 0
        rows = json.loads(out.getvalue())
        out.truncate(out.seek(0))
        assert cli.answer(["link", "--compare", "tracker"]) == 0
    assert err.getvalue() == "", "a column that did not fit"
    text = out.getvalue()
    assert text.rstrip().endswith("no product's security yet")
    tables = {}
    for part in text.split("\n\n")[1:]:
        title, *lines = [line for line in part.splitlines() if not line.startswith("never: ")]
        tables[title] = [re.split(r"  +", line.strip()) for line in lines]
    return rows, tables


def table_of(tables: dict[str, list[list[str]]], *words: str) -> dict[str, list[str]]:
    """The one table whose title has these words: its rows by their first cell."""
    (found,) = (cells for title, cells in tables.items() if all(word in title for word in words))
    assert len({row[0] for row in found}) == len(found)
    return {name: cells for name, *cells in found}


def test_a_terminal_shows_joules_at_both_strengths_with_intervals_at_each_loss(
    told: tuple[list[dict[str, Any]], dict[str, list[list[str]]]],
) -> None:
    rows, tables = told
    for radio, bits in product(compared().radio, (64, 128)):
        shown = table_of(tables, f"{radio}: ", f"verified at {bits} bits")
        assert shown.pop("design") == ["0%", "1%", "5%", "10%", "20%"]
        here = [row for row in rows if row["radio"] == radio]
        assert set(shown) == {row["design"] for row in here if row[f"verified_{bits}_uJ"]}
        size = 1e3 if "lora" in radio else 1.0
        for row in here:
            if row["design"] in shown:
                cell = shown[row["design"]][LOSSES.index(row["loss"])]
                expected = [row[f"verified_{bits}_{part}uJ"] / size for part in ("", "low_", "high_")]
                assert [float(one) for one in re.split(" |-", cell)] == pytest.approx(expected, rel=0.006)


def test_a_terminal_shows_what_tally_saves_at_each_loss_also_where_that_is_nothing_or_less(
    told: tuple[list[dict[str, Any]], dict[str, list[list[str]]]],
) -> None:
    rows, tables = told
    of = {(row["radio"], row["design"], row["loss"]): row for row in rows}
    for radio in compared().radio:
        (found,) = (cells for title, cells in tables.items() if title.startswith(f"{radio}: percent"))
        assert found[0] == ["design", "below", "bits", "0%", "1%", "5%", "10%", "20%", "radio_10%"]
        pairs = {(name, below, int(bits)): [float(one) for one in cells] for name, below, bits, *cells in found[1:]}
        assert {("tally", "dtls13", 128), ("tally", "dtls13-cid-ccm8", 64), ("tally", "whole-8", 64)} <= set(pairs)
        for (name, below, bits), cells in pairs.items():
            for loss, percent in zip(LOSSES, cells, strict=False):
                own, other = (of[radio, one, loss][f"verified_{bits}_uJ"] for one in (name, below))
                assert percent == pytest.approx(100 * (1 - own / other), abs=0.051)
            # Of radio and reports alone, by the message that is verified: what is lost was sent all the same.
            own, other = (
                (row["message_uJ"] + (row["report_uJ"] or 0) * row["reports_a_message"]) / row[f"verified_{bits}_share"]
                for row in (of[radio, one, 0.1] for one in (name, below))
            )
            assert cells[-1] == pytest.approx(100 * (1 - own / other), abs=0.051)
        if radio == "wifi":
            assert all(one < 0 for one in pairs["tally", "whole", 128])


def test_a_terminal_shows_waits_and_what_does_not_depend_on_loss(
    told: tuple[list[dict[str, Any]], dict[str, list[list[str]]]],
) -> None:
    rows, tables = told
    waiting = {row["design"] for row in rows if row["wait_128_s"]}
    for bits in (64, 128):
        shown = table_of(tables, f"until {bits} bits")
        assert set(shown) == waiting | {"design"}
    assert table_of(tables, "until 128 bits")["tally"][3] == "2.15 h"
    assert table_of(tables, "until 128 bits")["sp-mac"][3].endswith(" h, 43.5 %")
    for radio, one in compared().radio.items():
        shown = table_of(tables, f"{radio}: {one.title}")
        head = shown.pop("design")
        assert {"adds_B", "air_ms", "cycles", "state_B", "bits_at_once"} <= set(head)
        assert any(name.startswith("handshake_") for name in head)
        assert set(shown) == {row["design"] for row in rows if row["radio"] == radio}


def test_a_terminal_shows_the_ten_profiles_in_days_without_tally_and_with_it(
    told: tuple[list[dict[str, Any]], dict[str, list[list[str]]]],
) -> None:
    _, tables = told
    shown = table_of(tables, "days of battery")
    assert shown.pop("profile") == ["without", "with", "change_%", "first"]
    assert sorted(shown) == question.names()
    assert shown["gas-meter"][2:] == ["0.00", "without"]
    assert shown["tracker"][3] == "with"
    assert float(shown["wearable"][2]) < 0
    assert shown["voice"][1:3] == ["-", "-"]
    assert shown["sensor"] == ["-", "-", "-", "has assumed numbers: --allow-assumed takes them"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["nosuch"], "nosuch"),
        (["tracker", "--radio", "sx1262-lora"], "--compare and --radio don't go together"),
        (["tracker", "--payload-B", "50000000"], "50000000 octets: no radio carries them"),
        (["tracker", "--device", "x86-server-assumed"], "x86-server-assumed"),
        (["voice"], "costs on esp32 is assumed"),
        (["adhoc-open"], "adhoc-open"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_two_lines(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["link", "--compare", *options]) not in {0, 70}
    lines = capsys.readouterr().err.splitlines()
    assert says in lines[0]
    assert [line.partition(":")[0] for line in lines] == ["error", "hint"]


def test_tally_is_priced_by_what_was_counted_on_the_devices_core_and_other_designs_with_ascon_by_the_same_projects_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def cycles(*options: str) -> dict[str, tuple[float, bool]]:
        assert cli.answer(["link", "--compare", "tracker", "--payload-B", "16", "--format", "json", *options]) == 0
        rows = json.loads(capsys.readouterr().out)
        return {row["design"]: (row["cycles"], row["cycles_assumed"]) for row in rows if row["radio"] != "ble"}

    counted, board = cycles(), step("nrf52840", "core cycles").factor
    assert counted["tally"][0] == pytest.approx(board * (5_759 + 63_154 / 16))
    assert counted["whole"][0] == pytest.approx(board * 5_264)
    assert not counted["tally"][1]
    assert counted["tally-bare"][1], "nobody counted a hint of two octets"
    esp32 = cycles("--device", "esp32", "--allow-assumed")
    assert esp32["tally"][1]
    assert esp32["tally"][0] > esp32["whole"][0], "of a report"


def test_designs_that_lora_cannot_carry_are_left_out_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--compare", "video", "--allow-assumed", "--format", "json"]) == 0
    answer = capsys.readouterr()
    bare = {name for name, design in compared().design.items() if design.bare_hint_B is not None}
    assert {row["design"] for row in json.loads(answer.out)} == set(compared().design) - bare
    assert all(name in answer.err for name in bare)


@pytest.mark.parametrize(("payload_B", "left_out"), [(2_200, set()), (2_300, {"wifi"})])
def test_messages_too_long_for_one_radio_are_compared_on_the_others(
    payload_B: int, left_out: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B), "--format", "json"]) == 0
    answer = capsys.readouterr()
    assert set(compared().radio) - {row["radio"] for row in json.loads(answer.out)} == left_out
    assert ("left out on wifi: all designs: more octets than it carries" in answer.err) == bool(left_out)
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B)]) == 0
    assert ("\nwifi: " in capsys.readouterr().out) != bool(left_out)


def test_a_design_that_adds_too_much_for_wi_fi_is_left_out_alone(capsys: pytest.CaptureFixture[str]) -> None:
    on_wifi = {row["design"] for row in computed(2_268 - 5, capsys) if row["radio"] == "wifi"}
    assert "tally" in on_wifi
    assert {"whole", "whole-8"}.isdisjoint(on_wifi)
