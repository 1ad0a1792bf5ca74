"""Https by the lab's own certificate, and where a phone measures itself as a code that a camera reads."""

import contextlib
import hashlib
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.labs import MEASURED, asking, hash_of
from support.tools import needs
from wattlock import cli
from wattlock.errors import InputError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.tokens import Scope
from wattlock.page.certificate import code
from wattlock.page.visits import MAGIC, VARIABLE

segno = pytest.importorskip("segno", reason="needs the extra lab")
COLUMNS = 80
ADDRESS = re.compile(r"the lab: (\S+) ")


def _own_address() -> str | None:
    """An address of this machine that others reach, null without one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, contextlib.suppress(OSError):
        one.connect(("192.0.2.1", 9))
        return str(one.getsockname()[0])
    return None


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "module.wasm").write_bytes(MAGIC)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "module.wasm"))
    return tmp_path / "config" / "wattlock" / "https"


@contextlib.contextmanager
def served(data: Path, host: str, *, terminal: bool = False) -> Iterator[tuple[str, Path]]:
    """A lab that speaks https there: its address, and the file that all it says goes to."""
    said, command = data.parent / "said", [sys.executable, "-m", "wattlock", "lab", "--data", str(data), "--https"]
    ours, theirs = pty.openpty()
    with said.open("wb") as log:
        lab = subprocess.Popen(
            [*command, "--bind", f"{host}:0"],
            stdout=theirs if terminal else log,
            stderr=log,
            env=os.environ | {"COLUMNS": str(COLUMNS)},
        )
        try:
            due = time.monotonic() + 60
            while not (found := ADDRESS.search(said.read_text())):
                assert lab.poll() is None, said.read_text()
                assert time.monotonic() < due, said.read_text()
                time.sleep(0.05)
            if terminal:
                said.write_bytes(said.read_bytes() + _read(ours))
            yield found[1], said
        finally:
            lab.send_signal(signal.SIGTERM)
            lab.wait(30)
            os.close(ours)
            os.close(theirs)


def _read(terminal: int) -> bytes:
    """What a terminal was shown until it has been quiet for a moment."""
    os.set_blocking(terminal, False)
    shown, quiet = b"", 0
    while quiet < 40:
        try:
            shown += os.read(terminal, 2**16)
            quiet = 0
        except BlockingIOError:
            quiet += 1 if shown else 0
            time.sleep(0.05)
    return shown.replace(b"\r\n", b"\n")


def test_a_lab_speaks_https_by_the_certificate_whose_fingerprint_it_prints(tmp_path: Path, place: Path) -> None:
    lab = Collection.open(tmp_path / "lab")
    token = tokens.make(lab.engine, Scope.admin, 1)
    with served(tmp_path / "lab", "127.0.0.1") as (address, said):
        assert address.startswith("https://127.0.0.1:")
        certificate = place / "127.0.0.1.pem"
        trusting = ssl.create_default_context(cafile=str(certificate))
        der = ssl.PEM_cert_to_DER_cert(certificate.read_text()[certificate.read_text().index("-----BEGIN CERT") :])
        fingerprint = hashlib.sha256(der).hexdigest().upper()
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusting), NoRedirect())
        login = urllib.request.Request(f"{address}/login", f"token={token}".encode(), {"Origin": address})  # noqa: S310
        with pytest.raises(urllib.error.HTTPError) as answer:
            opener.open(login, timeout=30)
        answer.value.close()
        cookie = answer.value.headers["Set-Cookie"]
        assert (answer.value.code, "Secure" in cookie, "HttpOnly" in cookie) == (303, True, True)
        with opener.open(f"{address}/measure-this-device", timeout=30) as door:
            assert b"Measure this device" in door.read()
        environment = os.environ | {"SSL_CERT_FILE": str(certificate), "WATTLOCK_TOKEN": token}
        push = [sys.executable, "-m", "wattlock", "push", str(MEASURED), "--to", address]
        done = subprocess.run(push, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, hash_of(MEASURED)), done.stderr
        with pytest.raises(urllib.error.URLError, match="self-signed"):
            urllib.request.urlopen(address, timeout=30)  # noqa: S310 - https
        assert fingerprint in said.read_text().replace(":", "")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Gives a redirect as an answer."""

    def redirect_request(self, *_given: object) -> None:
        """None is followed."""


@needs(_own_address(), "this machine has no address that others reach")
def test_a_terminal_shows_where_a_phone_measures_itself_as_a_code(tmp_path: Path) -> None:
    tokens.make(Collection.open(tmp_path / "lab").engine, Scope.admin, 1)
    with served(tmp_path / "lab", str(_own_address()), terminal=True) as (address, said):
        drawn = code(f"{address}/measure-this-device", COLUMNS)
        assert drawn is not None
        assert drawn in said.read_text()


def test_who_opens_the_door_at_an_address_of_the_network_sees_its_code_and_by_http_what_it_lacks(
    tmp_path: Path,
) -> None:
    lab = Collection.open(tmp_path / "lab")
    tokens.make(lab.engine, Scope.admin, 1)
    client = asking(lab)
    shown = {
        base: client.get(f"{base}/measure-this-device", headers={"Accept": "text/html"}).text
        for base in ("http://192.168.1.2:8893", "https://192.168.1.2:8893", "http://127.0.0.1:8893")
    }
    assert ["<svg" in page for page in shown.values()] == [True, True, False]
    assert ["wattlock lab --https" in page for page in shown.values()] == [True, False, False]
    assert 'aria-label="QR code of https://192.168.1.2:8893/measure-this-device"' in shown["https://192.168.1.2:8893"]


@pytest.mark.parametrize("bind", ["0.0.0.0:0", "[::]:0"])
def test_an_address_that_no_certificate_can_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bind: str
) -> None:
    data = tmp_path / "lab"
    assert cli.answer(["lab", "--data", str(data), "--https", "--bind", bind]) == InputError.exit_code
    assert "is no address that a certificate can name" in capsys.readouterr().err
    assert not data.exists()
