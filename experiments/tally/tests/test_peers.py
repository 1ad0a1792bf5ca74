"""The page of captured octets: each row is what the design by clause and the differences that it names add up to."""

import re

import pytest

from tally_schedules import HERE
from wattlock.link.designs import compared

PAGE = (HERE / "docs" / "peers.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| peer | library |")[2].partition("\n\n")[0].splitlines()[2:]
]
PAYLOAD_B = 16


@pytest.mark.parametrize("cells", ROWS, ids=[row[0] for row in ROWS])
def test_captured_octets_are_those_by_clause_and_the_differences_that_are_named(cells: list[str]) -> None:
    _, library, name, captured, by_clause, why, shaken, flights, *shares = cells
    design = compared().design[name]
    if name != "tally":
        package, version = library.split()
        lock = "requirements.lock" if package == "aiocoap" else "Cargo.lock"
        locked = (HERE / "peers" / lock).read_text(encoding="utf-8")
        assert f"\n{package}=={version} " in f"\n{locked}" or f'name = "{package}"\nversion = "{version}"\n' in locked
    assert flights == (" + ".join(map(str, design.flights_B)) if shaken != "-" and design.flights_B else "-")
    if captured == "-":
        assert shaken == flights
        return
    assert int(by_clause) == design.sealed_B(PAYLOAD_B, compared().radio["ble"]) - PAYLOAD_B
    # Several numbers: the last differences hold for some messages alone.
    octets = [int(found) for found in re.findall(r"([+-]\d+): ", why)]
    several = [int(found) for found in captured.split(" or ")]
    always = len(octets) - len(several) + 1
    assert several == [int(by_clause) + sum(octets[:last]) for last in range(always, len(octets) + 1)]
    assert (why == "equal") == (captured == by_clause)
    for share in shares:
        delivered, _, verified = share.partition(" / ")
        assert share == "-" or delivered == verified


def test_there_is_a_row_of_each_peer() -> None:
    others = ["noise", "dtls13", "dtls12", "tls13", "wireguard", "oscore", "oscore-ccm16", "edhoc"]
    assert [row[0] for row in ROWS] == [*others, "tally"]
