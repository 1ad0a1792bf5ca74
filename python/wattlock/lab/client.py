"""Sends a sealed run to a lab, and fetches one from a lab."""

from __future__ import annotations

import json
import tempfile
import time
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from wattlock.errors import InputError, StoreError, TransferRefused, WayError
from wattlock.lab.pack import LARGEST_B, MEDIA_TYPE, packed, size_B, unpack
from wattlock.store import RunFolder
from wattlock.store.run_folder import refuse_uncommon, sums_sha256

SILENCE_s = 150
"""The lab reads a run before it answers, in at most two minutes."""
LONGEST_ANSWER_B = 2**16
LONGEST_s = 900.0
"""All of a run is there by then; of a megabyte a second it takes six minutes at most."""


class _NoRedirect(HTTPRedirectHandler):
    """A token goes where it was meant to go."""

    def redirect_request(self, *_args: object) -> None:
        """Follow none."""


def push(run: Path, lab: str, token: str | None) -> tuple[str, bool]:
    """Sends a sealed run to the lab at `lab`; gives its hash, and whether the lab lacked it.

    Raises StoreError where it is not sealed, TransferRefused where the lab refuses it, WayError where none answers.
    """
    folder = RunFolder.open(run)
    hash_ = sums_sha256(folder)
    refuse_uncommon(run)
    # Asked first: a lab that refuses would close the connection in the middle of the pack.
    with _asked(lab, _request(lab, f"/runs/{hash_}/wanted", token)) as answer:
        if not _json(lab, answer).get("wanted"):
            return hash_, False
    request = _request(lab, f"/runs/{hash_}", token)
    request.method = "PUT"
    request.data = packed(run)
    request.add_header("Content-Type", MEDIA_TYPE)
    request.add_header("Content-Length", str(size_B(run)))
    with _asked(lab, request) as answer:
        reply = _json(lab, answer)
    return hash_, bool(reply.get("new"))


def pull(digits: str, lab: str, token: str | None, out: Path) -> str:
    """Fetches the run whose hash begins with `digits` into the new folder `out`; gives its hash.

    Raises TransferRefused where the lab has no such run, or what came is not what was asked for, InputError where `out`
    is there, WayError where no lab answers.
    """
    if out.exists():
        raise InputError(f"--out {out}: is there already", hint="name a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".pull-") as place:
        folder, pack = Path(place) / "run", Path(place) / "pack"
        with _asked(lab, _request(lab, f"/runs/{digits}/pack", token)) as answer, pack.open("w+b") as file:
            _copy(answer, file)
            file.seek(0)
            folder.mkdir()
            unpack(file, folder)
        try:
            hash_ = sums_sha256(RunFolder.open(folder))
        except StoreError as error:
            what = error.message.replace(f"run {folder}: ", "")
            raise TransferRefused(f"lab {lab}: the run came damaged: {what}", hint="pull it again") from error
        if not hash_.startswith(digits):
            raise TransferRefused(f"lab {lab}: sent run {hash_[:12]}, not {digits}", hint="don't trust this lab")
        folder.rename(out)
    return hash_


def is_in_the_clear(lab: str) -> bool:
    """Whether a token to this lab can be read on its way."""
    parts = urlsplit(lab)
    try:
        is_here = ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_here = parts.hostname == "localhost"
    return parts.scheme == "http" and not is_here


def _request(lab: str, path: str, token: str | None) -> Request:
    parts = urlsplit(lab)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise InputError(f"{lab}: is no address of a lab", hint="as `wattlock lab` prints it: http://192.168.1.2:8893")
    request = Request(f"{lab.rstrip('/')}{path}", headers={"Accept": "application/json"})  # noqa: S310 - http alone
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return request


def _asked(lab: str, request: Request) -> HTTPResponse:
    try:
        answer: HTTPResponse = build_opener(_NoRedirect).open(request, timeout=SILENCE_s)
    except HTTPError as error:
        with error:
            _refuse(lab, error)
    except (URLError, HTTPException, OSError) as error:
        why = getattr(error, "reason", error)
        hint = "is it running, and is the address right? `wattlock lab` prints it"
        raise WayError(f"lab {lab}: can't be reached: {why}", hint=hint) from error
    return answer


def _refuse(lab: str, error: HTTPError) -> NoReturn:
    try:
        reply = json.loads(error.read(LONGEST_ANSWER_B))
        words, hint = (" ".join(str(reply[key]).split()) for key in ("error", "hint"))
    except (ValueError, KeyError, TypeError, OSError):
        words, hint = f"it answered {error.code}", "is this the address of a lab?"
    raise TransferRefused(f"lab {lab}: {words}", hint=hint) from error


def _json(lab: str, answer: HTTPResponse) -> dict[str, object]:
    try:
        reply = json.loads(answer.read(LONGEST_ANSWER_B))
    except (ValueError, HTTPException, OSError):
        reply = None
    if not isinstance(reply, dict):
        raise TransferRefused(f"lab {lab}: its answer is no lab's", hint="is this the address of a lab?")
    return reply


def _copy(answer: HTTPResponse, to: BinaryIO) -> None:
    left, ends = LARGEST_B, time.monotonic() + LONGEST_s
    while step := answer.read1(2**18):
        if time.monotonic() > ends:
            raise TransferRefused(f"the lab sends for more than {LONGEST_s:.0f} s", hint="pull it again")
        left -= len(step)
        if left < 0:
            raise TransferRefused(f"the lab sends more than {LARGEST_B} B", hint="don't trust this lab")
        to.write(step)
