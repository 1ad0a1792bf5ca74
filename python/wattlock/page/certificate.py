"""How a phone gets in: a certificate of this machine, and the address as a QR code."""

from __future__ import annotations

import io
import ipaddress
import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wattlock.errors import InputError
from wattlock.targets.named import own_place

if TYPE_CHECKING:
    from cryptography import x509

DAYS = 365
"""Some browsers take none that lasts longer than 398 days (CA/Browser Forum, Baseline Requirements 2.0, 6.3.2)."""
LEFT = timedelta(days=1)
SKEW = timedelta(hours=1)
"""A phone's clock may be late."""


class Certificate(NamedTuple):
    """A certificate with its key; `fingerprint`: SHA-256 of it, as browsers show it."""

    path: Path
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        """What a server speaks https with."""
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(self.path)
        return found


def certificate(host: str) -> Certificate:
    """The certificate of an address in numbers: the one that is there, or a new one where none is or it ends soon.

    Raises InputError where the address is none that others can name, or the file is not what was written.
    """
    from cryptography.hazmat.primitives.hashes import SHA256

    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        hint = "`ip address` lists the addresses of this machine: name that of the phone's network"
        raise InputError(f"--https: {host} is no address that a certificate can name", hint=hint)
    path = own_place() / "https" / f"{host.replace(':', '_')}.pem"
    try:
        made = _read(path)
        if made is None or made.not_valid_after_utc < datetime.now(UTC) + LEFT:
            made = _new(path, address)
    except OSError as error:
        raise InputError(
            f"{error.filename or path}: {error.strerror}", hint="XDG_CONFIG_HOME names another folder"
        ) from error
    return Certificate(path, made.fingerprint(SHA256()).hex(":").upper())


def _read(path: Path) -> x509.Certificate | None:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        load_pem_private_key(text, None)
        return x509.load_pem_x509_certificate(text)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: is no certificate with its key", hint="remove it: a new one is made") from error


def _new(path: Path, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"wattlock on {address}")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(address)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    secret = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.parent.mkdir(parents=True, exist_ok=True)
    # A file of its own first, so that nobody reads half of one, or another's.
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret + made.public_bytes(form))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return made


WHITE_ON_BLACK, RESET = "\x1b[97;40m", "\x1b[0m"
"""ECMA-48, 8.3.117: whatever colours the terminal has, not every camera reads an inverted code."""


def code(address: str, columns: int) -> str | None:
    """The code with its quiet zone, lines of text; None where a terminal of so many columns can't show it."""
    import segno

    made = segno.make_qr(address)
    if made.symbol_size()[0] > columns:
        return None
    text = io.StringIO()
    made.terminal(out=text, compact=True)
    return "\n".join(f"{WHITE_ON_BLACK}{line}{RESET}" for line in text.getvalue().splitlines())


def drawing(address: str) -> str:
    """The code with its quiet zone as SVG, dark on white whatever colours the page has."""
    import segno

    made: str = segno.make_qr(address).svg_inline(scale=5, light="#fff", svgclass=None, lineclass=None)
    return made
