"""Which figures a page shows, in which order, and the sentence under each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import altair as alt
import polars as pl

from wattlock.report import figures
from wattlock.report.answer import usual_mode, usual_payload_B
from wattlock.report.evidence import NothingToDraw, drawable
from wattlock.report.figure_files import figure_name
from wattlock.report.formats import number, percent, size

Draw = Callable[[pl.DataFrame], alt.LayerChart]
Say = Callable[[pl.DataFrame], str]


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure in its place: the heading that it stands under, its title, the sentence below, the chart."""

    heading: str
    title: str
    note: str
    chart: alt.LayerChart

    @property
    def name(self) -> str:
        """What its files are called."""
        return figure_name(self.title)

    @property
    def axis(self) -> str:
        """The quantity with its unit and evidence: what the chart's description begins with."""
        return str(self.chart.description).partition("; ")[0]

    @property
    def evidence(self) -> str:
        """What the numbers that it draws rest on."""
        return str(drawn_by(self.chart)["evidence"][0])


def drawn_by(chart: alt.LayerChart) -> pl.DataFrame:
    """The frame that a figure draws."""
    if not isinstance(chart.data, pl.DataFrame):
        raise TypeError("a chart that draws no frame")
    return chart.data


def plates(estimates: pl.DataFrame) -> tuple[list[Plate], list[str]]:
    """Every figure that the frame can fill, and the titles of those that it can't.

    Cases of different evidence go to figures of their own, whose title says which.
    """
    hung: list[Plate] = []
    lacking: list[str] = []
    estimates = _as_encryption(estimates)
    for heading, title, draw, say, evidence in _programme(estimates):
        kinds = estimates[evidence].drop_nulls().unique().sort().to_list() or [None]
        for kind in kinds:
            rows = estimates if len(kinds) == 1 else estimates.filter(pl.col(evidence) == kind)
            named = title if len(kinds) == 1 else f"{title} ({kind})"
            try:
                chart = draw(rows)
            except NothingToDraw:
                lacking.append(named)
                continue
            hung.append(Plate(heading, named, say(drawn_by(chart)), chart))
    return hung, lacking


def _as_encryption(estimates: pl.DataFrame) -> pl.DataFrame:
    """Sealing drawn as encryption and opening as decryption: an AEAD has no other, and no other mode has these.

    Of cases that differ in their associated data the one with the least is drawn.
    """
    least = pl.col("aad_B").fill_null(0) == pl.col("aad_B").fill_null(0).min().over("cipher", "provider", "operation")
    return estimates.filter(least).with_columns(pl.col("operation").replace({"seal": "encrypt", "open": "decrypt"}))


def _programme(estimates: pl.DataFrame) -> Iterator[tuple[str, str, Draw, Say, str]]:
    """Heading, title, figure, its sentence and the evidence that it rests on, in the order a reader asks."""
    mode, packet_B = usual_mode(estimates), usual_payload_B(estimates) or 0
    time, energy, named = "time_evidence", "energy_evidence", mode.upper()
    packets = estimates.filter(pl.col("data") == "random")["payload_B"].unique().sort().to_list()
    modes = sorted(estimates["mode"].drop_nulls().unique().to_list())
    others = [other for other in modes if other not in (mode, "stream")]

    head = "Energy"
    draw: Draw = partial(figures.energy_by_cipher, mode=mode, payload_B=packet_B)
    yield head, f"Energy of encrypting {size(packet_B)} packets, {named}", draw, _energy_note, energy
    draw = partial(figures.files, mode=mode, quantity="energy_uJ_per_byte")
    yield head, f"Energy of encrypting a file, {named}", draw, _energy_note, energy

    head = "What a byte costs"
    for payload_B in sorted({packet_B, max(packets, default=0)}):
        draw = partial(figures.cost_by_cipher, mode=mode, payload_B=payload_B)
        yield head, f"Encrypting {size(payload_B)} packets, {named}", draw, _stream_note, time
    head = "What a packet’s size changes"
    for shown in (mode, *others):
        draw = partial(figures.over_payload, mode=shown, quantity="cycles_per_byte")
        yield head, f"Cycles per byte by payload, {shown.upper()}", draw, _short_packets, time
    head = "Back again, and getting ready"
    draw = partial(figures.encrypt_against_decrypt, mode=mode, payload_B=packet_B)
    yield head, f"Encrypting against decrypting, {size(packet_B)}, {named}", draw, _widest_gap, time
    yield head, "Setting up a key", figures.key_setup, partial(_key_note, estimates), time
    head = "CPU time"
    draw = partial(figures.over_payload, mode=mode, quantity="cpu_us")
    yield head, f"CPU time of encrypting a packet, {named}", draw, partial(_cpu_share, estimates), time
    draw = partial(figures.files, mode=mode, quantity="cpu_ms")
    yield head, f"CPU time of encrypting a file, {named}", draw, _sizes_note, time
    head = "Whole files"
    draw = partial(figures.files, mode=mode, quantity="time_ms")
    yield head, f"Time of encrypting a file, {named}", draw, _kinds_note, time
    draw = partial(figures.files, mode=mode, quantity="throughput_MB_s")
    yield head, f"Throughput on a file, {named}", draw, _sizes_note, time


