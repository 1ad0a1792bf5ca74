"""Https by a certificate of the page's own, and its address as a code that a camera reads."""

import fcntl
import hashlib
import os
import pty
import ssl
import struct
import subprocess
import sys
import termios
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from wattlock import cli
from wattlock.errors import InputError
from wattlock.extras import install
from wattlock.page import certificate as certificates
from wattlock.page.certificate import certificate, code
from wattlock.page.server import serving
from wattlock.page.visits import MAGIC, VARIABLE, Module, Visits

segno = pytest.importorskip("segno", reason="needs the extra page")
ADDRESS = "https://192.168.1.20:8894/#Zm9vYmFyYmF6"
MODULES = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "wattlock" / "https"


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    return Visits(Module(tmp_path / "module.wasm"))


@pytest.fixture
def address(visits: Visits) -> Iterator[str]:
    with serving("127.0.0.1", 0, visits, certificate("127.0.0.1").context()) as address:
        yield address


def test_a_browser_that_trusts_the_certificate_reaches_the_page_at_its_address_alone(address: str) -> None:
    own = certificate("127.0.0.1")
    trusting = ssl.create_default_context(cafile=str(own.path))
    with urllib.request.urlopen(address, context=trusting, timeout=20) as answer:  # noqa: S310 - https
        assert b"Measure this device" in answer.read()
    with pytest.raises(urllib.error.URLError, match="not valid for 'localhost'"):
        urllib.request.urlopen(address.replace("127.0.0.1", "localhost"), context=trusting, timeout=20)  # noqa: S310
    with pytest.raises(urllib.error.URLError, match="self-signed"):
        urllib.request.urlopen(address, timeout=20)  # noqa: S310


def test_the_fingerprint_is_that_of_the_certificate_that_a_browser_gets(address: str) -> None:
    url = urllib.parse.urlsplit(address)
    served = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((str(url.hostname), int(url.port or 0))))
    assert certificate("127.0.0.1").fingerprint.replace(":", "").lower() == hashlib.sha256(served).hexdigest()


def test_the_certificate_is_kept_for_its_user_alone_and_its_fingerprint_stays() -> None:
    first, other = certificate("127.0.0.1"), certificate("::1")
    assert certificate("127.0.0.1") == first
    assert other.fingerprint != first.fingerprint
    assert first.path.stat().st_mode & 0o777 == 0o600


def test_a_certificate_that_ends_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    first = certificate("127.0.0.1")
    monkeypatch.setattr(certificates, "LEFT", timedelta(days=certificates.DAYS + 1))
    assert certificate("127.0.0.1").fingerprint != first.fingerprint


def test_what_can_be_no_certificate_is_refused_with_what_to_do(place: Path) -> None:
    for host in ("0.0.0.0", "::"):  # noqa: S104 - refused
        with pytest.raises(InputError, match="no address that a certificate can name") as error:
            certificate(host)
        assert "`ip address`" in error.value.hint
    file = certificate("127.0.0.1").path
    for damaged in (b"", file.read_bytes()[:200], b"x"):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="is no certificate with its key") as error:
            certificate("127.0.0.1")
        assert "remove it" in error.value.hint
    file.unlink()
    place.rmdir()
    place.write_text("a file")
    with pytest.raises(InputError, match=str(place)):
        certificate("127.0.0.1")


def test_the_code_that_is_drawn_has_the_modules_of_the_address() -> None:
    drawn = code(ADDRESS, 80)
    assert drawn is not None
    rows = []
    for line in drawn.splitlines():
        pairs = [MODULES[letter] for letter in line.removeprefix("\x1b[97;40m").removesuffix("\x1b[0m")]
        rows += [[pair[half] for pair in pairs] for half in (0, 1)]
    wanted = [list(row) for row in segno.make_qr(ADDRESS).matrix_iter(border=4)]
    assert rows[: len(wanted)] == wanted


def test_a_terminal_that_is_too_narrow_gets_no_code() -> None:
    assert code(ADDRESS, 36) is None
    assert code(ADDRESS, 37) is not None


@pytest.mark.parametrize("columns", [30, 80])
def test_the_code_stands_below_the_address_where_a_terminal_is_wide_enough(tmp_path: Path, columns: int) -> None:
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    environment[VARIABLE] = str(tmp_path / "module.wasm")
    command = [sys.executable, "-m", "wattlock", "page", "--bind", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=environment) as page:
        assert page.stderr is not None
        assert b"Open this address" in page.stderr.readline()
        page.kill()
    printed = os.read(ours, 100_000).decode(errors="ignore")
    os.close(ours)
    os.close(theirs)
    assert printed.startswith("http://127.0.0.1:")
    assert ("█" in printed) == (columns == 80)


def test_without_the_extra_https_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "module.wasm"))
    monkeypatch.setattr("wattlock.extras.absent", lambda _: ["cryptography"])
    assert cli.answer(["page", "--https"]) == 1
    said = capsys.readouterr().err
    assert "https and QR codes of `page` need the extra page" in said
    assert install("page") in said
