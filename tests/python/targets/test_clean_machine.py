"""A made-up machine that is set for measuring and put back: each knob, those that are missing, a kill in between."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from wattlock.cli import doctor as verb
from wattlock.cli.doctor import CleanOptions
from wattlock.cli.table import Format
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.targets import clean_machine, probe
from wattlock.targets.clean_machine import apply, kept_file, knobs, read_kept, restore
from wattlock.targets.target import Facts

CPU = 3
SYSTEM = "sys/devices/system/cpu"
FILES = {
    f"{SYSTEM}/online": "0-3",
    f"{SYSTEM}/isolated": "",
    **{f"{SYSTEM}/cpu{cpu}/cpufreq/scaling_governor": "powersave" for cpu in range(4)},
    **{f"{SYSTEM}/cpu{cpu}/cpufreq/scaling_available_governors": "performance powersave" for cpu in range(4)},
    **{f"{SYSTEM}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 2},{cpu % 2 + 2}" for cpu in range(4)},
    **{f"{SYSTEM}/cpu{cpu}/online": "1" for cpu in range(1, 4)},
    f"{SYSTEM}/intel_pstate/no_turbo": "0",
    "proc/irq/9/smp_affinity_list": "0-3",
    "proc/irq/24/smp_affinity_list": "3",
    "proc/irq/25/smp_affinity_list": "0-1",
    "proc/cpuinfo": "flags\t\t: fpu aes",
}
WANTED = {
    **{f"{SYSTEM}/cpu{cpu}/cpufreq/scaling_governor": "performance" for cpu in range(4)},
    f"{SYSTEM}/intel_pstate/no_turbo": "1",
    "proc/irq/9/smp_affinity_list": "0,1,2",
    "proc/irq/24/smp_affinity_list": "0,1,2",
    f"{SYSTEM}/cpu1/online": "0",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return machine(tmp_path / "root", FILES)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "doctor.json"


def machine(root: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{content}\n")
    return root


def held(root: Path) -> dict[str, str]:
    return {name: (root / name).read_text().strip() for name in FILES if (root / name).exists()}


def states(root: Path) -> dict[str, str]:
    return {knob.name: knob.state for knob in knobs(root, CPU)}


def apply_all(root: Path, kept: Path) -> None:
    for knob in knobs(root, CPU):
        assert apply(root, knob, kept) == []


def test_every_knob_is_named_with_the_command_that_sets_it(root: Path) -> None:
    found = {knob.name: knob for knob in knobs(root, CPU)}
    assert {setting.file: setting.wanted for knob in found.values() for setting in knob.settings} == WANTED
    assert found["frequency governor"].command == (
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    )
    assert found["boost"].command == "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    assert found["interrupts elsewhere"].now == "2 of 3 on processor 3"
    assert found["sibling of the core"].command == "echo 0 | sudo tee /sys/devices/system/cpu/cpu1/online"
    assert "isolcpus=managed_irq,domain,3" in (found["isolation"].command or "")
    assert (found["isolation"].state, found["isolation"].settings) == ("not ours", ())


def test_what_is_set_is_as_wanted_and_what_is_put_back_is_as_it_was(root: Path, kept: Path) -> None:
    apply_all(root, kept)
    assert held(root) == {**FILES, **WANTED}
    assert states(root) == dict.fromkeys(states(root), "set") | {"isolation": "not ours"}
    back, refused = restore(root, kept)
    assert refused == []
    assert back[0].file == f"{SYSTEM}/cpu1/online", "the last that was set comes first"
    assert held(root) == FILES
    assert not kept.exists()


def test_a_second_time_does_not_forget_what_was_there_first(root: Path, kept: Path) -> None:
    apply_all(root, kept)
    (root / f"{SYSTEM}/intel_pstate/no_turbo").write_text("0\n")
    apply_all(root, kept)
    restore(root, kept)
    assert held(root) == FILES


def test_a_kill_in_between_leaves_what_is_to_be_put_back(
    root: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    written = iter(range(100))

    def write(path: Path, value: str) -> None:
        if next(written) == 2:
            raise Killed
        path.write_text(f"{value}\n")

    with monkeypatch.context() as patched:
        patched.setattr(clean_machine, "_write", write)
        with pytest.raises(Killed):
            apply_all(root, kept)
    changed = [name for name, value in held(root).items() if value != FILES[name]]
    assert len(changed) == 2
    assert set(changed) < read_kept(kept).keys()
    back, refused = restore(root, kept)
    assert ([one.file for one in back], refused) == (changed[::-1], [])
    assert held(root) == FILES


def test_after_a_new_start_there_is_nothing_left_to_change(root: Path, kept: Path) -> None:
    apply_all(root, kept)
    machine(root, FILES)
    assert restore(root, kept) == ([], [])
    assert not kept.exists()


def test_a_file_that_takes_no_value_is_named_and_is_not_put_back(
    root: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = clean_machine._write

    def write(path: Path, value: str) -> str | None:
        return "Input/output error" if path.parent.name == "24" else plain(path, value)

    monkeypatch.setattr(clean_machine, "_write", write)
    refused = [one for knob in knobs(root, CPU) for one in apply(root, knob, kept)]
    assert [(one.file, one.why) for one in refused] == [("proc/irq/24/smp_affinity_list", "Input/output error")]
    assert "proc/irq/24/smp_affinity_list" not in read_kept(kept)
    assert restore(root, kept)[1] == []
    assert held(root) == FILES


def test_what_can_not_be_put_back_stays_noted(root: Path, kept: Path) -> None:
    apply_all(root, kept)
    (root / f"{SYSTEM}/intel_pstate/no_turbo").unlink()
    _, refused = restore(root, kept)
    assert [one.file for one in refused] == [f"{SYSTEM}/intel_pstate/no_turbo"]
    assert read_kept(kept) == {f"{SYSTEM}/intel_pstate/no_turbo": {"was": "0", "set": "1"}}


def test_nothing_is_set_where_nothing_can_be_noted(root: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    with pytest.raises(StoreError, match="can't be written"):
        apply_all(root, tmp_path / "state" / "doctor.json")
    assert held(root) == FILES


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"etc/passwd": {"was": "", "set": ""}}', '{"proc/irq/../x": {"was": "", "set": ""}}']
)
def test_a_note_that_is_none_of_ours_is_refused_and_nothing_written(root: Path, kept: Path, content: str) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    with pytest.raises(InputError, match=r"doctor\.json"):
        restore(root, kept)
    assert held(root) == FILES


def test_a_guest_without_files_is_told_so_of_each(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/cpuinfo": "flags\t\t: fpu hypervisor\n", f"{SYSTEM}/online": "0-1"})
    found = {knob.name: knob for knob in knobs(root, 1)}
    assert {knob.state for knob in found.values()} == {"not here"}
    assert {knob.now for knob in found.values()} == {"the hypervisor sets it, a guest sees no such file"}


def test_other_drivers_and_other_machines_have_other_files(tmp_path: Path) -> None:
    files = {
        f"{SYSTEM}/online": "0",
        f"{SYSTEM}/isolated": "0",
        f"{SYSTEM}/cpufreq/boost": "1",
        f"{SYSTEM}/cpu0/cpufreq/scaling_governor": "schedutil",
        f"{SYSTEM}/cpu0/cpufreq/scaling_available_governors": "schedutil ondemand",
        f"{SYSTEM}/cpu0/topology/thread_siblings_list": "0",
        "proc/irq/1/smp_affinity_list": "0",
    }
    found = {knob.name: knob for knob in knobs(machine(tmp_path, files), 0)}
    assert found["boost"].settings[0][1:] == ("1", "0")
    assert (found["frequency governor"].state, found["interrupts elsewhere"].state) == ("not ours", "not ours")
    assert (found["isolation"].state, found["sibling of the core"].now) == ("set", "none")


SEEN: dict[str, list[str]] = {
    "core clock, p95/p5": ["1.200", "1.100", "1.020", "1.010", "1.004"],
    "time lost in gaps over 1 us": ["3.0 %", "2.0 %", "1.0 %", "0.2 %", "0.1 %"],
    "discarded batches": ["9.0 % (neighbour 9) of 100", *["0.0 % of 100"] * 4],
}


class AMachine:
    """A target whose doctor sees something better each time."""

    name = "a machine"

    def facts(self) -> Facts:
        return Facts("0" * 64, "x86_64", (CPU, 2, 1, 0))


@pytest.fixture
def doctored(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The verb on the made-up machine, as root."""
    seen = {check: iter(values) for check, values in SEEN.items()}

    def rows(_target: object, *words: str, **_: Any) -> list[dict[str, Any]]:
        assert words[words.index("--cpu") + 1] == str(CPU)
        return [{"check": check, "value": next(values)} for check, values in seen.items()]

    monkeypatch.setattr(verb, "ROOT", root)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(probe, "rows", rows)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return AMachine()


