"""What is shown while a run goes on, and how it is stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from wattlock.run.timing import Progress


@dataclass(frozen=True)
class Report:
    """A bar on standard error, told how far a run is by each of its parts."""

    bar: Bar
    task: TaskID

    def measured(self, progress: Progress) -> None:
        """Time is measured: cases settled of all."""
        words = f"{progress.settled} of {progress.cases} cases settled"
        self.bar.update(self.task, completed=progress.processes, total=progress.expected, description=words)

    def noticed(self, lines: Sequence[str]) -> None:
        """What a person should know while a run measures, above the bar."""
        from rich.text import Text

        for line in lines:
            self.bar.console.print(Text(f"note: {line}"))

    def answered(self, done: int, total: int) -> None:
        """A sweep is answered: rows of all; none was left where it begins with all of them."""
        is_first = self.bar.tasks[self.task].total is None
        words = f"{done:,} of {total:,} rows answered"
        if is_first and done == total:
            words = f"all {total:,} rows are answered already"
        self.bar.update(self.task, completed=done, total=total, description=words)

    def metered(self, done: int, total: int) -> None:
        """Energy is measured: processes done of all."""
        self.bar.update(
            self.task, completed=done, total=total, description=f"{done} of {total} processes measured in energy"
        )

    def discharged(self, cipher: str, calls: int, level_percent: int | None, share: float | None) -> None:
        """A battery is discharged: by which cipher, its calls, the level, and the share of the calls that is done."""
        level = "" if level_percent is None else f", battery at {level_percent} %"
        words = f"{cipher}: {calls:,} calls{level}"
        self.bar.update(self.task, completed=share or 0, total=None if share is None else 1, description=words)


@contextmanager
def bar(doing: str = "measuring") -> Iterator[Report]:
    """A progress bar on standard error, with the time left until the next look; `doing`: its first word."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    words = TextColumn("{task.description}")
    columns = (words, BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(doing, total=None)
        yield Report(shown, task)


def heed_ctrl_c() -> None:
    """Puts Python's handler of Ctrl-C back in the place of Polars'.

    With that one a read of a silent probe goes on (https://github.com/pola-rs/polars/issues/21739), and the interrupt
    may come a second time while the first is being answered (https://github.com/pola-rs/polars/issues/23988).
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Whoever ends the program politely gets the same: what was measured kept, sample files removed, one line said.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A terminal that is closed is such an end too, unless somebody asked for the run to outlive it (nohup).
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
