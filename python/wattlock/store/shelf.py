"""Where runs lie: `runs/<id>`, or elsewhere, with a link of that name to it."""

from datetime import UTC, datetime
from pathlib import Path

from wattlock.definitions import suggestion
from wattlock.errors import StoreError
from wattlock.store import bounds, plan

ROOT = Path("runs")
LAST = "last"


def runs(root: Path = ROOT) -> list[Path]:
    """The run folders under `root`, the oldest first; what is no run, or not readable, is left out.

    A run whose plan was changed stands where its file was changed: as the last one it is refused, not passed over.
    """
    if not root.is_dir():
        return []
    made = [(created, path) for path in root.iterdir() if (created := _created(path)) is not None]
    return [path for _, path in sorted(made)]


def remember(id_: str, folder: Path, root: Path = ROOT) -> None:
    """Leaves a link `root/<id>` to a run that lies elsewhere, so that its id and `last` find it.

    Where no link can be made the run is found by its path alone.
    """
    if folder.resolve().parent == root.resolve():
        return
    try:
        root.mkdir(exist_ok=True)
        (root / id_).symlink_to(folder.resolve(), target_is_directory=True)
    except OSError:
        return


def find(name_or_path: str | Path, root: Path = ROOT) -> Path:
    """The folder of a run.

    * `name_or_path`: its path, its id, or `last` for the one that began last under `root`.

    Raises StoreError where there is none.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if name == LAST:
        made = runs(root)
        if not made:
            raise StoreError(f"there is no run under {root}", hint="`wattlock run first-look` makes one")
        return made[-1]
    for candidate in (root / path, path):
        if candidate.is_dir():
            return candidate
    known = [run.name for run in runs(root)]
    hint = suggestion(name, known, "there are") if known else "`wattlock run first-look` makes one"
    raise StoreError(f"there is no run {name}, neither here nor under {root}", hint=hint)


def _created(path: Path) -> tuple[datetime, int] | None:
    """When a run began, and when its plan was written: of two that began in one second that tells the later one."""
    file = path / plan.NAME
    try:
        written_ns = file.stat().st_mtime_ns
        if plan.is_summed(bounds.read(file, plan.MOST_B)):
            return datetime.fromisoformat(plan.read(path)[0]["created"]).astimezone(UTC), written_ns
        return datetime.fromtimestamp(written_ns / 1e9, UTC), written_ns
    except (OSError, StoreError, TypeError, ValueError):
        return None