def fixed(target: Any, capsys: pytest.CaptureFixture[str], **options: bool) -> list[dict[str, Any]]:
    verb.fix(CleanOptions(fix=True, **options), target, 5, Format.json)
    out = capsys.readouterr().out
    return list(json.loads(out)) if out else []


def test_each_knob_is_set_with_what_it_is_worth_as_seen_before_and_after(
    root: Path, doctored: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {row["setting"]: row for row in fixed(doctored, capsys, apply=True)}
    assert rows["frequency governor"]["clock_p95_p5"] == "1.200 to 1.100"
    assert rows["frequency governor"]["discarded"] == "9.0 % to 0.0 %"
    assert rows["sibling of the core"]["lost"] == "0.2 % to 0.1 %"
    assert (rows["isolation"]["state"], rows["isolation"]["lost"]) == ("not ours", None)
    assert held(root) == {**FILES, **WANTED}
    assert {row["file"] for row in fixed(doctored, capsys, restore=True)} == {f"/{name}" for name in WANTED}
    assert held(root) == FILES
    assert not kept_file().exists()


def test_without_apply_nothing_is_changed_and_nothing_measured(
    root: Path, doctored: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    rows = fixed(doctored, capsys)
    assert [row["state"] for row in rows] == ["to set"] * 4 + ["not ours"]
    assert held(root) == FILES
    assert not kept_file().exists()


@pytest.mark.parametrize("option", ["apply", "restore"])
def test_who_is_not_root_is_told_how_to_be(
    root: Path, doctored: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(EvidenceError, match="which root may") as caught:
        fixed(doctored, capsys, **{option: True})
    assert caught.value.hint == f"sudo -E wattlock doctor --fix --{option}"
    assert held(root) == FILES


def test_options_that_do_not_go_together_are_refused_by_name() -> None:
    for options, on, what in (
        (CleanOptions(apply=True), None, "--apply needs --fix"),
        (CleanOptions(fix=True, apply=True, restore=True), None, "--apply and --restore don't go together"),
        (CleanOptions(fix=True), "ssh:pi4", "--fix sets this machine alone, and not ssh:pi4"),
    ):
        with pytest.raises(InputError, match=what):
            options.refuse(on)
