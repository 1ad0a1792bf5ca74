"""The figures: an estimates frame in, a chart out.

Every function takes the frame of one run, draws the cases that have a number (resolved filled, unresolved hollow and
labelled), and raises EvidenceMix where they rest on several kinds of evidence, NothingToDraw where there are none.
A mode's figure shows the stream ciphers too. What a chart draws is its `data`, one row a mark.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import altair as alt
import polars as pl

from wattlock.report.charts import Bounds, bounds_of, figure_name, levels_of, log_scale, spread_labels, ticks
from wattlock.report.evidence import NothingToDraw, drawable, in_mode, one_evidence
from wattlock.report.formats import OPERATION_NAMES, estimate, family_name, interval, number, percent, size
from wattlock.report.html import FAMILIES
from wattlock.report.run_answer import usual_mode, usual_payload_B

PacketQuantity = Literal["cycles_per_byte", "cpu_us"]
FileQuantity = Literal["time_ms", "throughput_MB_s", "cpu_ms", "energy_uJ_per_byte"]

ROW_PX, SUBROW_PX, LINES_PX, LABEL_PX = 23, 11, 420, 17
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]
TALL_BAR = "M-.16,-1.6H.16V1.6H-.16Z"
SHAPES = {
    "operation": ["circle", TALL_BAR],
    "data": ["circle", "diamond", "triangle-up", "square", "cross", "triangle-down"],
}


def cost_by_cipher(estimates: pl.DataFrame, mode: str, payload_B: int) -> alt.LayerChart:
    """Cycles per byte of encrypting packets of `payload_B` octets, one row a cipher, cheapest first."""
    rows = _packets(estimates, mode, "encrypt").filter(pl.col("payload_B") == payload_B)
    return _dots(drawn(rows, "cycles_per_byte"), "cycles_per_byte", f"encryption of {payload_B:,} B packets, {mode}")


def energy_by_cipher(estimates: pl.DataFrame, mode: str, payload_B: int) -> alt.LayerChart:
    """Energy per byte of encrypting packets of `payload_B` octets, one row a cipher, cheapest first."""
    rows = _packets(estimates, mode, "encrypt").filter(pl.col("payload_B") == payload_B)
    about = f"encryption of {payload_B:,} B packets, {mode}"
    return _dots(drawn(rows, "energy_uJ_per_byte"), "energy_uJ_per_byte", about)


def key_setup(estimates: pl.DataFrame) -> alt.LayerChart:
    """Cycles of one key set-up, one row a cipher and key length, cheapest first."""
    rows = drawable(estimates).filter(pl.col("operation") == "key_setup")
    return _dots(drawn(rows, "cycles"), "cycles", "one key set-up")


def encrypt_against_decrypt(estimates: pl.DataFrame, mode: str, payload_B: int) -> alt.LayerChart:
    """Cycles per byte of encrypting and of decrypting, joined in one row a cipher."""
    rows = _packets(estimates, mode, "encrypt", "decrypt").filter(pl.col("payload_B") == payload_B)
    pairs = drawn(rows.with_columns(pl.col("operation").replace(OPERATION_NAMES)), "cycles_per_byte")
    if pairs["operation"].n_unique() < 2:
        raise NothingToDraw("decryption beside encryption")
    return _dots(pairs, "cycles_per_byte", f"encryption and decryption of {payload_B:,} B packets, {mode}", "operation")


def files(estimates: pl.DataFrame, mode: str, quantity: FileQuantity) -> alt.LayerChart:
    """A cost of encrypting whole files, one row a cipher and within it one a file."""
    rows = in_mode(drawable(estimates), mode).filter(
        pl.col("operation") == "encrypt", ~pl.col("data").is_in(["random", "none"])
    )
    return _dots(drawn(rows, quantity), quantity, f"encryption of whole files, {mode}", "data")


def over_payload(estimates: pl.DataFrame, mode: str, quantity: PacketQuantity) -> alt.LayerChart:
    """A cost of encrypting over the packet's octets, one line a cipher, both axes logarithmic."""
    lines = drawn(_packets(estimates, mode, "encrypt"), quantity).sort("payload_B")
    lines = lines.with_columns(variant=(pl.col("key_bits").rank("dense").over("family") - 1) % len(DASHES))
    sizes = lines["payload_B"].unique().sort().to_list()
    if len(sizes) < 2:
        raise NothingToDraw(f"{QUANTITIES[quantity].title} over several payloads")
    x = alt.X(
        "payload_B:Q",
        title="payload, bytes",
        scale=alt.Scale(type="log", domain=[sizes[0], sizes[-1]], nice=False),
        axis=alt.Axis(values=sizes, format=",", grid=False, labelFlush=False),
    )
    bounds = bounds_of(lines)
    y = alt.Y("value:Q", title=axis_title(lines, quantity), scale=log_scale(bounds), axis=ticks(bounds))
    base = alt.Chart().encode(x=x, color=_families(lines))
    dash = alt.StrokeDash("variant:O", scale=alt.Scale(domain=list(range(len(DASHES))), range=DASHES), legend=None)
    layers = [
        base.mark_line(strokeWidth=1.7).encode(y=y, detail="name:N", strokeDash=dash),
        _intervals(base).encode(y="low:Q", y2="high:Q"),
        _points(base).encode(y=y),
        *_line_ends(lines, bounds),
    ]
    described = f"{axis_title(lines, quantity)}; over the payload, one line a cipher: encryption, {mode}"
    return _finished(layers, lines).properties(height=LINES_PX, description=described)


