"""`wattlock papers` on a run that is there: its page, its refusals, and that nothing is overwritten by a refusal."""

import csv
import html
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.captures import pcap
from support.scripted_probe import direct, install
from support.tree import PROBE, TREE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.cli.run import DischargeOptions, MeterOptions
from wattlock.errors import EvidenceError, InputError, StoreError, UsageError
from wattlock.run.begin import measure

needs_the_air = pytest.mark.usefixtures("the_air")


@pytest.fixture(scope="module")
def the_air() -> None:
    """The real probe, which is asked of the air."""
    require_programs()


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A probe in virtual time that has measured `run`, with files of text by libtomcrypt."""
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe", providers=["libtomcrypt"])
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    ciphers = ["aes128-cbc", "des-cbc", "rc2-64-cbc", "3des-cbc", "blowfish128-cbc", "rc6-20-128-cbc"]
    table = study_of(cipher=ciphers, provider=["libtomcrypt"], payload_B=None, data=["text"])
    write_study(tmp_path / "virtual.toml", table)
    measure("virtual.toml", out="run")
    return program


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer(["papers", *words]) == code
    said = capsys.readouterr()
    return said.out, said.err


@needs_the_air
def test_a_run_is_judged_into_a_page_beside_it_and_twice_into_the_same(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    out, errors = answer(capsys, "--run", "run")
    assert Path(out.strip()).name == "papers.html"
    assert "61 claims:" in errors
    page = Path("run/papers.html").read_bytes()
    assert "Time of encrypting text of 350,000 B" in page.decode()
    answer(capsys, "--run", "run", "--out", "again.html")
    assert Path("again.html").read_bytes() == page


def repeating(page: Path) -> list[str]:
    """The commands of a page's last chapter."""
    described = page.read_text(encoding="utf-8").partition("How to repeat it")[2].partition("</pre>")[0]
    return html.unescape(re.sub(r"<[^>]+>", "", described)).split("\n")


@needs_the_air
@pytest.mark.parametrize(
    ("study", "again", "further"),
    [("virtual", "run virtual", []), ("papers-full", "papers --length full", ["--radio", "intel-5300"])],
)
def test_to_repeat_names_study_and_card_of_the_run_and_judging_so_gives_the_same_bytes(  # noqa: PLR0917 - pytest's
    probe: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    study: str,
    again: str,
    further: list[str],
) -> None:
    assert probe.is_file()
    card = ["--device", "x86-server-assumed", "--allow-assumed"]
    own = Path("virtual.toml")
    own.write_text(own.read_text(encoding="utf-8").replace('id = "virtual"', f'id = "{study}"'), encoding="utf-8")
    assert cli.answer(["run", "virtual.toml", *card]) == 0
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    page = Path(answer(capsys, "--run", "last")[0].strip())
    assert f"The study {study} was carried out" in page.read_text(encoding="utf-8")
    measure, judge = repeating(page)
    assert measure.split() == ["wattlock", *again.split(), *card, *further]
    assert judge.split()[:4] == ["wattlock", "papers", "--run", page.parent.name]
    answer(capsys, *judge.split()[2:], "--out", "again.html")
    assert Path("again.html").read_bytes() == page.read_bytes()


