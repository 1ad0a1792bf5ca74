"""What of a Linux machine can be set so that its times hold still, and how it is put back.

Everything is a file below `/sys` or `/proc`. What a file held is written to a file of our own, and is on the disk,
before anything is changed: a kill in between, or a new start of the machine, loses nothing that is to be put back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wattlock.errors import InputError, StoreError
from wattlock.store.disk import write_whole

CPUS = "sys/devices/system/cpu"
HYPERVISOR = "the hypervisor sets it, a guest sees no such file"
NO_SUCH = "the kernel has no such file"

State = Literal["set", "to set", "not here", "not ours"]


class Setting(NamedTuple):
    """A file below the root, what it holds, and what it should."""

    file: str
    now: str
    wanted: str


@dataclass(frozen=True)
class Knob:
    """Something that can be set.

    * `settings`: files that hold something else than they should; `command`: sets them by hand.
    * `state`: `set` as it should be, `to set`, `not here` or `not ours`: nothing of a running system sets it.
    * `now`: what is there, in words.
    """

    name: str
    state: State
    now: str
    command: str | None = None
    settings: tuple[Setting, ...] = ()


class RefusedSetting(NamedTuple):
    """A file that the kernel did not take a value for."""

    file: str
    why: str


def knobs(root: Path, cpu: int) -> list[Knob]:
    """All knobs of a machine whose processor `cpu` is measured on, in the order in which they are set.

    * `root`: what `/sys` and `/proc` lie below.
    """
    return [_governor(root), _boost(root), _interrupts(root, cpu), _siblings(root, cpu), _isolation(root, cpu)]


def apply(root: Path, knob: Knob, kept: Path) -> list[RefusedSetting]:
    """Sets a knob; gives the files that the kernel took no value for, which hold what they held.

    * `kept`: the file that says what was there; what it says already stays, since that was there first.

    Raises StoreError where that can't be written: then nothing is changed.
    """
    before = read_kept(kept)
    new = {setting.file: {"was": setting.now, "set": setting.wanted} for setting in knob.settings}
    _write_kept(kept, {**before, **{file: entry for file, entry in new.items() if file not in before}})
    refused = [
        RefusedSetting(setting.file, why)
        for setting in knob.settings
        if (why := _write(root / setting.file, setting.wanted)) is not None
    ]
    unchanged = {setting.file for setting in refused} - before.keys()
    if unchanged:
        _write_kept(kept, {file: entry for file, entry in read_kept(kept).items() if file not in unchanged})
    return refused


def restore(root: Path, kept: Path) -> tuple[list[Setting], list[RefusedSetting]]:
    """Puts back what was there before, the last that was set first; gives what was put back and what could not be.

    What could not be stays in the file `kept`; it is gone where nothing is left.
    """
    entries = read_kept(kept)
    back, refused = [], []
    for file, entry in reversed(entries.items()):
        path = root / file
        if (now := _read(path)) == entry["was"]:
            continue
        if (why := NO_SUCH if now is None else _write(path, entry["was"])) is not None:
            refused.append(RefusedSetting(file, why))
        else:
            back.append(Setting(file, str(now), entry["was"]))
    left = {setting.file for setting in refused}
    if left:
        _write_kept(kept, {file: entry for file, entry in entries.items() if file in left})
    else:
        kept.unlink(missing_ok=True)
    return back, refused


def kept_file() -> Path:
    """Where it stands what was there before: in the user's folder of state, which outlives a new start."""
    base = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "wattlock" / "doctor.json"


def read_kept(kept: Path) -> dict[str, dict[str, str]]:
    """What was there before, by file; empty where nothing was set.

    Raises InputError where the file is damaged.
    """
    try:
        found: Any = json.loads(kept.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{kept}: can't be read: {error}", hint="it says what to put back: mend it by hand") from error
    if not isinstance(found, dict) or not all(_is_entry(file, entry) for file, entry in found.items()):
        raise InputError(
            f"{kept}: is not what `doctor --apply` wrote", hint="it says what to put back: mend it by hand"
        )
    return found


def _is_entry(file: str, entry: object) -> bool:
    """Whether this is a file that a knob may set: nothing else is ever written to."""
    below = file.startswith(("sys/devices/system/cpu/", "proc/irq/")) and ".." not in Path(file).parts
    return (
        below
        and isinstance(entry, dict)
        and entry.keys() == {"was", "set"}
        and all(isinstance(value, str) for value in entry.values())
    )


def _write_kept(kept: Path, entries: Mapping[str, Mapping[str, str]]) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, [json.dumps(entries, indent=1).encode() + b"\n"])
    except OSError as error:
        what = f"{kept}: can't be written: {error.strerror}"
        raise StoreError(what, hint="nothing was set; XDG_STATE_HOME names another folder") from error


