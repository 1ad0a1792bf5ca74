"""What `pip install wattlock` leaves out because it is heavy: the extras, by the packages that each brings."""

from importlib.util import find_spec

from wattlock.errors import WattlockError

EXTRAS = {
    "report": ("altair", "scipy", "vl_convert"),
    "notebook": ("marimo",),
    "ns3": ("ns3",),
    "cluster": ("distributed",),
    "publish": ("cryptography",),
    "lab": ("fastapi", "uvicorn", "sqlalchemy", "alembic"),
    "postgresql": ("psycopg",),
    "page": ("cryptography", "segno"),
}
"""Packages by the names that they are imported by."""
PURPOSE = {
    "report": "pages and pictures, `papers` and `explain`",
    "notebook": "notebooks of examples/",
    "ns3": "scenarios by `link --engine ns3`",
    "cluster": "workers of `--scheduler`",
    "publish": "signatures by `key`, `publish` and `verify`",
    "lab": "the web server of `lab`",
    "postgresql": "databases of `lab --database`",
    "page": "https and QR codes of `page`",
}


class MissingExtra(WattlockError):
    """Something was asked for that an extra brings, and the extra isn't installed."""


def absent(extra: str) -> list[str]:
    """The packages of an extra that aren't installed."""
    return [package for package in EXTRAS[extra] if find_spec(package) is None]


def require(extra: str) -> None:
    """Raise MissingExtra where a package of this extra isn't installed."""
    packages = absent(extra)
    if packages:
        raise _missing(extra, packages)


def named_by(error: ModuleNotFoundError) -> MissingExtra | None:
    """What to say where an import failed by an extra that isn't installed; None where it failed otherwise."""
    package = (error.name or "").partition(".")[0]
    extra = next((name for name, packages in EXTRAS.items() if package in packages), None)
    return _missing(extra, [package]) if extra else None


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'wattlock[{extra}]'"


def _missing(extra: str, packages: list[str]) -> MissingExtra:
    lacking = f"{', '.join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
    return MissingExtra(f"{PURPOSE[extra]} need the extra {extra}: {lacking}", hint=install(extra))