def _stream_note(drawn: pl.DataFrame) -> str:
    streams = "rc4" in drawn["family"].to_list()
    return "RC4 is a stream cipher and has no mode." if streams else ""


def _short_packets(drawn: pl.DataFrame) -> str:
    """How much dearer a byte is in the smallest packet than in the largest, at most."""
    ends = (
        drawn.sort("payload_B")
        .group_by("name", maintain_order=True)
        .agg(
            times=pl.col("value").first() / pl.col("value").last(),
            small=pl.col("payload_B").first(),
            large=pl.col("payload_B").last(),
        )
    )
    most = ends.sort("times", descending=True).row(0, named=True)
    return (
        f"A byte in a packet of {size(most['small'])} costs up to {number(most['times'], 2)} times what it costs in "
        f"one of {size(most['large'])} ({most['name']}). Solid line: the family’s shortest key; dashes and dots: "
        "longer ones."
    )


def _widest_gap(drawn: pl.DataFrame) -> str:
    """The cipher whose decryption differs most from its encryption."""
    wide = drawn.pivot("operation", index="name", values="value", aggregate_function="first").drop_nulls()
    if wide.is_empty():
        return ""
    ratios = wide.select("name", times=pl.col("encrypt") / pl.col("decrypt"))
    row = ratios.sort(pl.col("times").log().abs(), descending=True).row(0, named=True)
    cheaper, dearer = ("decrypting", "encrypting") if row["times"] >= 1 else ("encrypting", "decrypting")
    times = number(max(row["times"], 1 / row["times"]), 2)
    return f"The widest gap is {row['name']}’s: {dearer} costs {times} times as much as {cheaper}."


def _key_note(estimates: pl.DataFrame, drawn: pl.DataFrame) -> str:
    """The most expensive set-up, as so many bytes encrypted with the same cipher."""
    most_expensive = drawn.sort("value", descending=True).row(0, named=True)
    payload_B = usual_payload_B(estimates)
    ready = drawable(estimates).filter(
        pl.col("name") == most_expensive["name"],
        pl.col("mode").is_in([usual_mode(estimates), "stream"]),
        pl.col("operation") == "encrypt",
        pl.col("payload_B") == payload_B,
        pl.col("data") == "random",
    )
    if ready.is_empty() or ready["cycles_per_byte"][0] is None:
        return ""
    worth = number(most_expensive["value"] / ready["cycles_per_byte"][0], 2)
    return f"{most_expensive['name']}’s key costs as many cycles as encrypting {worth} bytes with it."


def _cpu_share(estimates: pl.DataFrame, _drawn: pl.DataFrame) -> str:
    """CPU time as a share of the time that passed, over every case with a number."""
    shares = drawable(estimates).filter(pl.col("time_ns") > 0).select(pl.col("cpu_ns") / pl.col("time_ns")).to_series()
    share = shares.median()
    if not isinstance(share, float):
        return ""
    median = f"over all cases {percent(share, 4)} of the time at the median"
    return f"What the operating system charged to the process; {median}."


def _kinds_note(drawn: pl.DataFrame) -> str:
    """How much the kind of file changes a cipher's time, where the files are of one size."""
    if drawn["payload_B"].n_unique() > 1 or drawn["data"].n_unique() < 2:
        return _sizes_note(drawn)
    spread = drawn.group_by("name").agg(spread=pl.col("value").max() / pl.col("value").min() - 1)
    most = spread.sort("spread", descending=True).row(0, named=True)
    widest = f"{percent(most['spread'], 2)} ({most['name']})"
    return f"{_sizes_note(drawn)} Between the kinds of file a cipher’s time differs by at most {widest}."


def _sizes_note(drawn: pl.DataFrame) -> str:
    files = drawn.select("data", "payload_B").unique(maintain_order=True)
    if files["payload_B"].n_unique() == 1:
        return f"Each file has {size(files['payload_B'][0])}."
    return "; ".join(f"{data}: {size(payload)}" for data, payload in files.iter_rows()) + "."


def _energy_note(drawn: pl.DataFrame) -> str:
    evidence = drawn["evidence"][0]
    unknown = (
        "what is not known of the meter’s gain, and chance"
        if evidence == "measured"
        else "what is not known of the device"
    )
    return f"These joules are {evidence}; the interval is {unknown}."
