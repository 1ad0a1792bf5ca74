"""A user's own figures of costs: what they stand for, what is refused, and the template they are filled into."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.advice import BASE, TODAY, ask
from wattlock import cli
from wattlock.advise import Advice, advise, checked, pricing, prose, published
from wattlock.advise.cipher_costs import CostedMessage
from wattlock.definitions.shelf import VARIABLE
from wattlock.energy import device_cards
from wattlock.errors import InputError

U5: dict[str, Any] = {"device": {"card": "stm32u5a9"}, "radio": {"card": "nrf52840-ble"}}

OWN = """
isa = "thumbv7em"
[[cost]]
ciphers = ["aes128-ccm"]
implementation = "mine 1.0"
language = "C"
compiler = "GCC 13"
flags = "-O3"
core = "nRF52840 at 64 MHz"
memory = "all in RAM"
counted = "board cycles"
unit = "cycles"
figures = [[16, 500], [64, 900], [1024, 9000]]
confidence = "primary"
relative_uncertainty = 0.05
source = "counted on my board"
because = "DWT, ten runs"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(OWN)
    return tmp_path / "mine.toml"


def by(described: Advice, cipher: str) -> set[str]:
    return {choice.provider for choice in described.choices if choice.cipher == cipher and not choice.cost.accelerator}


def test_a_file_of_ones_own_costs_stands_for_what_is_published(own: Path) -> None:
    described = ask({"device.costs": str(own)})
    assert by(described, "aes128-ccm") == {"mine 1.0, C"}
    assert by(described, "aes256-ccm") == {"cortexm-AES b18b7a4, assembly"}
    assert described.choices[described.best.number].provider == "mine 1.0, C"


def test_a_folder_of_ones_own_costs_joins_for_its_core_alone(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own.parent / "costs").mkdir()
    own.rename(own.parent / "costs" / "mine.toml")
    monkeypatch.setenv(VARIABLE, str(own.parent))
    assert by(ask(), "aes128-ccm") == {"mine 1.0, C"}
    assert by(ask(**U5), "aes128-ccm") == {"cortexm-AES b18b7a4, assembly"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('isa = "thumbv7em"', 'isa = "riscv32"'), "is for riscv32, the device is thumbv7em"),
        (('unit = "cycles"', 'unit = "cycles"\ndevices = ["rp2040"]'), "all of it is for rp2040, none for nrf52840"),
        (('language = "C"', 'language = "COBOL"'), "cost[0].language"),
        (("[[16, 500]", "[[16, 5000000]"), "cost[0]: figures must rise"),
        (('["aes128-ccm"]', '["tally"]'), "cost[0]: tally needs report_cycles"),
        (('["aes128-ccm"]', '["aes128-ccm", "tally"]'), "cost[0]: report_cycles is of tally, in an entry of its own"),
        (('unit = "cycles"', 'unit = "cycles"\nspeed = 3'), "speed: unknown key"),
        (("isa", "= ="), "not TOML"),
    ],
)
def test_a_broken_file_of_costs_is_named_with_its_key(
    change: tuple[str, str], said: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(OWN.replace(*change))
    words_ = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--costs"]
    assert cli.answer([*words_, str(own)]) == InputError.exit_code
    described = capsys.readouterr().err
    assert "mine.toml" in described
    assert said in described
    assert cli.answer([*words_, "nowhere.toml"]) == InputError.exit_code
    assert "--costs-template" in capsys.readouterr().err


def test_an_own_figure_that_its_file_calls_assumed_is_listed_and_leaves_the_published_one_ranked(own: Path) -> None:
    own.write_text(OWN.replace('"primary"', '"assumed"'))
    described = ask({"device.costs": str(own)})
    assert by(described, "aes128-ccm") == {"cortexm-AES b18b7a4, assembly"}
    assert any("aes128-ccm by mine 1.0, C" in note for note in prose.notes(described))
    (row,) = [
        row for row in pricing.rows(described.inputs.priced, described.question) if row["implementation"] == "mine 1.0"
    ]
    assert row["ranked"] == "no: its file says so"
    allowed = ask({"device.costs": str(own)}, allow_assumed=True)
    assert by(allowed, "aes128-ccm") == {"mine 1.0, C"}


def test_an_own_figure_of_a_cipher_that_is_none_is_refused_with_the_one_that_is_meant(own: Path) -> None:
    own.write_text(OWN.replace("aes128-ccm", "aes128-ccn"))
    with pytest.raises(InputError, match='no cipher "aes128-ccn"') as caught:
        ask({"device.costs": str(own)})
    assert "wattlock ciphers" in caught.value.hint


def test_no_order_is_told_of_a_cipher_that_the_floor_excludes(own: Path) -> None:
    own.write_text(OWN.replace("aes128-ccm", "des-ecb"))
    assert not any("des-ecb" in note for note in prose.notes(ask({"device.costs": str(own)})))


def test_costs_and_a_run_are_not_taken_together(own: Path) -> None:
    with pytest.raises(InputError, match=r"device\.costs and device\.run"):
        advise(checked("test", BASE, {"device.costs": str(own), "device.run": "last"}), today=TODAY)


@pytest.mark.parametrize(
    "core", ["cortex-m0+", "cortex-m4", "cortex-m33", "esp32", "esp32-c3", "thumbv7em", "nrf52840"]
)
def test_the_template_of_every_core_loads_back_and_counts_once_it_is_filled(
    core: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["advise", "--costs-template", core]) == 0
    text = capsys.readouterr().out
    isa = tomllib.loads(text)["isa"]
    boards = [device_cards.load(name) for name in ("nrf52840", "stm32u5a9", "esp32", "esp32-c3", "rp2040")]
    device = next(board for board in boards if board.card.isa == isa)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    empty = published.published_costs(device, [CostedMessage(64, 1.0)], allow_assumed=False, given=path)
    assert not any(cost.origin and cost.origin.own for cost in empty.taken), "placeholders are not ranked"
    path.write_text(text.replace('confidence = "assumed"', 'confidence = "primary"'))
    taken = published.published_costs(device, [CostedMessage(64, 1.0)], allow_assumed=False, given=path).taken
    (filled,) = [cost for cost in taken if cost.cipher == "aes128-ccm" and not cost.accelerator]
    assert filled.origin
    assert filled.origin.own
    assert filled.of("cycles", 64) == 12000


def test_a_template_for_no_core_names_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["advise", "--costs-template", "cortex-m5"]) == InputError.exit_code
    described = capsys.readouterr().err
    assert 'no core "cortex-m5"' in described
    assert "cortex-m4" in described
