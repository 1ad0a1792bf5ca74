"""`wattlock doctor`: how fit a device is for measuring, and `--clean`: what can be set while it measures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import On, chosen
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, UsageError
from wattlock.extras import EXTRAS, PURPOSE, absent, install

if TYPE_CHECKING:
    from wattlock.targets import Target
    from wattlock.targets.clean_machine import Knob


@dataclass(frozen=True)
class CleanOptions:
    """A clean machine."""

    fix: Annotated[bool, typer.Option("--fix", help="List what would make it fitter, each with its command.")] = False
    apply: Annotated[
        bool, typer.Option("--apply", help="With --fix, as root: set that, and measure what each is worth.")
    ] = False
    restore: Annotated[
        bool, typer.Option("--restore", help="With --fix, as root: put back what was there before --apply.")
    ] = False

    def refuse(self, on: str | None) -> None:
        """Raises InputError where options don't go together."""
        if (self.apply or self.restore) and not self.fix:
            requested = "--apply" if self.apply else "--restore"
            raise UsageError(f"{requested} needs --fix", hint=f"`wattlock doctor --fix {requested}`")
        if self.apply and self.restore:
            raise UsageError("--apply and --restore don't go together", hint="--restore puts back what --apply set")
        if self.fix and on not in (None, "local"):
            hint = "run `wattlock doctor --fix` there; `wattlock doctor --on` says how fit it is"
            raise UsageError(f"--fix sets this machine alone, and not {on}", hint=hint)


