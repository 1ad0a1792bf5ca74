"""What an installation leaves out because it is heavy: the extras, by the packages that each brings."""

import json
import re
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
    """The command that installs an extra beside this wattlock, from where it came.

    It names the clone or the wheel, else the packages: wattlock is on no index, where anybody may take its name.
    """
    if (Path(sys.prefix) / "pipx_metadata.json").is_file():
        return shlex.join(["pipx", "inject", Path(sys.prefix).name, *_packages(extra)])
    pip = shlex.quote(_near(Path(sys.prefix) / "bin" / "pip"))
    root = Path(__file__).parents[2]
    if (root / "pyproject.toml").is_file():
        return f"{pip} install -e '{_near(root)}[{extra}]'"
    if (source := _source()) is not None:
        return f"{pip} install '{source}[{extra}]'"
    return f"{pip} install {shlex.join(_packages(extra))}"


def _near(path: Path) -> str:
    """A path as it is short to type here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _source() -> Path | None:
    """The wheel or the folder that this wattlock was installed from, where it is still there."""
    try:
        noted = metadata.distribution("wattlock").read_text("direct_url.json")
        address = urlsplit(str(json.loads(noted or "{}").get("url", "")))
    except (metadata.PackageNotFoundError, ValueError):
        return None
    path = Path(unquote(address.path))
    return path if address.scheme == "file" and path.exists() else None


def _packages(extra: str) -> list[str]:
    """What an extra asks for, in the words of the package's own metadata."""
    try:
        needed = metadata.requires("wattlock") or []
    except metadata.PackageNotFoundError:
        return list(EXTRAS[extra])
    found: list[str] = []
    for line in needed:
        package, _, marker = map(str.strip, line.partition(";"))
        if not re.search(rf"""extra == ['"]{extra}['"]""", marker):
            continue
        others = re.match(r"wattlock\[(.*)\]", package)
        for name in others[1].split(",") if others else ():
            found += _packages(name)
        found += [] if others else [package]
    return list(dict.fromkeys(found))


def _missing(extra: str, packages: list[str]) -> MissingExtra:
    lacking = f"{', '.join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
    return MissingExtra(f"{PURPOSE[extra]} need the extra {extra}: {lacking}", hint=install(extra))