@needs_the_air
def test_a_run_that_lies_elsewhere_is_named_by_its_path_to_repeat(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    Path("a place/runs").mkdir(parents=True)
    Path("run").rename("a place/runs/run")
    answer(capsys, "--run", "a place/runs/run")
    measure, judge = repeating(Path("a place/runs/run/papers.html"))
    assert "--device" not in measure
    assert shlex.split(judge)[2:4] == ["--run", "a place/runs/run"]


@needs_the_air
def test_of_an_invalid_run_nothing_measured_is_judged_or_drawn(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct(probe, providers=["libtomcrypt"], canaries={"7": 0.7})
    measure("virtual.toml", out="bad")
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    errors = answer(capsys, "--run", "bad")[1]
    page = Path("bad/papers.html").read_text(encoding="utf-8")
    assert "self-check failed" in errors
    assert re.search(r"[1-9]\d* claims wait for a run whose self-checks pass, the others are judged", errors)
    assert "wattlock’s model of the air decides" in errors, "what needs no timing is judged all the same"
    assert "A run is invalid." in page
    assert "--keep-trying" in page
    assert "Time of encrypting text of 350,000 B" not in page


@needs_the_air
def test_without_any_run_what_needs_no_timing_is_judged_by_the_same_sums_as_beside_an_invalid_run(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct(probe, providers=["libtomcrypt"], canaries={"7": 0.7})
    measure("virtual.toml", out="bad")
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    out, errors = answer(capsys, "--length", "none")
    assert out.strip() == "papers.html"
    assert not list(Path("runs").glob("papers-*"))
    assert "Nothing was measured" in Path("papers.html").read_text(encoding="utf-8")
    decided = [line for line in errors.splitlines() if " decides " in line]
    assert len(decided) > 1
    assert [line for line in answer(capsys, "--run", "bad")[1].splitlines() if " decides " in line] == decided


@pytest.mark.parametrize("option", [["--dry-run"], ["--keep-trying", "5"], ["--device", "x86-server-assumed"]])
def test_what_is_of_measuring_is_refused_where_nothing_is_measured(
    probe: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert probe.is_file()
    assert option[0] in answer(capsys, "--length", "none", *option, code=UsageError.exit_code)[1]


def test_runs_of_two_builds_are_not_judged_together(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    probe.write_text(f"{probe.read_text()}# another build\n")
    measure("virtual.toml", out="other")
    errors = answer(capsys, "--run", "run", "--run", "other", code=EvidenceError.exit_code)[1]
    assert "two builds of the probe" in errors
    assert not Path("run/papers.html").exists()


def test_a_run_that_is_none_or_of_an_unknown_schema_is_named_and_nothing_is_written(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    assert "nowhere" in answer(capsys, "--run", "nowhere", code=StoreError.exit_code)[1]
    Path("kept.html").write_text("mine")
    plan = Path("run/plan.jsonl")
    plan.write_text(plan.read_text().replace('"schema":2', '"schema":99', 1))
    Path("run/SHA256SUMS").unlink()
    errors = answer(capsys, "--run", "run", "--out", "kept.html", code=StoreError.exit_code)[1]
    assert "99" in errors
    assert Path("kept.html").read_text() == "mine"


def test_a_changed_run_is_refused(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.is_file()
    headers = Path("run/headers.jsonl")
    headers.write_bytes(headers.read_bytes() + b" ")
    answer(capsys, "--run", "run", code=StoreError.exit_code)
    assert not Path("run/papers.html").exists()


def test_a_capture_that_is_not_there_is_named_before_anything_is_measured(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    assert "none.pcap" in answer(capsys, "--capture", "none.pcap", code=InputError.exit_code)[1]
    assert not list(Path("runs").glob("papers-*"))


def test_transfers_that_are_not_there_are_named_before_anything_is_measured(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    said = answer(capsys, "--transfers", "audio=nosuch.json", code=InputError.exit_code)[1]
    assert "--transfers nosuch.json: there is no such file" in said
    assert not list(Path("runs").glob("papers-*"))


@needs_the_air
def test_an_invalid_run_takes_nothing_from_a_sound_one_beside_it(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct(probe, providers=["libtomcrypt"], canaries={"7": 0.7})
    measure("virtual.toml", out="bad")
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    answer(capsys, "--run", "run", "--run", "bad", "--out", "both.html")
    page = Path("both.html").read_text(encoding="utf-8")
    assert "A run is invalid." in page
    assert "Time of encrypting text of 350,000 B" in page


def test_a_dry_run_lists_the_cases_of_a_length_and_measures_nothing(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    requested: list[tuple[str, bool]] = []
    monkeypatch.setattr("wattlock.cli.run.run", lambda study, *, dry_run: requested.append((study, dry_run)))
    answer(capsys, "--length", "full", "--dry-run")
    assert requested == [("papers/full", True)]
    assert not list(Path("runs").glob("papers-*"))


@pytest.mark.parametrize(
    "options",
    [["--run", "last", "--length", "full"], ["--run", "last", "--dry-run"], ["--dry-run", "--radio", "intel-5300"]],
)
def test_an_option_that_would_change_nothing_is_refused(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert "don't go together" in answer(capsys, *options, code=UsageError.exit_code)[1]


@pytest.mark.parametrize("option", [["--repeats", "3"], ["--sys-root", "tree"]])
def test_what_is_of_a_battery_is_refused_with_another_length(
    probe: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert probe.is_file()
    assert "--length battery" in answer(capsys, *option, code=UsageError.exit_code)[1]


@needs_the_air
def test_a_battery_that_stops_the_measuring_says_how_it_goes_on_and_what_judges_it_then(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()

    def stops(*_: object, by: MeterOptions, discharged: DischargeOptions, **__: object) -> None:
        assert (by, discharged) == (MeterOptions(sys_root=Path("tree")), DischargeOptions("any", 7, 10))
        raise EvidenceError("the battery is at 10 %", hint="charge it")

    monkeypatch.setattr("wattlock.cli.run.run", stops)
    monkeypatch.setattr("wattlock.run.discharge.look", lambda *_: None)
    words = ["--length", "battery", "--repeats", "7", "--sys-root", "tree"]
    said = answer(capsys, *words, code=EvidenceError.exit_code)[1]
    assert "hint: charge it; when all cases are done, `wattlock papers --run last` judges them" in said


@needs_the_air
def test_a_capture_decides_its_claim_and_is_drawn_and_carries_the_hybrid(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    beacon, acknowledgement, data = b"\x80\0" + bytes(94), b"\xd4\0" + bytes(8), b"\x08\x41" + bytes(1018)
    Path("hour.pcap").write_bytes(pcap([*[beacon] * 60, *[acknowledgement] * 20, *[data] * 10]))
    said = answer(capsys, "--run", "run", "--capture", "hour.pcap", "--export", "drawn")[1]
    assert "The capture decides 1: 1 reproduced" in said
    page = Path("run/papers.html").read_text(encoding="utf-8")
    assert "Of 90 frames 66.7 % have 64 to 127 B" in page.replace("\u00a0", " ")
    assert "--capture hour.pcap" in html.unescape(page)
    with Path("drawn/prasithsangaree-fig6.csv").open(encoding="utf-8") as drawn:
        assert sorted(float(row["value"]) for row in csv.DictReader(drawn) if row["value"] != "0.0") == [10, 20, 60]
    assert Path("drawn/papers.bib").read_text(encoding="utf-8").count("\n@") == 4


def ethernet(packets: int) -> bytes:
    """A capture of Ethernet frames of 78 octets that carry UDP."""
    udp = bytes(12) + b"\x08\0" + b"\x45\0\0\x40" + bytes(5) + b"\x11" + bytes(54)
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<IIII", 1, at, len(udp), len(udp)) + udp for at in range(packets))


@needs_the_air
@pytest.mark.parametrize(
    ("name", "described"), [("ethernet", "are of another medium"), ("cut", "ends within a packet")]
)
def test_a_capture_of_another_medium_or_one_that_is_cut_reproduces_nothing(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, described: str
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    beacon, data = b"\x80\0" + bytes(94), b"\x08\x41" + bytes(1018)
    whole = {"ethernet": ethernet(90), "cut": pcap([*[beacon] * 60, *[data] * 30])[:-500]}
    Path("hour.pcap").write_bytes(whole[name])
    said = answer(capsys, "--run", "run", "--capture", "hour.pcap")[1]
    assert "The capture decides" not in said
    assert described in html.unescape(Path("run/papers.html").read_text(encoding="utf-8")).replace("\u00a0", " ")


@needs_the_air
def test_a_battery_of_a_handheld_is_judged_only_where_the_run_is_said_to_be_of_one(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    joules = ["--device", "x86-server-assumed", "--allow-assumed"]
    assert "A battery" not in answer(capsys, "--run", "run", *joules)[1]
    said = answer(capsys, "--run", "run", *joules, "--machine", "handheld")[1]
    assert "A battery, discharged or by its card, decides" in said
    assert " --machine handheld" in repeating(Path("run/papers.html"))[1]


@needs_the_air
def test_a_battery_too_small_for_the_load_leaves_a_page_whose_exhibit_says_why(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    joules = ["--device", "x86-server-assumed", "--allow-assumed"]
    write_study(Path("falls.toml"), study_of(cipher=["3des-cbc"], provider=["libtomcrypt"], payload_B=[5_000_000]))
    measure("falls.toml", out="falls")
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    answer(capsys, "--run", "falls", *joules, "--battery", "pxa270-handheld")
    why = "Missing: a battery: the load draws 2.7 A at 3.7 V, battery pxa270-handheld gives at most 1.3 A"
    assert why in html.unescape(Path("falls/papers.html").read_text(encoding="utf-8")).replace("\u00a0", " ")


def test_a_dry_run_of_a_discharge_lists_its_cases_also_by_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    out, errors = answer(capsys, "--length", "battery", "--repeats", "600", "--dry-run")
    assert "blowfish32-cbc" in out
    assert "24 cases" in errors + out
    assert not list(Path("runs").glob("papers-*"))


@needs_the_air
def test_a_run_that_drew_on_a_battery_is_judged_and_drawn_by_its_fall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    # The fastest of the papers' ciphers, and a battery so small that some of its calls are seen.
    study = study_of((5,), cipher=["aes128-cbc"], provider=["rustcrypto"], payload_B=[5_000_000])
    write_study(tmp_path / "tiny.toml", study)
    example = TREE / "examples" / "meters" / "made_up_sys.py"
    tree = ["--battery-Wh", "0.3", "--below", str(os.getpid()), str(tmp_path / "sys")]
    with subprocess.Popen([sys.executable, example, *tree, "--", "sleep", "600"]) as follower:
        try:
            level = tmp_path / "sys" / "class" / "power_supply" / "BAT0" / "status"
            deadline = time.monotonic() + 20
            while not level.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            words = ["--battery", "BAT0", "--repeats", "200", "--log-every-s", "1", "--sys-root", str(tmp_path / "sys")]
            assert cli.answer(["run", "tiny.toml", "--out", "run", *words]) == 0, capsys.readouterr().err
        finally:
            follower.send_signal(signal.SIGTERM)
    answer(capsys, "--run", "run")
    page = html.unescape(Path("run/papers.html").read_text(encoding="utf-8")).replace("\u00a0", " ")
    assert re.search(r"Of BAT0, 200 encryptions with AES-128 took it from \d+ to \d+ %", page)
