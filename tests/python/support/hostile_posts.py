"""Posts to a lab's doors as somebody hostile sends them, drawn from a seed: valid bodies that were changed.

Values that can't be, fields that are gone, foreign or there twice, nesting, numbers and texts without end, other
encodings, halves of surrogate pairs, lengths that are lies, other media types, other tokens and marks.
"""

import hashlib
import hmac
import json
import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, urlencode

from support.browser_device import DEVICE
from support.hostile_packs import ODD, flipped
from support.labs import LOCAL
from wattlock.lab.doors import COOKIE, LONGEST_FORM_B
from wattlock.lab.fleet import job_pages
from wattlock.lab.measuring import PLACE

JSON, FORM = job_pages.JSON, job_pages.FORM
TARGET = "qemu:cortex-m4"
"""Of the fleet that is asked: nothing of it is started for a question."""
JOB: dict[str, Any] = {"study": "quick", "targets": [TARGET], "only": ["cipher=rc4-128"], "libraries": []}
JOB |= {"core_class": [], "card": "", "allow_assumed": False, "meter": "", "baseline": "idle"}
GOAL = {"profile": "sensor", "allow-assumed": "on", "within": "5", "strength": "128", "run": "0" * 64}
LINES = (
    {"kind": "cipher", "cipher": "rc4-128", "provider": "own"},
    {"kind": "header", "schema": 2, "process": 0, "cases": []},
    {"kind": "batch", "process": 0, "case": 0, "round": 0, "calls": 1},
    {"kind": "end", "process": 0, "batches": 0, "energy_blocks": 0, "wall_ns": 1},
)


class Known(NamedTuple):
    """What who posts knows of a lab: tokens by scope, and of the device that measures itself its visit, key and job."""

    tokens: Mapping[str, str]
    key: str
    visit: str
    job: int


class Post(NamedTuple):
    """A request, and through which door it goes."""

    door: str
    method: str
    path: str
    headers: list[tuple[bytes, bytes]]
    body: bytes


def hostile_post(seed: int, known: Known) -> Post:
    """A hostile request; the same of the same seed and lab."""
    draw = random.Random(seed)
    door = draw.choice(sorted(DOORS))
    return DOORS[door](door, draw, known)


def _sent(door: str, draw: random.Random, path: str, body: bytes, headers: dict[str, str]) -> Post:
    """With a length, a method, a media type or an origin of its own now and then."""
    method = "PUT" if door == "runs" else "POST"
    if draw.random() < 0.03:
        method = draw.choice(["PUT", "DELETE", "PATCH", "GET", "HEAD", "OPTIONS", "POST"])
    if draw.random() < 0.08:
        headers["Content-Type"] = draw.choice(KINDS)
    if draw.random() < 0.06:
        headers["Content-Length"] = draw.choice(LENGTHS)
    if draw.random() < 0.04:
        headers["Origin"] = draw.choice(["null", "http://[", "http://evil.example", "", LOCAL.upper(), "\xff"])
    if draw.random() < 0.04:
        headers["Authorization"] = draw.choice(["Bearer", "Bearer \xff", "Basic x", "Bearer " + "x" * 5000])
    if draw.random() < 0.03:
        headers["Host"] = draw.choice(["[", "evil.example", "", "127.0.0.1:999999", "\xff"])
    pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    if draw.random() < 0.03:
        pairs.append(draw.choice(pairs))
    return Post(door, method, path, pairs, body)


KINDS = ["", JSON, FORM, f"{JSON}; charset=utf-16", f"{FORM};charset=x", "multipart/form-data", "text/plain", "\xff"]
KINDS += ["APPLICATION/JSON", f" {JSON}", "application/x-tar", "x" * 3000]
LENGTHS = ["-1", "0", "1", "1e3", "+5", "0x10", "", " ", "\xb2", "9" * 19, "9" * 400, "100000000", "5, 5"]


def _posted(draw: random.Random, known: Known, scope: str) -> dict[str, str]:
    """The headers of a program, mostly with a token that may."""
    which = draw.choice([*9 * [scope], "admin", "read", "send", "none"])
    headers = {"Content-Type": JSON}
    if which in known.tokens:
        headers["Authorization"] = f"Bearer {known.tokens[which]}"
    return headers


def _queue(door: str, draw: random.Random, known: Known) -> Post:
    return _sent(door, draw, "/queue", _json(JOB, draw), _posted(draw, known, "plan"))