def _packets(estimates: pl.DataFrame, mode: str, *operations: str) -> pl.DataFrame:
    """The cases of random packets in a mode, stream ciphers among them."""
    return in_mode(drawable(estimates), mode).filter(
        pl.col("operation").is_in(operations), pl.col("data") == "random", pl.col("payload_B") > 0
    )


def _dots(rows: pl.DataFrame, quantity: str, about: str, marked_by: str | None = None) -> alt.LayerChart:
    """Dots with intervals on a logarithmic axis, one row a name, best first.

    `marked_by` gives each level a shape: operations share the row, joined by a line; files get a line each within it.
    """
    mean = rows.group_by("name").agg(pl.col("value").mean())
    order = mean.sort("value", "name", descending=[QUANTITIES[quantity].more_is_better, False])["name"].to_list()
    title, bounds = axis_title(rows, quantity), bounds_of(rows)
    x = alt.X("value:Q", title=title, scale=log_scale(bounds), axis=ticks(bounds))
    base = alt.Chart().encode(y=alt.Y("name:N", title=None, sort=order, axis=alt.Axis(grid=False, labelLimit=170)))
    row_px = ROW_PX
    if marked_by == "data":
        base = base.encode(yOffset=alt.YOffset("data:N", sort=levels_of(rows, "data")))
        row_px = SUBROW_PX * rows["data"].n_unique() + 10
    coloured = base.encode(color=_families(rows))
    points = _points(coloured, marked_by, rows).encode(x=x)
    layers = [_intervals(coloured).encode(x="low:Q", x2="high:Q"), points]
    if marked_by == "operation":
        layers.insert(0, coloured.mark_line(strokeWidth=1.2, opacity=0.6).encode(x=x, detail="name:N"))
    column = _values(base, rows, bool(marked_by))
    described = f"{title}; one row a cipher: {about}"
    return _finished([*layers, *column], rows).properties(height=len(order) * row_px, description=described)


def _values(base: alt.Chart, rows: pl.DataFrame, marked: bool) -> list[alt.Chart]:
    """A column at the right: every value, or, where a row holds several marks, a word beside the unresolved ones."""
    text = base.mark_text(align="left", baseline="middle", dx=10, style="value").encode(x=alt.value("width"))
    if not marked:
        return [text.encode(text="text:N")]
    unresolved = rows.filter(pl.col("state") != "resolved").height > 0
    return (
        [text.transform_filter("datum.state != 'resolved'").encode(text=alt.value("unresolved"))] if unresolved else []
    )


