"""A page in a browser measures itself: what it posts becomes a sealed run, and no post is believed unjudged."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.tools import missing, needs
from support.tree import CRATES, TESTS, TREE
from wattlock.errors import EvidenceError
from wattlock.page import visits as page_module

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WATTLOCK = str(Path(sys.prefix, "bin", "wattlock"))
LIMIT_S = 300
MODULE = TREE / "build" / "page-trial" / page_module.NAME
"""As `make test` builds it: right, and not fast."""
STUDY = """id = "tiny"
title = "One cipher"
question = "Does it work?"
target_percent = 50
smallest_effect_percent = 50
looks = [5]

[[grid]]
cipher = ["rc4-128"]
operation = ["encrypt"]
payload_B = [64]
"""

pytestmark = needs(CHROMIUM, "no chromium was found on the PATH")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The module is there where its Rust target is installed."""
    if not MODULE.is_file():
        missing("build/page-trial/instrument.wasm is missing: `make test` builds it")


class Served:
    """`wattlock page` as a program of its own, ended with the test."""

    def __init__(self, out: Path, *options: str, **environment: str) -> None:
        command = [WATTLOCK, "page", "--out", str(out), "--bind", "127.0.0.1:0", *options]
        pipe = subprocess.PIPE
        environment = {page_module.VARIABLE: str(MODULE), **environment}
        self.program = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=os.environ | environment)
        assert self.program.stdout is not None
        self.address = self.program.stdout.readline().strip()

    def seen(self, what: str) -> Any:
        """What a browser saw there."""
        return self._seen("support.page_browser", str(CHROMIUM), self.address, what)

    def seen_in_firefox(self) -> Any:
        """What Firefox saw there."""
        return self._seen("support.firefox_browser", str(FIREFOX), self.address)

    def _seen(self, *words: str) -> Any:
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ended(self) -> str:
        """What it complained of, once it has ended by itself."""
        complaints: str = self.program.communicate(timeout=LIMIT_S)[1]
        return complaints


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    served: list[Served] = []

    def start(*options: str, **environment: str) -> Served:
        served.append(Served(tmp_path / "runs", *options, **environment))
        return served[-1]

    yield start
    for one in served:
        one.program.kill()
        one.program.communicate()


def test_what_the_ciphers_make_in_a_browser_is_what_they_make_here(serve: Any) -> None:
    _refuse_other(serve().seen("digests"))


def _refuse_other(seen: Any) -> None:
    """Asserts that what was seen are the digests of the native build."""
    assert seen["code"] == 0, seen["said"]
    known = (CRATES / "page" / "tests" / "digests.txt").read_text().splitlines()
    assert len(known) > 500
    assert set(known) == set(seen["lines"])


@needs(FIREFOX, "no Firefox was found on the PATH")
def test_firefox_makes_the_same_in_an_isolated_page_that_is_ready(serve: Any) -> None:
    seen = serve().seen_in_firefox()
    assert seen["state"] == "Ready."
    assert seen["isolated"]
    _refuse_other(seen)


def test_a_browser_measures_itself_and_show_prints_its_sealed_run(serve: Any, tmp_path: Path) -> None:
    study = tmp_path / "tiny.toml"
    study.write_text(STUDY)
    served = serve("--once", "--study", str(study))
    seen = served.seen("measure")
    assert "Done: page-" in seen["state"], served.ended()
    assert seen["home"] is None, "there is no lab"
    assert "rc4-128" in seen["result"]
    assert "disturbances are not visible" in seen["words"]
    assert seen["isolated"]
    assert seen["overflow_px"] == 0
    assert seen["complaints"] == []
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "SHA256SUMS").is_file()
    assert str(folder) in served.ended()
    show = [WATTLOCK, "show", str(folder), "--format", "json"]
    (row,) = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    assert row["cipher"] == "rc4-128"
    assert row["time_evidence"] in {"measured", None}
    header = json.loads((folder / "headers.jsonl").read_text().splitlines()[0])
    browser = header["fingerprint"]["browser"]
    assert header.get("step_ticks") == (None if browser["has_ticker"] else browser["clock_step_ns"])
    assert "Chrome" in browser.pop("user_agent")
    assert browser["is_isolated"]
    assert browser["disturbances"] == "not visible"
    assert re.fullmatch("[0-9a-f]{64}", header["fingerprint"]["build"]["executable_sha256"])


