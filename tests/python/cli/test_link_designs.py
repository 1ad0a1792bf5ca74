"""`wattlock link --compare`: designs of secure links side by side."""

import json

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
        (["tracker", "--payload-B", "5000"], "5018 octets are more than a frame of LoRa holds"),
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


PAGE = (TREE / "docs" / "results" / "tally.md").read_text(encoding="utf-8")
README = (TREE / "README.md").read_text(encoding="utf-8")
COLUMNS = ("dtls13", "wireguard", "whole", "one-in-4", "promac", "sp-mac", "tally")


def rows_of(header: str) -> dict[str, list[float]]:
    """The rows of the page's table that begins with a header, by their first column."""
    lines = PAGE.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[text.strip(" `") for text in line.strip("|").split("|")] for line in lines]
    return {name: [float(one.replace(",", "").removesuffix(" %")) for one in found] for name, *found in cells}


def verified_uJ(payload_B: int, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, float]]:
    """Joules of a message verified at 128 bits and 10 % loss, by radio and design."""
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B), "--format", "json"]) == 0
    found: dict[str, dict[str, float]] = {}
    for row in json.loads(capsys.readouterr().out):
        if row["loss"] == 0.1:
            found.setdefault(row["radio"], {})[row["design"]] = row["verified_128_uJ"]
    return found


def below(found: dict[str, float], other: str) -> float:
    """Percent that tally takes less than another design."""
    return 100 * (1 - found["tally"] / found[other])


def test_the_page_of_results_and_the_readme_have_the_programs_joules(capsys: pytest.CaptureFixture[str]) -> None:
    printed, computed = rows_of("| radio | DTLS 1.3"), verified_uJ(16, capsys)
    assert list(printed) == list(compared().radio) == list(computed)
    for radio, cells in printed.items():
        found, size = computed[radio], 1e3 if "lora" in radio else 1.0
        assert cells[:7] == pytest.approx([found[column] / size for column in COLUMNS], rel=0.006)
        assert cells[7:] == pytest.approx([below(found, "dtls13"), below(found, "whole")], abs=0.06)
    of = {radio: f"{below(found, 'whole'):.0f} %" for radio, found in computed.items()}
    assert f"{of['lora-sf12']} fewer joules" in README
    assert f"{of['ble']} on Bluetooth LE and {of['802.15.4']} on 802.15.4" in README


@pytest.mark.parametrize("payload_B", [8, 24, 32])
def test_the_page_says_for_each_payload_what_the_program_does(
    payload_B: int, capsys: pytest.CaptureFixture[str]
) -> None:
    computed = verified_uJ(payload_B, capsys)
    expected = [below(computed[radio], "whole") for radio in compared().radio]
    assert rows_of("| octets | ")[str(payload_B)] == pytest.approx(expected, abs=0.06)