def _plan(door: str, draw: random.Random, known: Known) -> Post:
    kept = {name: GOAL[name] for name in ("profile", "within")}
    return _sent(door, draw, "/plan", _json(draw.choice([GOAL, kept, kept]), draw), _posted(draw, known, "plan"))


def _change(door: str, draw: random.Random, known: Known) -> Post:
    path = draw.choice(["/queue/{}/cancel", "/queue/{}/again", "/queue/{}/{}", "/plan/{}/cancel", "/queue/{}"])
    body = draw.choice([b"", b"{}", _json({"x": 1}, draw)])
    return _sent(door, draw, path.format(_number(draw), _odd_path(draw)), body, _posted(draw, known, "plan"))


def _number(draw: random.Random) -> str:
    odd = ["0", "-1", "1.5", "1e3", "2147483647", "2147483648", "9" * 30, "9" * 5000, "%00", "%b2", "", "nan", "0x1"]
    return draw.choice([*odd, str(draw.randrange(1, 40)), str(draw.randrange(1, 40))])


def _odd_path(draw: random.Random) -> str:
    return quote(draw.choice(["", "x", "..", "/", "\0", "\u00e4", "cancel ", "Cancel", "a" * 2000, "%2e%2e", "\n"]))


def _form(door: str, draw: random.Random, known: Known) -> Post:
    """A form of a page, with the cookie of the browser and mostly its mark."""
    path = draw.choice(["/queue", "/plan", "/queue/1/cancel", "/queue/1/again", "/plan/1/cancel"])
    token = known.tokens[draw.choice([*6 * ["plan"], "read"])]
    mark = hmac.new(job_pages._SECRET, token.encode(), hashlib.sha256).hexdigest()
    mark = draw.choice([*9 * [mark], mark[:-1], "", "\u00e4", "0" * 64])
    goal = {name: GOAL[name] for name in draw.choice([list(GOAL), ["profile", "within"]])}
    fields = goal if path == "/plan" else {"study": "quick", "target": TARGET, "only": "rc4-128", "card": ""}
    headers = {"Content-Type": FORM, "Cookie": f"{COOKIE}={token}", "Origin": LOCAL}
    body = _fields(fields, draw)
    body = draw.choice([*9 * [f"csrf={quote(mark)}&".encode() + body], body])
    return _sent(door, draw, path, body, headers)


def _token(door: str, draw: random.Random, known: Known) -> Post:
    """A token in a form: of a login, or of a device that wants to measure itself."""
    token = draw.choice([*known.tokens.values(), "wl_none", ""])
    headers = {"Content-Type": FORM, "Origin": LOCAL}
    path = draw.choice(["/login", PLACE, "/logout"])
    return _sent(door, draw, path, _fields({"token": token}, draw), headers)


def _runs(door: str, draw: random.Random, known: Known) -> Post:
    hash_ = draw.choice(["0" * 64, "0" * 63, "F" * 64, "g" * 64, _odd_path(draw), _number(draw)])
    headers = {**_posted(draw, known, "send"), "Content-Type": "application/x-tar"}
    return _sent(door, draw, f"/runs/{hash_}", draw.randbytes(draw.choice([0, 1, 511, 512, 2000])), headers)


def _visit(door: str, draw: random.Random, known: Known) -> Post:
    key = draw.choice([*8 * [known.key], "", "x", "\u00e4", "x" * 600])
    return _sent(door, draw, f"{PLACE}/visit", _json({"key": key, "device": DEVICE}, draw), {"Origin": LOCAL})


def _words(door: str, draw: random.Random, known: Known) -> Post:
    """What a page says of its job."""
    what = draw.choice(["lines", "lines", "ended", "ended", "work", "elsewhere", _odd_path(draw)])
    visit = draw.choice([*9 * [known.visit], "", "x", "\u00e4", "%00", "x" * 3000])
    job = draw.choice([*9 * [str(known.job)], _number(draw)])
    query = draw.choice([*6 * [f"visit={quote(visit)}&job={job}"], f"visit={visit}", f"job={job}&job=x&visit", "&;=%"])
    if what == "lines":
        lines = [_json(line, draw) if draw.random() < 0.3 else json.dumps(line).encode() for line in _some(draw)]
        body = draw.choice([b"\n", b"", b"\r\n", b"\0"]).join([*lines, b""])
    else:
        body = _json({"code": draw.choice([0, 1, 255]), "complaint": "x"}, draw)
    return _sent(door, draw, f"{PLACE}/{what}?{query}", body, {"Origin": LOCAL})


