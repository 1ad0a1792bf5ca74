"""The answer in two or three sentences, computed from the ranking and the joules: joules before cycles."""

from typing import Any

import polars as pl

from wattlock.analysis.comparison import GROUP, core_classes
from wattlock.report.evidence import DRAWN_STATES, departures, drawable, is_plain, with_energy_columns
from wattlock.report.formats import cipher_in_mode, cipher_name, estimate, interval, listing, number, size, time

Row = dict[str, Any]
JOULES = ("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte")
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
MODE_NAMES = {
    "stream": "with a stream cipher",
    "aead": "with authentication",
    "frame": "in a frame of 802.11",
    "link": "on a link",
}


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
    """The ranked group that answers first, by the names of `analysis.comparison.GROUP`.

    Encryption of the usual packet in the usual mode where it has several ciphers, else the group of most ciphers.
    """
    if ranking.is_empty():
        return None
    sizes = ranking.group_by(GROUP).agg(pl.col("cipher").n_unique().alias("ciphers"), pl.len().alias("rows"))
    most = ["ciphers", "rows", "operation"]
    groups = sizes.sort(*most, *GROUP, descending=[True] * len(most) + [False] * len(GROUP)).to_dicts()
    usual = {"mode": usual_mode(estimates), "payload_B": usual_payload_B(estimates), "data": "random", "aad_B": 0}
    if kinds := core_classes(estimates):
        usual["core_class"] = kinds[0]
    for group in groups:
        is_usual = all(group[name] == level for name, level in usual.items()) and is_plain(group)
        if is_usual and group["operation"] in ("encrypt", "seal") and group["ciphers"] >= min(2, groups[0]["ciphers"]):
            return group
    return groups[0]


def answered_rows(estimates: pl.DataFrame, ranking: pl.DataFrame) -> pl.DataFrame:
    """The rows of the group that answers first, cheapest first, with their joules; no row where nothing is ranked."""
    group = answered_group(estimates, ranking)
    if group is None:
        return with_joules(ranking.clear(), estimates)
    same = (pl.col(name).eq_missing(group[name]) for name in GROUP)
    return with_joules(ranking.filter(*same).sort("ratio_to_best"), estimates)


def side_by_side(estimates: pl.DataFrame) -> pl.DataFrame:
    """What encrypting the usual packet costs by each cipher that was asked for, whatever its mode, cheapest first.

    Columns `cipher`, `provider` where there are several, `time_ns`, `times_cheapest`, `half_width_percent`,
    `energy_uJ_per_byte` where there is any, `state`. No row where there are not two.
    """
    payload_B = usual_payload_B(estimates) or 0
    asked = pl.col("payload_B") == payload_B, pl.col("operation").is_in(["encrypt", "seal"]), pl.col("data") == "random"
    rows = drawable(with_energy_columns(estimates)).filter(*asked).filter(pl.col("time_ns") > 0).sort("time_ns")
    columns = ["cipher", *(["provider"] if rows["provider"].n_unique() > 1 else []), "time_ns", "times_cheapest"]
    columns += ["half_width_percent", *(["energy_uJ_per_byte"] if rows["energy_uJ_per_byte"].count() else []), "state"]
    named = rows.with_columns((pl.col("time_ns") / pl.col("time_ns").min()).alias("times_cheapest")).select(columns)
    return named if named.height > 1 else named.clear()


def asked_cases(estimates: pl.DataFrame, ranking: pl.DataFrame) -> pl.DataFrame:
    """The cases that do the same as the group that answers, whatever their mode; empty where nothing answers."""
    group, plain = answered_group(estimates, ranking), with_energy_columns(estimates)
    if group is None:
        return plain.clear()
    alike = [name for name in GROUP if name in plain.columns and not (name == "mode" and group["payload_B"])]
    return plain.filter(pl.col("state").is_in(DRAWN_STATES), *(pl.col(name).eq_missing(group[name]) for name in alike))