CARD = """title = "A phone's"
chemistry = "li-polymer"
note = "of the test"
narrowed_by = "nothing"
""" + "".join(
    f"""
[{key}]
value = {value}
unit = "{unit}"
source = "the test"
confidence = "primary"
relative_uncertainty = 0.05
distribution = "normal"
because = "the test"
conditions = "the test"
"""
    for key, value, unit in (("capacity", 4000.0, "mAh"), ("voltage", 3.85, "V"), ("max_current", 4.0, "A"))
)


def test_a_page_discharges_its_battery_and_a_card_makes_joules_of_the_level(serve: Any, tmp_path: Path) -> None:
    study, card = tmp_path / "tiny.toml", tmp_path / "phone.toml"
    study.write_text(STUDY)
    card.write_text(CARD)
    options = ("--battery", "any", "--until-percent", "90", "--log-every-s", "1")
    served = serve("--once", "--study", str(study), *options)
    seen = served.seen("discharge")
    assert "Done: page-" in seen["state"], served.ended()
    assert "What a call took out of the battery: wattlock show" in served.ended()
    (folder,) = (tmp_path / "runs").iterdir()
    headers = [json.loads(line) for line in (folder / "headers.jsonl").read_text().splitlines()]
    assert {line["battery"]["name"] for line in headers if line.get("battery")} == {"battery:browser"}
    show = [WATTLOCK, "show", str(folder), "--battery", "--format", "json"]
    (row,) = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    assert (row["state"], row["to_percent"], row["energy_uJ"]) == ("resolved", 90, None)
    assert row["drawn_percent"] >= 5
    show += ["--battery-card", str(card)]
    (valued,) = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    joules = row["drawn_percent"] / 100 * 4 * 3.85 * 3600
    assert valued["energy_uJ"] == pytest.approx(joules / row["calls"] * 1e6, rel=1e-6)
    assert valued["energy_evidence"] == "modelled"


def test_a_device_without_a_battery_is_not_discharged_and_nothing_is_measured(serve: Any, tmp_path: Path) -> None:
    # Chromium says of one, as the standard wants, that it is being charged and full.
    served = serve("--once", "--battery", "any", "--until-percent", "90")
    assert "it is being charged, or there is none" in served.seen("measure")["state"]
    assert "error: the battery: it is being charged, or there is none" in served.ended()
    assert served.program.returncode == EvidenceError.exit_code
    assert not (tmp_path / "runs").exists()


def test_a_page_has_no_names_of_batteries(serve: Any) -> None:
    served = serve("--battery", "BAT0", "--until-percent", "90")
    error, hint = served.ended().splitlines()
    assert (error, hint) == ("error: --battery BAT0: a page has no names of batteries", "hint: --battery any")


def test_a_module_that_is_broken_is_refused_and_the_page_says_so(serve: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wasm"
    broken.write_bytes(MODULE.read_bytes()[:1000])
    seen = serve(WATTLOCK_PAGE_MODULE=str(broken)).seen("look")
    assert "this browser can't run the module" in seen["state"]


def test_a_page_that_is_not_isolated_says_that_it_takes_longer_and_has_no_webcrypto(serve: Any) -> None:
    seen = serve().seen("elsewhere")
    assert not seen["isolated"]
    assert seen["state"] == "Ready."
    assert "The page is not isolated, so its clock is coarse" in seen["notes"]
    assert "No WebCrypto: this page is in no secure context" in seen["notes"]
    assert "steps of 100" in seen["device"]


def test_over_https_a_page_of_another_machine_is_isolated_and_has_webcrypto(serve: Any, tmp_path: Path) -> None:
    seen = serve("--https", XDG_CONFIG_HOME=str(tmp_path)).seen("elsewhere")
    assert seen["isolated"]
    assert seen["state"] == "Ready."
    assert "No WebCrypto" not in seen["notes"]
    assert "not isolated" not in seen["notes"]
