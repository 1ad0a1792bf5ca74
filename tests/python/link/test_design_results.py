"""The page of tally's results and the README's paragraph: what the program answers is computed again."""

import json
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

import pytest

from support.tree import TREE, require_programs
from wattlock import cli
from wattlock.advise.question import load
from wattlock.cli.link_designs import radio_uJ
from wattlock.energy import radio_cards
from wattlock.link.designs import LOSSES, DesignFrame, compared, frame_costs, outcome

PAGE = (TREE / "experiments" / "tally" / "docs" / "results.md").read_text(encoding="utf-8")
README = (TREE / "README.md").read_text(encoding="utf-8")
DESIGNS, RADIOS = compared().design, compared().radio
COLUMNS = ("dtls13", "dtls13-cid", "tls13", "noise", "wireguard", "whole", "one-in-4", "promac", "sp-mac", "tally")
AT_64 = ("dtls13-ccm8", "dtls13-cid-ccm8", "dtls12-ccm8", "oscore", "whole-8", "sp-mac", "tally")
TABLES = [
    ("| radio | DTLS 1.3", 128, 0.1, COLUMNS, ("dtls13", "whole")),
    ("| radio, 1 % |", 128, 0.01, COLUMNS, ("whole", "sp-mac")),
    ("| radio, 64 bits |", 64, 0.1, AT_64, ("dtls13-ccm8", "whole-8")),
]
# DTLS 1.3 without a connection ID, with one, and that with tags of 8.
DTLS = ("dtls13", "dtls13-cid", "dtls13-cid-ccm8")


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


def rows_of(header: str) -> dict[str, list[float]]:
    """The rows of the page's table that begins with a header, by their first column."""
    lines = PAGE.partition(header)[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[text.strip(" `") for text in line.strip("|").split("|")] for line in lines]
    return {name: [float(one.replace(",", "").removesuffix(" %")) for one in found] for name, *found in cells}


