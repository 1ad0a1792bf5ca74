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
COLUMNS = ("dtls13", "wireguard", "whole", "one-in-4", "promac", "sp-mac", "tally")
ROWS = [[text.strip() for text in line.strip("|").split("|")] for line in PAGE.splitlines() if line.count("|") == 11]


def test_the_page_of_results_has_the_programs_joules(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--compare", "tracker", "--payload-B", "16", "--format", "json"]) == 0
    tenth = [row for row in json.loads(capsys.readouterr().out) if row["loss"] == 0.1]
    assert [row[0].strip("`") for row in ROWS[2:]] == list(compared().radio)
    for name, *cells in ROWS[2:]:
        found = {row["design"]: row["verified_128_uJ"] for row in tenth if f"`{row['radio']}`" == name}
        size = 1e3 if "lora" in name else 1.0
        printed = [float(cell.replace(",", "").removesuffix(" %")) for cell in cells]
        assert printed[:7] == pytest.approx([found[column] / size for column in COLUMNS], rel=0.006)
        below = [100 * (1 - found["tally"] / found[other]) for other in ("dtls13", "whole")]
        assert printed[7:] == pytest.approx(below, abs=0.06)
