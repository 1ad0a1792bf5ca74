"""Fetch the sources of others that the adapters in crates/firmware/adapters compile.

Call: `.venv/bin/python tools/adapters.py [NAME...]`. Each file is taken at the commit that the adapter's fetch.toml
names, checked by its SHA-256, and put with the adapter's own files into build/adapters/NAME, which `--library` takes.
`--from NAME=FOLDER` takes the files from a checkout on this machine, not from the network.
"""

import argparse
import hashlib
import shutil
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = ROOT / "crates" / "firmware" / "adapters"
TIMEOUT_S = 30


def main(arguments: list[str] | None = None) -> int:
    """Fetches what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(path.parent.name for path in ADAPTERS.glob("*/fetch.toml"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"adapters [default: all: {', '.join(known)}]")
    parser.add_argument("--from", dest="checkouts", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "adapters", metavar="FOLDER")
    given = parser.parse_args(arguments)
    checkouts = dict(one.split("=", 1) for one in given.checkouts)
    for name in given.names or known:
        if name not in known:
            sys.stderr.write(f"error: no adapter {name}; there are {', '.join(known)}\n")
            return 3
        try:
            folder = fetch(name, given.into, checkouts.get(name))
        except (OSError, ValueError) as error:
            sys.stderr.write(f"error: {name}: {error}\n")
            return 4
        sys.stdout.write(f"--library {name}={folder}\n")
    return 0


def fetch(name: str, into: Path, checkout: str | None) -> Path:
    """One adapter with the files of others, whole or not at all; gives its folder.

    Raises OSError where a file can't be had, ValueError where it is not the one that the adapter was written for.
    """
    wanted = tomllib.loads((ADAPTERS / name / "fetch.toml").read_text(encoding="utf-8"))
    files = {}
    for path, sha256 in wanted["sha256"].items():
        url = f"{wanted['repository'].replace('github.com', 'raw.githubusercontent.com')}/{wanted['commit']}/{path}"
        files[path] = Path(checkout, path).read_bytes() if checkout else _read(url)
        found = hashlib.sha256(files[path]).hexdigest()
        if found != sha256:
            raise ValueError(f"{path} has the SHA-256 {found}, not {sha256}")
    folder = into / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ADAPTERS / name, folder)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def _read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the adapters name https
            content: bytes = answer.read()
            return content
    except urllib.error.URLError as error:
        raise OSError(f"{url}: {error.reason}") from error


if __name__ == "__main__":
    sys.exit(main())