@cache
def computed(payload_B: int) -> list[dict[str, Any]]:
    """The program's rows."""
    with redirect_stdout(StringIO()) as out:
        assert cli.answer(["link", "--compare", "tracker", "--payload-B", str(payload_B), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


def at(radio: str, design: str, share: float = 0.1) -> dict[str, Any]:
    """The row of sixteen octets."""
    (found,) = [one for one in computed(16) if (one["radio"], one["design"], one["loss"]) == (radio, design, share)]
    return found


def verified_uJ(payload_B: int, bits: int, share: float) -> dict[str, dict[str, float]]:
    """Joules of a message verified at so many bits and such loss, by radio and design."""
    by: dict[str, dict[str, float]] = {}
    for row in computed(payload_B):
        if row["loss"] == share:
            by.setdefault(row["radio"], {})[row["design"]] = row[f"verified_{bits}_uJ"]
    return by


def percent(own: float, other: float) -> float:
    """Percent that the one is below the other."""
    return 100 * (1 - own / other)


def below(found: dict[str, float], other: str) -> float:
    """Percent that tally takes less than another design."""
    return percent(found["tally"], found[other])


@pytest.mark.parametrize(("header", "bits", "share", "columns", "others"), TABLES)
def test_the_page_has_the_programs_joules(
    header: str, bits: int, share: float, columns: tuple[str, ...], others: tuple[str, ...]
) -> None:
    printed, by = rows_of(header), verified_uJ(16, bits, share)
    assert list(printed) == list(RADIOS) == list(by)
    for radio, cells in printed.items():
        found, size = by[radio], 1e3 if "lora" in radio else 1.0
        assert cells[: len(columns)] == pytest.approx([found[name] / size for name in columns], rel=0.006)
        assert cells[len(columns) :] == pytest.approx([below(found, name) for name in others], abs=0.06)


def test_the_readme_has_the_programs_savings() -> None:
    at_128, at_64 = verified_uJ(16, 128, 0.1), verified_uJ(16, 64, 0.1)
    of = {radio: f"{below(found, 'whole'):.0f} %" for radio, found in at_128.items()}
    assert f"{of['lora-sf12']} fewer joules" in README
    assert f"{of['ble']} fewer on Bluetooth LE" in README
    assert {radio for radio, found in at_64.items() if below(found, "whole-8") < 0} == {"802.15.4", "ble", "wifi"}
    on_lora = [f"{below(at_64[radio], 'whole-8'):.0f}" for radio in ("lora-sf12", "lora-sf7")]
    assert f"{' to '.join(on_lora)} % less on LoRa" in README
    for share in (0.0, 0.01):
        assert all(below(found, "sp-mac") < 0 for found in verified_uJ(16, 128, share).values())
    assert f"about {DESIGNS['tally'].bits} bits when it arrives" in README


def test_the_page_has_what_sp_mac_takes_and_verifies() -> None:
    less = {radio: percent(found["sp-mac"], found["tally"]) for radio, found in verified_uJ(16, 128, 0.01).items()}
    said = (
        f"{less['ble']:.0f} % less on Bluetooth LE, {less['802.15.4']:.0f} % on 802.15.4, {less['wifi']:.0f} % on Wi-Fi"
    )
    assert f"{said}, less than 1 % on LoRa" in PAGE
    assert all(0 < less[radio] < 1 for radio in ("lora-sf12", "lora-sf7"))
    waits = [at("ble", name, 0.01)["wait_128_messages"] for name in ("sp-mac", "tally")]
    assert f"wait for {waits[0]:.0f} later ones at 1 % loss\n(tally: {waits[1]:.0f})" in PAGE
    state_B = DESIGNS["sp-mac"].state_B
    assert state_B
    assert f"{state_B / 1024:.1f} KiB of state" in PAGE
    share = outcome(DESIGNS["sp-mac"], 128, 0.1).share
    assert f"At 10 % loss it verifies {100 * share:.0f} % of the messages that arrive, tally all" in PAGE
    assert all(at(radio, "tally")["verified_128_share"] == 1 for radio in RADIOS)


def test_the_page_has_what_tally_takes_on_lora_without_lorawan() -> None:
    ends = [at("lora-sf12", name)["verified_128_uJ"] for name in ("tally-bare", "whole-bare")]
    less = [
        percent(*(at(radio, name)["verified_128_uJ"] for name in ("tally-bare", "whole-bare")))
        for radio in ("lora-sf12", "lora-sf7")
    ]
    said = f"{less[0]:.0f} % less than whole tags there at SF12 ({ends[0] / 1e3:.0f} and {ends[1] / 1e3:.0f} mJ)"
    assert f"{said} and {less[1]:.0f} % less at SF7" in PAGE


def test_the_page_has_what_reports_take_and_what_a_network_allows_of_them() -> None:
    asked, in_place = (at(radio, "tally")["report_uJ"] for radio in ("802.15.4", "ble"))
    assert f"report and request take {asked:.0f} uJ, more than a message" in PAGE
    assert asked > at("802.15.4", "tally")["message_uJ"]
    (alone,) = frame_costs(RADIOS["ble"], [DesignFrame(14, way="receive")], None, allow_assumed=False).values()
    own_uJ = f"As a frame in an event of its own it would be {1e6 * alone.joules.J:.1f} uJ"
    assert f"at least every 32 s: {in_place:.1f} uJ. {own_uJ}" in PAGE
    (flow,) = load("tracker").flow
    assert flow.every
    messages = 86_400 / flow.every
    reports = messages / compared().tally.report_every
    air_s = 1e-3 * at("lora-sf12", "tally", 0.0)["air_ms"] * messages
    assert (
        f"needs {reports:.0f} a day, and its {messages:.0f} messages a day at SF12 are {air_s:.0f} s on the air" in PAGE
    )


def test_the_page_says_which_aims_are_reached_against_which_row() -> None:
    less = {
        (radio, other): f"{percent(radio_uJ(at(radio, 'tally')), radio_uJ(at(radio, other))):.1f} %"
        for radio in ("ble", "802.15.4")
        for other in DTLS
    }
    without, with_id, ccm8 = (less["ble", other] for other in DTLS)
    assert f"{with_id} against the row with a connection ID and {without} against the one without" in PAGE
    assert f"on Bluetooth LE it is {ccm8}" in PAGE
    without, with_id, ccm8 = (less["802.15.4", other] for other in DTLS)
    assert f"{with_id} with a connection ID and {without} without" in PAGE
    assert f"on 802.15.4 {ccm8}" in PAGE


def test_the_page_has_what_each_way_of_a_report_makes_on_802154() -> None:
    here = {row["design"]: row for row in computed(16) if (row["radio"], row["loss"]) == ("802.15.4", 0.1)}
    printed = rows_of("| design | a report, uJ |")
    assert list(printed) == ["tally", "tally-polled", "tally-ack"]
    for name, cells in printed.items():
        alone = [percent(radio_uJ(here[name]), radio_uJ(here[other])) for other in DTLS]
        whole = [
            percent(here[name][f"verified_{bits}_uJ"], here[other][f"verified_{bits}_uJ"])
            for bits, other in ((128, "whole"), (64, "whole-8"))
        ]
        own = here[name]
        expected = [own["report_uJ"], radio_uJ(own), *alone, own["verified_128_uJ"], *whole]
        assert cells == pytest.approx(expected, abs=0.06)


def test_the_page_has_what_addresses_in_acknowledgements_and_rarer_reports_would_make() -> None:
    beside, asked, acknowledged = (at("802.15.4", name) for name in ("dtls13-cid", "tally", "tally-ack"))
    card = radio_cards.load(RADIOS["802.15.4"].card).card
    assert card.rx
    # 4 octets of 32 us in each acknowledgement.
    more_uJ = 1e6 * 4 * 32e-6 * card.power_W(card.rx)
    with_addresses = [percent(radio_uJ(acknowledged) + more, radio_uJ(beside)) for more in (0.0, more_uJ)]
    assert "the {:.1f} % become {:.1f} %".format(*with_addresses) in PAGE
    saved_uJ, octets = beside["message_uJ"] - asked["message_uJ"], beside["adds_B"] - asked["adds_B"]
    said = (
        f"{saved_uJ:.1f} uJ beside DTLS 1.3 with a connection ID, by {octets:.0f} octets of {saved_uJ / octets:.2f} uJ"
    )
    assert f"{said}: {100 * saved_uJ / beside['message_uJ']:.1f} %, before any report" in PAGE
    seldom = asked | {"reports_a_message": asked["reports_a_message"] * compared().tally.report_every / 32}
    made = percent(radio_uJ(seldom), radio_uJ(beside))
    assert f"Reports every 32 messages, the most that one lists, would make {made:.1f} % of the first row" in PAGE


@pytest.mark.parametrize("payload_B", [8, 12, 16, 20, 24, 32])
def test_the_page_says_for_each_payload_what_the_program_does(payload_B: int) -> None:
    for header, bits, other in (("| octets | ", 128, "whole"), ("| octets, 64 bits |", 64, "whole-8")):
        printed, by = rows_of(header), verified_uJ(payload_B, bits, 0.1)
        if str(payload_B) in printed:
            expected = [below(by[radio], other) for radio in RADIOS]
            assert printed[str(payload_B)] == pytest.approx(expected, abs=0.06)
    assert str(payload_B) in rows_of("| octets | ")


def test_every_loss_of_the_page_is_one_that_the_program_answers() -> None:
    assert {share for _, _, share, _, _ in TABLES} <= set(LOSSES)
