"""The device on which a verb is carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.options import On
from wattlock.errors import StudyError

if TYPE_CHECKING:
    from wattlock.targets import Target


@dataclass(frozen=True)
class TargetOptions:
    """The device of a run, and who carries it out."""

    on: On = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="Count on the workers of this Dask scheduler, tcp://HOST:8786."
        ),
    ] = None

    @contextmanager
    def opened(self, libraries: Mapping[str, Path]) -> Iterator[Target]:
        """The device, for as long as this lasts.

        * `libraries`: the user's own, by name.

        Raises StudyError where a scheduler is named for what its workers can't do; what `chosen` and `clustered` raise.
        """
        target = chosen(self.on)
        if self.scheduler is None:
            yield target
            return
        from wattlock.targets.cluster import clustered
        from wattlock.targets.emulated import Emulated

        if not isinstance(target, Emulated):
            what = f"--scheduler {self.scheduler[:80]}: its workers count on emulated cores, and measure nothing"
            raise StudyError(what, hint="name a core: --on qemu:cortex-m4")
        if libraries:
            what = f"--library {next(iter(libraries))}: a scheduler's workers have neither its files nor its compiler"
            raise StudyError(what, hint="leave --scheduler out: this machine counts it")
        with clustered(target, self.scheduler) as shared:
            yield shared


def chosen(on: str | None = None) -> Target:
    """The device of a name, this machine without.

    Raises InputError where there is no such target, ProbeError where this machine is to be it and has no probe.
    """
    from wattlock.targets import or_this_machine

    if on is None:
        return or_this_machine(None)
    from wattlock.targets.named import target

    return target(on)