def _line_ends(lines: pl.DataFrame, bounds: Bounds) -> list[alt.Chart]:
    """A dot and a name beside the end of each family's lines, spread so that none covers another."""
    ends = (
        lines.filter(pl.col("payload_B") == pl.col("payload_B").max().over("name"))
        .group_by("family", maintain_order=True)
        .agg(pl.col("value").log().mean().exp(), pl.col("key_bits").unique().sort(), pl.col("name").first())
    )
    places = spread_labels(ends["value"].to_list(), bounds, LINES_PX, LABEL_PX)
    labels = [
        f"{family_name(family)} {keys[0]}–{keys[-1]}" if len(keys) > 1 else name
        for family, keys, name in ends.select("family", "key_bits", "name").iter_rows()
    ]
    base = alt.Chart(ends.select("family", label=pl.Series(labels), place=pl.Series(places))).encode(
        x=alt.value("width"), y=alt.Y("place:Q", scale=None, axis=None)
    )
    text = base.mark_text(align="left", baseline="middle", dx=22, style="value").encode(text="label:N")
    return [base.mark_point(filled=True, opacity=1, size=50, xOffset=14).encode(color=_families(lines)), text]


def _families(rows: pl.DataFrame) -> alt.Color:
    """The colour of a family: the same in every figure, whichever families it holds."""
    others = sorted(set(rows["family"].to_list()) - set(FAMILIES))
    return alt.Color("family:N", scale=alt.Scale(domain=[*FAMILIES, *others]), legend=None)


def _points(base: alt.Chart, marked_by: str | None = None, rows: pl.DataFrame | None = None) -> alt.Chart:
    """Points, hollow where the case is not resolved; a shape a level where they are marked by one."""
    hollow = alt.condition("datum.state == 'resolved'", alt.value(1), alt.value(0))
    marks = base.mark_point(filled=True, opacity=1, size=55, strokeWidth=1.6)
    points: alt.Chart = marks.encode(stroke=base.encoding.color, fillOpacity=hollow)
    if marked_by is None or rows is None:
        return points
    levels = levels_of(rows, marked_by)
    shapes = SHAPES[marked_by]
    scale = alt.Scale(domain=levels, range=[shapes[place % len(shapes)] for place in range(len(levels))])
    shaped: alt.Chart = points.encode(shape=alt.Shape(f"{marked_by}:N", scale=scale, legend=alt.Legend(title=None)))
    return shaped


def _intervals(base: alt.Chart) -> alt.Chart:
    """The 95 % intervals, where there are any."""
    rules: alt.Chart = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=1.6)
    return rules


def _finished(layers: list[alt.Chart], rows: pl.DataFrame) -> alt.LayerChart:
    """The layers over one frame, as wide as what holds them."""
    return alt.LayerChart(data=rows, layer=layers).properties(padding=4)


Limits = tuple[pl.Expr, pl.Expr, pl.Expr]
NONE = pl.lit(None, pl.Float64)
SPEED = 1e3 * pl.col("payload_B")


def _limits(value: str, low: str, high: str, per: pl.Expr | float = 1) -> Limits:
    """Three columns divided by one thing."""
    return pl.col(value) / per, pl.col(low) / per, pl.col(high) / per


@dataclass(frozen=True, slots=True)
class Quantity:
    """An axis: its title with the unit, and the value with the ends of its 95 % interval (null where it has none)."""

    title: str
    limits: Limits
    evidence: str = "time_evidence"
    more_is_better: bool = False


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "cycles": Quantity("cycles", _limits("cycles", "cycles_low", "cycles_high")),
        "cycles_per_byte": Quantity(
            "cycles per byte", _limits("cycles", "cycles_low", "cycles_high", pl.col("payload_B"))
        ),
        "time_ms": Quantity("time, ms", _limits("time_ns", "time_low_ns", "time_high_ns", 1e6)),
        "throughput_MB_s": Quantity(
            "throughput, MB/s (10⁶ bytes)",
            (SPEED / pl.col("time_ns"), SPEED / pl.col("time_high_ns"), SPEED / pl.col("time_low_ns")),
            more_is_better=True,
        ),
        "cpu_ms": Quantity("CPU time, ms", (pl.col("cpu_ns") / 1e6, NONE, NONE)),
        "cpu_us": Quantity("CPU time, µs a packet", (pl.col("cpu_ns") / 1e3, NONE, NONE)),
        "energy_uJ_per_byte": Quantity(
            "energy, µJ per byte",
            _limits("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte"),
            evidence="energy_evidence",
        ),
    }
)
KEPT = ("name", "family", "key_bits", "operation", "payload_B", "data", "state")


