"""A name that is nearly right, of every kind: the error has two lines, and the second one has the right name."""

from pathlib import Path

import pytest

from support.tree import require_programs
from wattlock import cli
from wattlock.definitions.toml import nearest
from wattlock.study.study import FORM

LINK, ADVISE = ["link", "bss-ccmp"], ["advise", "sensor", "--allow-assumed"]
BATTERY = ["battery", "cr2032", "--allow-assumed", "--energy-uJ", "5"]
STUDY = ["run", "mine.toml", "--dry-run"]
NEAR = {
    "study": (["run", "quik", "--dry-run"], "quick"),
    "study in capitals": (["run", "QUICK", "--dry-run"], "quick"),
    "study in a folder": (["run", "papers-quick", "--dry-run"], "papers/quick"),
    "study to show": (["studies", "--show", "first_look"], "first-look"),
    "cipher": (["ciphers", "--show", "aes128cbc"], "aes128-cbc"),
    "cipher of --only": (["run", "quick", "--dry-run", "--only", "aes128cbc"], "cipher=aes128-cbc"),
    "provider of --only": (["run", "quick", "--dry-run", "--only", "provider=RustCrypt"], "provider=rustcrypto"),
    "operation of --only": (["run", "quick", "--dry-run", "--only", "operation=encypt"], "operation=encrypt"),
    "factor of --only": (["run", "quick", "--dry-run", "--only", "placment=hot"], "placement"),
    "device": (["devices", "NRF52480"], "nrf52840"),
    "device of a run": (["run", "quick", "--dry-run", "--device", "x86-server"], "x86-server-assumed"),
    "radio": (["devices", "--kind", "radio", "intel5300"], "intel-5300"),
    "battery": (["battery", "CR-2032", "--energy-uJ", "5"], "cr2032"),
    "costs": (["devices", "--kind", "costs", "thumbv7m"], "thumbv7em"),
    "battery's model": ([*BATTERY, "--model", "kibm"], "kibam"),
    "battery's law": ([*BATTERY, "--without", "shelflife"], "shelf-life"),
    "scenario": (["link", "bss-cmcp"], "bss-ccmp"),
    "cipher of a scenario": ([*LINK, "--cipher", "AES128-CBC"], "aes128-cbc"),
    "cipher of a message": (["link", "ble-reading", "--cipher", "aes128ccm8"], "aes128-ccm8"),
    "encoding": ([*LINK, "--encoding", "bas64"], "base64"),
    "protection": ([*LINK, "--protection", "CCMP-256"], "ccmp256"),
    "radio of a scenario": ([*LINK, "--radio", "intel5300"], "intel-5300"),
    "key of a scenario": ([*LINK, "--set", "host.sendr_us=3"], "sender_us"),
    "key of the air": ([*LINK, "--set", "air.retry_limt=3"], "retry_limit"),
    "standard": (["link", "ble-reading", "--set", "link.standard=BEL"], "ble"),
    "region": (["link", "lorawan-reading", "--set", "link.region=eu686"], "EU868"),
    "profile": (["advise", "sensr"], "sensor"),
    "framing": ([*ADVISE, "--set", 'choices.framings=["dtls1.3"]'], "dtls13"),
    "cipher of advice": ([*ADVISE, "--set", 'choices.ciphers=["aes128ccm"]'], "aes128-ccm"),
    "key of a profile": ([*ADVISE, "--set", "flor.tag=96"], "floor"),
    "authority": ([*ADVISE, "--approved", "NITS"], "nist"),
    "device of a profile": ([*ADVISE, "--device", "nrf52480"], "nrf52840"),
    "core": (["advise", "--costs-template", "cortexm4"], "cortex-m4"),
    "experiment": ([*ADVISE, "--try", "truncat"], "truncate"),
    "table of durations": (["explain", "elminaam"], "elminaam-wlan"),
    "published run": (["calibrate", "--published", "toldina"], "toldinas"),
    "cipher of a transfer": (["send", "mine.toml", "--cipher", "aes128cbc", "--to", "127.0.0.1:9"], "aes128-cbc"),
}
IN_A_STUDY = {
    "cipher": ('"aes128-ctr"', '"AES-128-CTR"', "aes128-ctr"),
    "provider": ('#provider = ["rustcrypto", "openssl"]', 'provider = ["RustCrypt"]', "rustcrypto"),
    "operation": ('"decrypt"', '"decypt"', "decrypt"),
    "placement": ('#placement = ["hot"]', 'placement = ["l2"]', "L2"),
    "key": ("payload_B", "payload", "payload_B"),
}


@pytest.mark.parametrize("kind", NEAR)
def test_a_name_that_is_nearly_right_is_met_with_the_right_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FORM.template())
    words, right = NEAR[kind]
    assert cli.answer(words) in {3, 4}
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith(f'hint: did you mean "{right}"?')


@pytest.mark.parametrize("kind", IN_A_STUDY)
def test_a_name_in_a_study_that_is_nearly_right_is_met_with_the_right_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    was, typed, right = IN_A_STUDY[kind]
    (tmp_path / "mine.toml").write_text(FORM.template().replace(was, typed))
    assert cli.answer(STUDY) == 3
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: study mine.toml: grid[0].")
    assert hint.startswith(f'hint: did you mean "{right}"?')


def test_case_and_hyphens_make_no_other_name_and_what_is_like_none_has_none() -> None:
    there = ["aes128-cbc", "L2", "mA", "uA/MHz"]
    assert nearest("AES_128 CBC", there) == "aes128-cbc"
    assert nearest("l2", there) == "L2"
    assert nearest("ua/mhz", there) == "uA/MHz"
    assert nearest("xor", there) is None
    assert nearest("", there) is None
    assert nearest("-", there) is None