def _governor(root: Path) -> Knob:
    name, wanted = "frequency governor", "performance"
    files = _files(root, f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor")
    takes = [_read(path.with_name("scaling_available_governors")) for path in files]
    if files and not all(known is None or wanted in known.split() for known in takes):
        return Knob(name, "not ours", f"{_held(files)}; the driver has no {wanted}")
    command = f"echo {wanted} | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    return _knob(root, name, [(path, wanted) for path in files], command)


def _boost(root: Path) -> Knob:
    for file, wanted in ((f"{CPUS}/intel_pstate/no_turbo", "1"), (f"{CPUS}/cpufreq/boost", "0")):
        if (root / file).exists():
            return _knob(root, "boost", [(root / file, wanted)], f"echo {wanted} | sudo tee /{file}")
    return _knob(root, "boost", [], "")


def _interrupts(root: Path, cpu: int) -> Knob:
    others = _listed([number for number in _online(root) if number != cpu])
    files = _files(root, "proc/irq/[0-9]*/smp_affinity_list")
    command = f"for irq in /proc/irq/[0-9]*/smp_affinity_list; do echo {others} | sudo tee $irq; done"
    if not others:
        return Knob("interrupts elsewhere", "not ours", "one processor takes all of them")
    taken = [path for path in files if cpu in _numbers(_read(path) or "")]
    if files and not taken:
        return Knob("interrupts elsewhere", "set", f"none of {len(files)} on processor {cpu}")
    knob = _knob(root, "interrupts elsewhere", [(path, others) for path in taken], command)
    return (
        Knob(knob.name, knob.state, f"{len(taken)} of {len(files)} on processor {cpu}", command, knob.settings)
        if (taken)
        else knob
    )


def _siblings(root: Path, cpu: int) -> Knob:
    name = "sibling of the core"
    listed = _read(root / f"{CPUS}/cpu{cpu}/topology/thread_siblings_list")
    if listed is None:
        return _knob(root, name, [], "")
    others = [number for number in _numbers(listed) if number != cpu]
    files = [root / f"{CPUS}/cpu{other}/online" for other in others]
    if not others:
        siblings_words = "none is seen; the hypervisor may hide it" if _is_guest(root) else "none"
        return Knob(name, "set", siblings_words)
    if not all(path.exists() for path in files):
        return Knob(name, "not ours", f"processor {_listed(others)} can't be taken offline")
    command = "; ".join(f"echo 0 | sudo tee /{path.relative_to(root)}" for path in files)
    knob = _knob(root, name, [(path, "0") for path in files], command)
    return Knob(name, knob.state, f"processor {_listed(others)} online", command, knob.settings)


def _isolation(root: Path, cpu: int) -> Knob:
    isolated = _read(root / f"{CPUS}/isolated")
    if isolated is None:
        return Knob("isolation", "not here", HYPERVISOR if _is_guest(root) else NO_SUCH)
    if cpu in _numbers(isolated):
        return Knob("isolation", "set", f"processor {cpu} is isolated")
    words = f"isolcpus=managed_irq,domain,{cpu} nohz_full={cpu} rcu_nocbs={cpu}"
    return Knob("isolation", "not ours", "of the kernel's command line", f"add `{words}` there, and start anew")


def _knob(root: Path, name: str, wanted: Sequence[tuple[Path, str]], command: str) -> Knob:
    if not wanted:
        return Knob(name, "not here", HYPERVISOR if _is_guest(root) else NO_SUCH)
    held = _held([path for path, _ in wanted])
    settings = [
        Setting(str(path.relative_to(root)), now, value)
        for path, value in wanted
        if (now := _read(path)) is not None and now != value
    ]
    return Knob(name, "to set" if settings else "set", held, command if settings else None, tuple(settings))


def _held(files: Sequence[Path]) -> str:
    """What files hold, each value once."""
    return ", ".join(dict.fromkeys(value for path in files if (value := _read(path)) is not None)) or "not readable"


def _files(root: Path, pattern: str) -> list[Path]:
    def number(path: Path) -> list[int]:
        return [int("".join(filter(str.isdigit, part)) or 0) for part in path.relative_to(root).parts]

    return sorted(root.glob(pattern), key=number)


def _is_guest(root: Path) -> bool:
    described = _read(root / "proc/cpuinfo") or ""
    return (root / "sys/hypervisor/type").exists() or any(
        "hypervisor" in line.split() for line in described.splitlines() if line.startswith("flags")
    )


def _online(root: Path) -> list[int]:
    return _numbers(_read(root / f"{CPUS}/online") or "")


def _numbers(listed: str) -> list[int]:
    """`0-2,5` as numbers."""
    return list(_ranges(listed))


def _ranges(listed: str) -> Iterator[int]:
    for part in listed.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if first.isdigit() and (last.isdigit() or not dash):
            yield from range(int(first), int(last if dash else first) + 1)


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, value: str) -> str | None:
    """Why the kernel did not take it; null where it did."""
    try:
        path.write_text(f"{value}\n")
    except OSError as error:
        return error.strerror or str(error)
    return None
