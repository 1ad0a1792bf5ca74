"""The figures: an estimates frame in, a chart out.

Every function takes the frame of one run, draws the cases that have a number (resolved filled, unresolved hollow and
labelled), and raises EvidenceMix where they rest on several kinds of evidence, NothingToDraw where there are none.
A mode's figure shows the stream ciphers too. What a chart draws is its `data`, one row a mark.
"""

from typing import Literal

import altair as alt
import polars as pl

from wattlock.report.evidence import NothingToDraw, drawable, in_mode
from wattlock.report.formats import OPERATION_NAMES, family_name
from wattlock.report.look import FAMILIES
from wattlock.report.quantities import QUANTITIES, axis_title, drawn
from wattlock.report.scales import Bounds, bounds_of, levels_of, log_scale, spread_labels, ticks

PacketQuantity = Literal["cycles_per_byte", "cpu_us"]
FileQuantity = Literal["time_ms", "throughput_MB_s", "cpu_ms", "energy_uJ_per_byte"]

ROW_PX, SUBROW_PX, LINES_PX, LABEL_PX = 23, 11, 420, 17
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]
TIPS = {
    "name": "cipher",
    "operation": "does",
    "payload_B": "bytes",
    "data": "data",
    "text": "value",
    "range": "95 % interval",
    "state": "state",
}
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
    """Points, hollow where the case is not resolved, with a tooltip; a shape a level where they are marked by one."""
    hollow = alt.condition("datum.state == 'resolved'", alt.value(1), alt.value(0))
    tips = [alt.Tooltip(f"{column}:N", title=title) for column, title in TIPS.items()]
    marks = base.mark_point(filled=True, opacity=1, size=55, strokeWidth=1.6)
    points: alt.Chart = marks.encode(stroke=base.encoding.color, fillOpacity=hollow, tooltip=tips)
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
    return alt.LayerChart(data=rows, layer=layers).properties(width="container", padding=4)