def with_joules(ranking: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """A ranking with the joules of its cases and what they rest on; null where that is of several kinds in a group."""
    has_number = pl.col("state").is_in(DRAWN_STATES)
    joules = (
        with_energy_columns(estimates).filter(has_number).select("case", *JOULES, "energy_evidence", "time_evidence")
    )
    joined = ranking.join(joules, on="case", how="left", maintain_order="left")
    one_kind = pl.col("energy_evidence").drop_nulls().n_unique().over(GROUP) <= 1
    return joined.with_columns(pl.when(one_kind).then(pl.col(name)) for name in (*JOULES, "energy_evidence"))


def answer(estimates: pl.DataFrame, ranking: pl.DataFrame) -> list[str]:
    """The sentences: the cheapest; the most expensive with the ratio and its interval; what the joules are, if any.

    Joules stand before cycles. Where another cipher than the quickest takes the least energy, a sentence says so first.
    """
    group = answered_group(estimates, ranking)
    if group is None:
        return ["No two ciphers of this run could be ranked."]
    ranked = answered_rows(estimates, ranking)
    several = ranked["provider"].n_unique() > 1
    ranked_words = f"{ranked.height} {'ciphers' if group['ciphers'] == ranked.height else 'implementations'}"
    what = f"For {doing(group)},"
    kinds = ranked["energy_evidence"].drop_nulls().unique().to_list()
    sentences = []
    least = _least_joules(ranked)
    if least is not None:
        sentences.append(f"{what} {_name(least, several)} takes the least energy of {ranked_words}: {_energy(least)}.")
        what = "In time"
        ranked = ranked.with_columns(pl.lit(None, pl.Float64).alias(name) for name in JOULES)
    sentences.append(_cheapest(what, ranked, several=several, quantity_words=ranked_words))
    worst = ranked.row(-1, named=True)
    if ranked.height > 1 and worst["tie_group"] != 1:
        sentences.append(_most_expensive(worst, several))
    sentences += _in_other_modes(asked_cases(estimates, ranking), ranked)
    if kinds not in ([], ["measured"]) and "µJ" in " ".join(sentences):
        sentences.append(f"These joules are {kinds[0]}, not measured.")
    if "emulated" in ranked["time_evidence"].to_list():
        sentences.append("These times are emulated: no real device takes them.")
    return sentences


MOST_BESIDE = 2


def _in_other_modes(asked: pl.DataFrame, ranked: pl.DataFrame) -> list[str]:
    """How what was asked in other modes, or without a mode, compares with the ranked: a sentence, or none."""
    others = asked.filter(pl.col("time_ns").is_not_null(), ~pl.col("case").is_in(ranked["case"].to_list()))
    best = ranked.row(0, named=True)
    if others.is_empty() or not best["time_ns"]:
        return []
    named = [
        (cipher_in_mode(row["cipher"], row["mode"]), row["time_ns"] / best["time_ns"])
        for row in others.sort("time_ns").iter_rows(named=True)
    ]
    if len(named) <= MOST_BESIDE:
        compared = [f"{name} takes {number(times)} times as long as {_name(best, False)}" for name, times in named]
        return [f"Beside them {' and '.join(compared)}."]
    name, times = named[0]
    if times >= 1:
        return [f"Nothing else of the {asked.height} that were asked for is cheaper."]
    return [f"In another mode {name} takes {100 * times:.0f} % of that time."]


def _least_joules(ranked: pl.DataFrame) -> Row | None:
    """The row that takes the fewest joules, where that is surely none of the quickest; else nothing."""
    known = ranked.filter(pl.col("energy_uJ_per_byte") > 0)
    quickest = known.filter(pl.col("tie_group") == 1)
    if quickest.is_empty():
        return None
    least = known.sort("energy_uJ_per_byte").row(0, named=True)
    lowest = quickest["energy_low_uJ_per_byte"].min()
    is_below = isinstance(lowest, float) and (least["energy_high_uJ_per_byte"] or lowest) < lowest
    return least if is_below else None


def _cheapest(what: str, ranked: pl.DataFrame, *, several: bool, quantity_words: str) -> str:
    best = ranked.row(0, named=True)
    tied = [_name(row, several) for row in ranked.filter(pl.col("tie_group") == 1).iter_rows(named=True)]
    cycles = best["cycles_per_byte"], best["cycles_per_byte_low"], best["cycles_per_byte_high"]
    price = _price(best, estimate(*cycles) if best["cycles_per_byte"] else "")
    if ranked.height == 1:
        alone = price or f" at {time(best['time_ns'])} a call"
        return f"{what} {tied[0]} was measured alone{alone}."
    if len(tied) == 1:
        return f"{what} {tied[0]} is the cheapest of {quantity_words}{price}."
    return f"{what} {listing(tied)} are the cheapest of {quantity_words}{price}; they can’t be told apart."


def doing(group: Row) -> str:
    """What a ranked group does, in words: encrypting a packet of 1,500 B in CBC mode."""
    verb = VERBS.get(group["operation"], group["operation"])
    return ", ".join([f"{verb}{_what(group)}{_how(group)}", *departures(group)])


def _price(row: Row, cycles: str) -> str:
    """What a row costs, joules first: ` at 0.0061 µJ per byte (0.0031 to 0.012) and 2.39 cycles per byte`."""
    parts = [_energy(row)] if row["energy_uJ_per_byte"] else []
    parts += [f"{cycles} cycles per byte"] if cycles else []
    return f" at {' and '.join(parts)}" if parts else ""


def _what(group: Row) -> str:
    """A space and what is worked on; nothing for an operation that has no message."""
    if not group["payload_B"]:
        return ""
    data = f" and {size(group['aad_B'])} of associated data" if group["aad_B"] else ""
    if group["data"] == "random":
        return f" a packet of {size(group['payload_B'])}{data}"
    return f" the {group['data']} file of {size(group['payload_B'])}{data}"


def _how(group: Row) -> str:
    if not group["payload_B"] or group["mode"] is None:
        return ""
    plain = f"in {str(group['mode']).upper()} mode"
    return f" {MODE_NAMES.get(group['mode'], plain)}"


def _name(row: Row, several: bool) -> str:
    """A cipher's name, with whose code it is where the group has code of several."""
    name = cipher_name(row["cipher"], row["mode"])
    return f"{name} of {row['provider']}" if several else name


def _most_expensive(worst: Row, several: bool) -> str:
    ratio = worst["ratio_to_best"], worst["ratio_low"], worst["ratio_high"]
    price = _price(worst, number(worst["cycles_per_byte"]) if worst["cycles_per_byte"] else "")
    as_much = "as much" if not worst["energy_uJ_per_byte"] else "the cycles" if worst["cycles_per_byte"] else "the time"
    times = f"{estimate(*ratio)} times {as_much} (95 % interval {interval(*ratio)})"
    return f"{_name(worst, several)} is the most expensive{price}: {times}."


def _energy(row: Row) -> str:
    joules = row["energy_uJ_per_byte"], row["energy_low_uJ_per_byte"], row["energy_high_uJ_per_byte"]
    return f"{estimate(*joules)} µJ per byte ({interval(*joules)})"


def after_pause(compared: pl.DataFrame) -> list[str]:
    """How many times as much a single packet costs after a pause, in a sentence; none where nothing was measured so.

    * `compared`: as of `pauses.compare_after_pause`.
    """
    found = compared.filter(pl.col("ratio").is_not_null()).to_dicts()
    if not found:
        return []
    several = len({row["provider_a"] for row in found}) > 1
    costs = [_after_pause(row, several=several) for row in found]
    return [f"A single packet after 2 ms of other work costs, beside one of many: {listing(costs)}."]


def _after_pause(row: Row, *, several: bool) -> str:
    """`aes128-ctr 3.1 times as much (3.0 to 3.2; encrypting 1,500 B)`."""
    ratio = row["ratio"], row["ratio_low"], row["ratio_high"]
    name = f"{row['cipher']} of {row['provider_a']}" if several else row["cipher"]
    size_words = f" {size(row['payload_B'])}" if row["payload_B"] else ""
    what = ", ".join(
        [f"{VERBS.get(row['operation'], row['operation'])}{size_words}", *departures({**row, "core_class": None})]
    )
    return f"{name} {estimate(*ratio)} times as much ({interval(*ratio)}; {what})"