def drawn(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows that have this quantity, as `value, low, high`, its `evidence`, and in words: `text, range`.

    Raises EvidenceMix where the rows rest on several kinds of evidence, NothingToDraw where no row has a value.
    """
    quantity = QUANTITIES[name]
    value, low, high = quantity.limits
    # What one process measured has an interval without an end, which no axis holds: its mark stands alone.
    bounded = high.is_finite()
    ends = {"low": pl.when(bounded).then(low), "high": pl.when(bounded).then(high)}
    rows = rows.with_columns(value=value, **ends).filter(pl.col("value") > 0)
    if rows.is_empty():
        raise NothingToDraw(quantity.title)
    evidence = one_evidence(rows, quantity.evidence)
    limits = list(rows.select("value", "low", "high").iter_rows())
    words = [
        estimate(*limit) + ("" if state == "resolved" else " unresolved")
        for limit, state in zip(limits, rows["state"], strict=True)
    ]
    ranges = [interval(*limit) for limit in limits]
    return rows.select(*KEPT, "value", "low", "high", evidence=pl.lit(evidence)).with_columns(
        text=pl.Series(words), range=pl.Series(ranges)
    )


def axis_title(drawn_rows: pl.DataFrame, name: str) -> str:
    """The title of the quantity's axis, with the kind of evidence where it is not measured."""
    evidence = drawn_rows["evidence"][0]
    title = QUANTITIES[name].title
    return title if evidence == "measured" else f"{title} ({evidence})"


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
    draw: Draw = partial(energy_by_cipher, mode=mode, payload_B=packet_B)
    yield head, f"Energy of encrypting {size(packet_B)} packets, {named}", draw, _energy_note, energy
    draw = partial(files, mode=mode, quantity="energy_uJ_per_byte")
    yield head, f"Energy of encrypting a file, {named}", draw, _energy_note, energy

    head = "What a byte costs"
    for payload_B in sorted({packet_B, max(packets, default=0)}):
        draw = partial(cost_by_cipher, mode=mode, payload_B=payload_B)
        yield head, f"Encrypting {size(payload_B)} packets, {named}", draw, _stream_note, time
    head = "What a packet’s size changes"
    for shown in (mode, *others):
        draw = partial(over_payload, mode=shown, quantity="cycles_per_byte")
        yield head, f"Cycles per byte by payload, {shown.upper()}", draw, _short_packets, time
    head = "Back again, and getting ready"
    draw = partial(encrypt_against_decrypt, mode=mode, payload_B=packet_B)
    yield head, f"Encrypting against decrypting, {size(packet_B)}, {named}", draw, _widest_gap, time
    yield head, "Setting up a key", key_setup, partial(_key_note, estimates), time
    head = "CPU time"
    draw = partial(over_payload, mode=mode, quantity="cpu_us")
    yield head, f"CPU time of encrypting a packet, {named}", draw, partial(_cpu_share, estimates), time
    draw = partial(files, mode=mode, quantity="cpu_ms")
    yield head, f"CPU time of encrypting a file, {named}", draw, _sizes_note, time
    head = "Whole files"
    draw = partial(files, mode=mode, quantity="time_ms")
    yield head, f"Time of encrypting a file, {named}", draw, _kinds_note, time
    draw = partial(files, mode=mode, quantity="throughput_MB_s")
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
