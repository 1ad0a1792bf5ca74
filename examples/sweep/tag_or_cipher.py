"""What a shorter tag saves beside a quicker cipher: the picture of the sweep `tag-or-cipher`, light and dark.

Call: `python examples/sweep/tag_or_cipher.py SWEPT PICTURE.png`, where SWEPT is the folder of
`wattlock sweep tag-or-cipher --out SWEPT`; the dark one is PICTURE-dark.png.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import vl_convert

from wattlock.advise.cipher_costs import COSTS, at
from wattlock.energy import device_cards
from wattlock.report.charts import SHARPNESS, chart_svg
from wattlock.report.html import DARK, LIGHT

LONG, SHORT, QUICK = "aes128-ccm", "aes128-ccm8", "ascon-aead128"
CORE, DEVICE = "riscv32-counted", "esp32-c3"
PAYLOAD, DISTANCE = "payload.payload_B", "signal.distance_m"
HEIGHT_PX = 500
STEPS = {0: "under 5 %", 5: "5 to 10 %", 10: "10 to 25 %", 25: "25 to 50 %", 50: "50 to 100 %", 100: "more"}
ON_LIGHT = ["#eef3f8", "#c9dcee", "#94bcdf", "#4f92c8", "#14609f", "#dd5610"]
ON_DARK = ["#1c2a38", "#1f4567", "#2c6a9f", "#5b9ad2", "#a9cff0", "#ff8a3d"]
"""Blue away from the paper, and another hue where the tag saves more than the cipher."""


def cycles(cipher: str, payload_B: np.ndarray) -> np.ndarray:
    """Counted cycles of a message; between lengths that were counted on their line, beyond them period by period."""
    _, file = COSTS.load(CORE)
    cost = next(one for one in file.cost if cipher in one.ciphers)
    return np.array([at(size_B, *cost.law, block_B=cost.block_B, period_B=cost.period_B) for size_B in payload_B])


def saved(rows: pl.DataFrame) -> pl.DataFrame:
    """By payload and distance: what a tag of 8 octets and what a quick cipher save a message, uJ.

    * `tag_low_uJ`, `tag_high_uJ`: 95 % over the draws.
    """
    messages = (1e6 / pl.col(PAYLOAD)).ceil() * pl.col("delivered_percent") / 100
    each = rows.with_columns(uJ=1e6 * pl.col("total_J") / messages)
    mean = each.group_by("payload.cipher", PAYLOAD, DISTANCE).agg(
        uJ=pl.col("uJ").mean(), variance=pl.col("uJ").var() / pl.len()
    )
    keys = [PAYLOAD, DISTANCE]
    long, short = (mean.filter(pl.col("payload.cipher") == cipher).drop("payload.cipher") for cipher in (LONG, SHORT))
    both = long.join(short, on=keys, suffix="_short").sort(keys)
    payload_B = both[PAYLOAD].to_numpy()
    each_J = device_cards.load(DEVICE).card.rate.joules
    tag, half = pl.col("uJ") - pl.col("uJ_short"), 1.96 * (pl.col("variance") + pl.col("variance_short")).sqrt()
    return both.select(
        *keys,
        tag_uJ=tag,
        tag_low_uJ=tag - half,
        tag_high_uJ=tag + half,
        message_uJ="uJ",
        cipher_uJ=pl.Series(1e6 * each_J * (cycles(LONG, payload_B) - cycles(QUICK, payload_B))),
    ).with_columns(percent=100 * pl.col("tag_uJ") / pl.col("cipher_uJ"))


def picture(table: pl.DataFrame, steps: list[str], paper: Mapping[str, str]) -> str:
    """A square a payload and distance, coloured by what the tag saves as a share of what the cipher saves.

    * `steps`: a colour for each of `STEPS`. `paper`: `look.LIGHT` or `look.DARK`.
    """
    bands = np.digitize(table["percent"].to_numpy(), list(STEPS)[1:])
    columns = {DISTANCE: "distance_m", PAYLOAD: "payload_B"}
    shown = table.rename(columns).with_columns(band=pl.Series([list(STEPS.values())[band] for band in bands]))
    colour = alt.Color(
        "band:N",
        sort=list(STEPS.values()),
        scale=alt.Scale(domain=list(STEPS.values()), range=steps),
        legend=alt.Legend(title="tag, of what the cipher saves", offset=24),
    )
    distances = [1, *range(40, 150, 10)]
    x = alt.X("distance_m:O", title="distance, m", axis=alt.Axis(labelAngle=0, values=distances))
    sizes = alt.Axis(values=[8, *range(32, 257, 32)], titleAlign="left", titleX=-45, titleY=-8)
    y = alt.Y("payload_B:O", sort="descending", title="message, octets", axis=sizes)
    chart = alt.Chart(shown).mark_rect().encode(x=x, y=y, color=colour).properties(width=520, height=HEIGHT_PX)
    title = "A shorter tag saves less than a quicker cipher, but for small messages from afar"
    subtitle = "8 octets less of tag, beside Ascon in place of AES-CCM; software on RISC-V, 802.11n, ESP32-C3"
    return chart_svg(chart, title, subtitle, paper)


def main() -> None:
    """The pictures, and what the text beside them says."""
    if len(sys.argv) != 3:
        sys.exit(f"error: give the sweep's folder and the picture's name\nhint: {sys.argv[0]} swept picture.png")
    table = saved(pl.read_parquet(Path(sys.argv[1]) / "sweep.parquet"))
    light = Path(sys.argv[2])
    dark = light.with_stem(f"{light.stem}-dark")
    for file, steps, paper in ((light, ON_LIGHT, LIGHT), (dark, ON_DARK, DARK)):
        file.write_bytes(vl_convert.svg_to_png(picture(table, steps, paper), scale=SHARPNESS))
    near = table.filter(pl.col(DISTANCE) <= 35)
    more = table.filter(pl.col("percent") >= 100)
    print(table.select("tag_uJ", "cipher_uJ", "message_uJ", "percent").describe())  # noqa: T201 - its result
    print("up to 35 m:", near.select("tag_uJ", "percent").describe())  # noqa: T201 - its result
    print(f"tag saves more: {len(more)} of {len(table)}, up to {more[PAYLOAD].max()} octets", more)  # noqa: T201
    few = table.filter(pl.col(PAYLOAD).is_in([8, 16, 64, 256]), pl.col(DISTANCE).is_in([1, 60, 100, 145]))
    with pl.Config(tbl_rows=-1, tbl_cols=-1):
        print(few)  # noqa: T201 - its result


if __name__ == "__main__":
    main()