def doctor(
    seconds: Annotated[int, typer.Option("--seconds", min=1, max=600, help="How long to watch the core.")] = 5,
    on: On = None,
    clean: CleanOptions = CleanOptions(),
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how fit this machine, or the device of --on, is for measuring, and what would make it fitter.

    --fix lists what can be set: governor, boost, interrupts, the sibling of the core, isolation. With --apply root
    sets it and sees what each is worth on this machine; --restore puts back what was there, after a kill or a new
    start of the machine too.

    Examples: wattlock doctor --seconds 5    wattlock doctor --on ssh:pi4    wattlock doctor --fix
    sudo -E wattlock doctor --fix --apply    sudo -E wattlock doctor --fix --restore
    """
    import polars as pl

    from wattlock.targets import clean_machine, probe

    clean.refuse(on)
    target = chosen(on)
    if clean.fix:
        fix(clean, target, seconds, form)
        return
    if on is None and clean_machine.read_kept(kept := clean_machine.kept_file()):
        echo(f"note: `--fix --apply` is in force ({kept}); `wattlock doctor --fix --restore` ends it", err=True)
    checks = probe.rows(
        target, "doctor", "--seconds", str(seconds), "--format", "json", needs=["verdict"], most_s=120 + seconds
    )
    checks += [_check_of(extra) for extra in EXTRAS]
    print_table(pl.DataFrame(checks, infer_schema_length=None), form)
    if any(check["verdict"] == "fail" for check in checks):
        raise typer.Exit(1)


def _check_of(extra: str) -> dict[str, str | None]:
    """A row of the table: whether this extra is installed, and what it is for."""
    lacking = absent(extra)
    return {
        "check": f"extra {extra}",
        "verdict": "absent" if lacking else "ok",
        "value": f"{', '.join(lacking)} not installed" if lacking else "installed",
        "advice": f"for {PURPOSE[extra]}: {install(extra)}" if lacking else None,
    }


ROOT = Path("/")
"""What `/sys` and `/proc` lie below; a test has a folder of its own."""

WATCHED = {
    "core clock, p95/p5": "clock_p95_p5",
    "time lost in gaps over 1 us": "lost",
    "discarded batches": "discarded",
}
"""What tells how clean a machine is, among the checks of the doctor, and the columns that show it."""


def fix(options: CleanOptions, target: Target, seconds: int, form: Format) -> None:
    """Lists, sets or puts back what makes this machine fitter.

    Raises EvidenceError where something is to be set, and nobody is root.
    """
    from wattlock.targets import clean_machine

    kept = clean_machine.kept_file()
    if (options.apply or options.restore) and os.geteuid() != 0:
        requested = "--apply" if options.apply else "--restore"
        raise EvidenceError(
            f"{requested} sets files of the kernel, which root may", hint=f"sudo -E {_again(requested)}"
        )
    if options.restore:
        _restore(kept, form)
        return
    cpu = next(iter(target.facts().alike()), 0)
    knobs = clean_machine.knobs(ROOT, cpu)
    if options.apply:
        _apply(knobs, kept, (target, cpu, seconds), form)
    else:
        _print([_row(knob) for knob in knobs], form)


def _again(option: str) -> str:
    return f"wattlock doctor --fix {option}"


def _row(knob: Knob) -> dict[str, Any]:
    return {"setting": knob.name, "state": knob.state, "now": knob.now, "command": knob.command}


def _apply(knobs: list[Knob], kept: Path, measured: tuple[Target, int, int], form: Format) -> None:
    """Sets one after the other, and watches the core in between: each row has what was seen before and after."""
    from wattlock.targets import clean_machine

    before, rows = _watch(*measured), []
    for knob in knobs:
        if not knob.settings:
            rows.append({**_row(knob), **_worth(None, None)})
            continue
        refused = clean_machine.apply(ROOT, knob, kept)
        for setting in refused:
            echo(f"warning: /{setting.file}: {setting.why}", err=True)
        if len(refused) == len(knob.settings):
            rows.append({**_row(knob), "state": "refused", **_worth(None, None)})
            continue
        after = _watch(*measured)
        taken = f"{len(knob.settings) - len(refused)} of {len(knob.settings)} set; before: {knob.now}"
        rows.append({**_row(knob), "state": "set now", "now": taken, **_worth(before, after)})
        before = after
    _print(rows, form)
    if clean_machine.read_kept(kept):
        echo(f"what was there before is in {kept}; `{_again('--restore')}` puts it back", err=True)


def _watch(target: Target, cpu: int, seconds: int) -> dict[str, str | None]:
    """What the probe's doctor sees of the core, by column."""
    from wattlock.targets import probe

    words = ("doctor", "--seconds", str(seconds), "--cpu", str(cpu), "--format", "json")
    checks = probe.rows(target, *words, needs=["check", "value"], most_s=120 + seconds)
    seen = {check["check"]: check["value"] for check in checks}
    return {column: _share(seen.get(check)) for check, column in WATCHED.items()}


def _share(value: str | None) -> str | None:
    """`1.2 %` of `1.2 % (switch 3) of 600`."""
    if value is None:
        return None
    number, _, rest = value.partition(" ")
    return f"{number} %" if rest.startswith("%") else number


def _worth(before: dict[str, str | None] | None, after: dict[str, str | None] | None) -> dict[str, str | None]:
    if before is None or after is None:
        return dict.fromkeys(WATCHED.values())
    return {column: f"{before[column]} to {after[column]}" for column in WATCHED.values()}


def _restore(kept: Path, form: Format) -> None:
    from wattlock.targets import clean_machine

    if not clean_machine.read_kept(kept):
        echo(f"nothing to put back: there is no {kept}", err=True)
        return
    back, refused = clean_machine.restore(ROOT, kept)
    rows = [{"file": f"/{setting.file}", "was_set_to": setting.now, "put_back": setting.wanted} for setting in back]
    if rows:
        _print(rows, form)
    if refused:
        named = ", ".join(f"/{setting.file} ({setting.why})" for setting in refused)
        raise EvidenceError(f"not put back: {named}", hint=f"{kept} says what was there")


def _print(rows: list[dict[str, Any]], form: Format) -> None:
    import polars as pl

    print_table(pl.DataFrame(rows, infer_schema_length=None), form)