def _some(draw: random.Random) -> list[dict[str, Any]]:
    return [draw.choice(LINES) for _ in range(draw.randint(1, 6))]


DOORS: Mapping[str, Callable[[str, random.Random, Known], Post]] = {
    "queue": _queue,
    "plan": _plan,
    "changes": _change,
    "forms": _form,
    "tokens": _token,
    "runs": _runs,
    "visits": _visit,
    "words of a visit": _words,
}


# Bodies.


def _json(valid: Mapping[str, Any], draw: random.Random) -> bytes:
    """JSON that was changed in what it says, or in how it is written."""
    if draw.random() < 0.15:
        return json.dumps(valid).encode()
    if draw.random() < 0.65:
        return json.dumps(_changed(dict(valid), draw)).encode()
    text = json.dumps(valid)
    name = draw.choice(list(valid))
    deep = draw.choice([100, 900, 2000])
    return draw.choice(
        [
            text.replace("{", f'{{"{name}": "other", ', 1).encode(),
            text.encode()[: draw.randrange(len(text))],
            flipped(text.encode(), draw),
            text.encode("utf-16"),
            b"\xef\xbb\xbf" + text.encode(),
            text.replace('"', "'").encode(),
            text.encode() + draw.choice([b"{}", b"\0", b" x", b"\n" * 100]),
            b"[" + text.encode() + b"]",
            f'{{"{name}": {"[" * deep}{"]" * deep}}}'.encode(),
            f'{{"{name}": {"9" * draw.choice([30, 400, 4000])}}}'.encode(),
            f'{{"{name}": {draw.choice(["NaN", "-Infinity", "1e999", "-0", "00", "1_0", "0x1"])}}}'.encode(),
            f'{{"{name}": "{draw.choice(ESCAPES)}"}}'.encode(),
            b'{"' + name.encode() + b'": "\xff\xfe\xed\xa0\x80"}',
            b" " * (LONGEST_FORM_B - 1),
            b" " * (LONGEST_FORM_B + 1),
            *(b"null", b"1", b'"x"', b"[]", b"[[]]", b"", b"{", b"\x80", b"true"),
        ]
    )


ESCAPES = [r"\ud800", r"\udfff\ud800", r"\u0000", r"\ud83d\ude00", r"\u202e", r"\x41", r"\u00"]


def _changed(valid: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """With one to three values odd, gone, in a list, or foreign."""
    for _ in range(draw.randint(1, 3)):
        name = draw.choice([*valid, "foreign", ""])
        way = draw.random()
        if isinstance(valid.get(name), dict) and way < 0.8:
            valid[name] = _changed(dict(valid[name]), draw)
        elif way < 0.2:
            valid.pop(name, None)
        elif way < 0.35:
            valid[name] = [valid.get(name, "x"), draw.choice(ODD)]
        else:
            valid[name] = draw.choice(ODD)
    return valid


def _fields(valid: Mapping[str, str], draw: random.Random) -> bytes:
    """A form that was changed in what it says, or in how it is written."""
    if draw.random() < 0.1:
        return urlencode(valid).encode()
    fields = list(valid.items())
    for _ in range(draw.randint(0, 2)):
        name = draw.choice([*valid, "foreign", "", "\ud800"])
        odd = str(draw.choice(ODD))[:2000]
        changes = [(name, odd), (name, ""), (name, "x" * 500), (f"{name}[]", "x")]
        fields[draw.randrange(len(fields))] = draw.choice(changes)
        if draw.random() < 0.3:
            fields.append(draw.choice(fields))
    pairs = [
        f"{quote_plus(name, errors='surrogatepass')}={quote_plus(value, errors='surrogatepass')}"
        for name, value in fields
    ]
    text = draw.choice([*5 * ["&"], ";", "&&", "\0", "\n"]).join(pairs).encode()
    return draw.choice(
        [
            *6 * [text],
            flipped(text, draw),
            text[: draw.randrange(len(text) + 1)],
            text + b"&" * 2000,
            text + b"&x=%ff%fe%00%u0041%",
            text.decode().encode("utf-16"),
            b"=" * 300,
            b"%" * 300,
            draw.randbytes(200),
        ]
    )
