"""`wattlock link --compare`: designs of secure links side by side."""

import json
from typing import Any

import pytest

from support.tree import TREE, require_programs
from wattlock import cli
from wattlock.link.designs.rules import compared


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


def test_the_comparison_has_a_row_a_design_and_says_what_tally_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", "16", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["design"] for row in printed} == set(compared().design)
    assert {row["payload_B"] for row in printed} == {16}
    assert cli.answer(["link", "--compare", "tracker"]) == 0
    out = capsys.readouterr().out
    assert "no product's security yet" in out
    assert all(name in out for name in (*compared().design, *compared().radio))


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


PAGE = (TREE / "docs" / "results" / "tally.md").read_text(encoding="utf-8")
README = (TREE / "README.md").read_text(encoding="utf-8")
COLUMNS = ("dtls13", "dtls13-cid", "tls13", "noise", "wireguard", "whole", "one-in-4", "promac", "sp-mac", "tally")
AT_64 = ("dtls13-ccm8", "dtls13-cid-ccm8", "dtls12-ccm8", "oscore", "whole-8", "sp-mac", "tally")
TABLES = [
    ("| radio | DTLS 1.3", 128, 0.1, COLUMNS, ("dtls13", "whole")),
    ("| radio, 1 % |", 128, 0.01, COLUMNS, ("whole", "sp-mac")),
    ("| radio, 64 bits |", 64, 0.1, AT_64, ("dtls13-ccm8", "whole-8")),
]


def rows_of(header: str) -> dict[str, list[float]]:
    """The rows of the page's table that begins with a header, by their first column."""
    lines = PAGE.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[text.strip(" `") for text in line.strip("|").split("|")] for line in lines]
    return {name: [float(one.replace(",", "").removesuffix(" %")) for one in found] for name, *found in cells}


def computed(payload_B: int, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The program's rows."""
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def verified_uJ(found: list[dict[str, Any]], bits: int, share: float) -> dict[str, dict[str, float]]:
    """Joules of a message verified at so many bits and such loss, by radio and design."""
    by: dict[str, dict[str, float]] = {}
    for row in found:
        if row["loss"] == share:
            by.setdefault(row["radio"], {})[row["design"]] = row[f"verified_{bits}_uJ"]
    return by


def below(found: dict[str, float], other: str) -> float:
    """Percent that tally takes less than another design."""
    return 100 * (1 - found["tally"] / found[other])


def test_the_page_of_results_and_the_readme_have_the_programs_joules(capsys: pytest.CaptureFixture[str]) -> None:
    rows = computed(16, capsys)
    for header, bits, share, columns, others in TABLES:
        printed, by = rows_of(header), verified_uJ(rows, bits, share)
        assert list(printed) == list(compared().radio) == list(by)
        for radio, cells in printed.items():
            found, size = by[radio], 1e3 if "lora" in radio else 1.0
            assert cells[: len(columns)] == pytest.approx([found[name] / size for name in columns], rel=0.006)
            assert cells[len(columns) :] == pytest.approx([below(found, name) for name in others], abs=0.06)
    at_128, at_64 = verified_uJ(rows, 128, 0.1), verified_uJ(rows, 64, 0.1)
    of = {radio: f"{below(found, 'whole'):.0f} %" for radio, found in at_128.items()}
    assert f"{of['lora-sf12']} fewer joules" in README
    assert f"{of['ble']} fewer on Bluetooth LE" in README
    assert {radio for radio, found in at_64.items() if below(found, "whole-8") < 0} == {"802.15.4", "ble", "wifi"}
    on_lora = [f"{below(at_64[radio], 'whole-8'):.0f}" for radio in ("lora-sf12", "lora-sf7")]
    assert f"{' to '.join(on_lora)} % less on LoRa" in README
    for share in (0.0, 0.01):
        assert all(below(found, "sp-mac") < 0 for found in verified_uJ(rows, 128, share).values())


def test_the_page_says_which_aims_are_reached_against_which_row(capsys: pytest.CaptureFixture[str]) -> None:
    radio_uJ = {
        (row["radio"], row["design"]): row["message_uJ"] + (row["report_uJ"] or 0.0) * row["reports_a_message"]
        for row in computed(16, capsys)
        if row["loss"] == 0.1
    }
    less = {
        (radio, other): f"{100 * (1 - radio_uJ[radio, 'tally'] / radio_uJ[radio, other]):.1f} %"
        for radio in ("ble", "802.15.4")
        for other in ("dtls13", "dtls13-cid")
    }
    assert f"with a connection ID ({less['ble', 'dtls13-cid']})" in PAGE
    assert f"against the one without ({less['ble', 'dtls13']})" in PAGE
    on_802154 = f"{less['802.15.4', 'dtls13-cid']} with a connection ID and {less['802.15.4', 'dtls13']} without"
    assert on_802154 in PAGE


@pytest.mark.parametrize("payload_B", [8, 24, 32])
def test_the_page_says_for_each_payload_what_the_program_does(
    payload_B: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = computed(payload_B, capsys)
    for header, bits, other in (("| octets | ", 128, "whole"), ("| octets, 64 bits |", 64, "whole-8")):
        by = verified_uJ(rows, bits, 0.1)
        expected = [below(by[radio], other) for radio in compared().radio]
        assert rows_of(header)[str(payload_B)] == pytest.approx(expected, abs=0.06)
