"""The answer in two or three sentences, computed from the ranking and the joules."""

from typing import Any

import polars as pl

from wattlock.analysis.ranking import GROUP
from wattlock.report.evidence import EvidenceMix, departures, drawable, one_evidence
from wattlock.report.formats import cipher_name, estimate, interval, listing, number, size, time

Row = dict[str, Any]
VERBS = {
    "encrypt": "encrypting",
    "decrypt": "decrypting",
    "seal": "sealing",
    "open": "opening",
    "open_forged": "refusing a forged one in place of",
    "key_setup": "setting up a key",
    "generate": "making a key pair",
    "agree": "agreeing on a key",
    "sign": "signing 32 bytes",
    "verify": "verifying a signature",
    "encapsulate": "encapsulating a key",
    "decapsulate": "decapsulating a key",
    "protect": "protecting",
    "unprotect": "unprotecting",
}
MODE_NAMES = {"stream": "with a stream cipher", "aead": "with authentication", "frame": "in a frame of 802.11"}


def usual_payload_B(estimates: pl.DataFrame) -> int | None:
    """The packet that stands for the others: 1500 octets (an Ethernet payload) where measured, else the largest."""
    sizes = drawable(estimates).filter(pl.col("data") == "random", pl.col("payload_B") > 0)["payload_B"]
    if 1500 in sizes.implode().explode().to_list():
        return 1500
    return max(sizes.to_list(), default=None)


def usual_mode(estimates: pl.DataFrame) -> str:
    """The mode that stands for the others: CBC, the papers' likeliest, where measured, else the commonest."""
    modes = estimates.filter(pl.col("mode") != "stream")["mode"]
    return "cbc" if modes.is_empty() or "cbc" in modes.to_list() else str(modes.mode().sort()[0])


def answered_group(estimates: pl.DataFrame, ranking: pl.DataFrame) -> Row | None:
    """The ranked group that answers first, by the names of `ranking.GROUP`.

    Encryption of the usual packet in the usual mode where it has several ciphers, else the group of most ciphers.
    """
    if ranking.is_empty():
        return None
    sizes = ranking.group_by(GROUP).agg(pl.col("cipher").n_unique().alias("ciphers"), pl.len().alias("rows"))
    most = ["ciphers", "rows", "operation"]
    groups = sizes.sort(*most, *GROUP, descending=[True] * len(most) + [False] * len(GROUP)).to_dicts()
    usual = {"mode": usual_mode(estimates), "payload_B": usual_payload_B(estimates), "data": "random", "aad_B": 0}
    for group in groups:
        is_usual = all(group[name] == level for name, level in usual.items()) and not departures(group)
        if is_usual and group["operation"] in ("encrypt", "seal") and group["ciphers"] >= min(2, groups[0]["ciphers"]):
            return group
    return groups[0]


def answer(estimates: pl.DataFrame, ranking: pl.DataFrame) -> list[str]:
    """The sentences: the cheapest; the most expensive with the ratio and its interval; the joules, if any."""
    group = answered_group(estimates, ranking)
    if group is None:
        return ["No two ciphers of this run could be ranked."]
    ranked = ranking.filter(*(pl.col(name).eq_missing(group[name]) for name in GROUP)).sort("ratio_to_best")
    best, worst = ranked.row(0, named=True), ranked.row(-1, named=True)
    several = ranked["provider"].n_unique() > 1
    names = [_name(row, several) for row in ranked.iter_rows(named=True) if row["tie_group"] == 1]
    of = "ciphers" if group["ciphers"] == ranked.height else "implementations"
    sentences = [_cheapest(group, names, best, f"{ranked.height} {of}" if ranked.height > 1 else None)]
    if ranked.height > 1 and worst["tie_group"] != 1:
        sentences.append(_most_expensive(worst, several))
    return [*sentences, *_joules(estimates, best, worst, several=several)]


def _cheapest(group: Row, tied: list[str], best: Row, of: str | None) -> str:
    doing = ", ".join(
        [f"{VERBS.get(group['operation'], group['operation'])}{_what(group)}{_how(group)}", *departures(group)]
    )
    cost = best["cycles_per_byte"], best["cycles_per_byte_low"], best["cycles_per_byte_high"]
    price = "" if cost[0] is None else f" at {estimate(*cost)} cycles per byte"
    if of is None:
        alone = price or f" at {time(best['time_ns'])} a call"
        return f"For {doing}, {tied[0]} was measured alone{alone}."
    if len(tied) == 1:
        return f"For {doing}, {tied[0]} is the cheapest of {of}{price}."
    return f"For {doing}, {listing(tied)} are the cheapest of {of}{price}; they can’t be told apart."


def _what(group: Row) -> str:
    """A space and what is worked on; nothing for an operation that has no message."""
    if not group["payload_B"]:
        return ""
    data = f" and {size(group['aad_B'])} of associated data" if group["aad_B"] else ""
    if group["data"] == "random":
        return f" a packet of {size(group['payload_B'])}{data}"
    return f" the {group['data']} file of {size(group['payload_B'])}{data}"


def _how(group: Row) -> str:
    if not group["payload_B"]:
        return ""
    plain = f"in {str(group['mode']).upper()} mode"
    return f" {MODE_NAMES.get(group['mode'], plain)}"


def _name(row: Row, several: bool) -> str:
    """A cipher's name, with whose code it is where the group has code of several."""
    name = cipher_name(row["cipher"], row["mode"])
    return f"{name} of {row['provider']}" if several else name


def _most_expensive(worst: Row, several: bool) -> str:
    ratio = worst["ratio_to_best"], worst["ratio_low"], worst["ratio_high"]
    price = f" at {number(worst['cycles_per_byte'])} cycles per byte" if worst["cycles_per_byte"] else ""
    times = f"{estimate(*ratio)} times as much (95 % interval {interval(*ratio)})"
    return f"{_name(worst, several)} is the most expensive{price}: {times}."


def _joules(estimates: pl.DataFrame, *ranked: Row, several: bool) -> list[str]:
    """What the cheapest and the most expensive take in joules; nothing where evidence lacks or differs."""
    keys = [*GROUP, "cipher", "provider"]
    drawn = drawable(estimates).filter(pl.col("energy_uJ_per_byte").is_not_null())
    cases = [drawn.filter(*(pl.col(key).eq_missing(row[key]) for key in keys)) for row in ranked]
    if any(case.is_empty() for case in cases):
        return []
    try:
        evidence = one_evidence(pl.concat(cases), "energy_evidence")
    except EvidenceMix:
        return []
    prices = [
        f"{_energy(case.row(0, named=True))} for {_name(row, several)}" for case, row in zip(cases, ranked, strict=True)
    ]
    formatted = f"In energy that is {listing(list(dict.fromkeys(prices)))}."
    return [formatted if evidence == "measured" else f"{formatted} These joules are {evidence}, not measured."]


def _energy(row: Row) -> str:
    joules = row["energy_uJ_per_byte"], row["energy_low_uJ_per_byte"], row["energy_high_uJ_per_byte"]
    return f"{estimate(*joules)} µJ per byte ({interval(*joules)})"
