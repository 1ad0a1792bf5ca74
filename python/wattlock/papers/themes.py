"""A judge for each claim and a function for each figure and table of the papers, by theme: pure, of what is at hand.

`judge_all` gives the verdicts in the order of the claims, `show_all` the exhibits; doing it twice gives equal results.
"""

from dataclasses import replace

from wattlock.papers import (
    battery_life,
    cost_figures,
    exhibit,
    factors,
    key_sizes,
    on_air,
    orders,
    packet_sizes,
    rijndael,
    security_claims,
    sending_tables,
)
from wattlock.papers.cost_figures import Show, files
from wattlock.papers.exhibit import DrawnExhibit, Material, alike
from wattlock.papers.judge import Evidence, Judge, Judgement

THEMES = (on_air, battery_life, packet_sizes, factors, key_sizes, orders, rijndael, security_claims)
JUDGES: dict[str, Judge] = {name: judge for theme in THEMES for name, judge in theme.JUDGES.items()}


def judge_all(evidence: Evidence) -> list[Judgement]:
    """The verdict on every claim, in the order of the claims."""
    return [JUDGES[claim.id](claim, evidence) for claim in evidence.papers.claims]


ALL = ("time_ms", "throughput_MB_s", "energy_uJ_per_byte")

NO_NUMBER = "No number of this figure stands in the paper's text; what its words say of it is judged among the claims."
OF_TABLES = ("toldinas-table1", "toldinas-table2", "toldinas-fig4", "toldinas-fig5")
"""These draw the paper's own tables."""

EXHIBITS: dict[str, Show] = {
    "elminaam-wlan-fig1": exhibit.authentication,
    "elminaam-wlan-fig2": files("text", "encrypt", quantities=ALL),
    "elminaam-wlan-table1": sending_tables.durations("text"),
    "elminaam-wlan-fig3": sending_tables.energies("text"),
    "elminaam-wlan-fig4": files("image", "encrypt", quantities=("time_ms",)),
    "elminaam-wlan-fig5": files("image", "encrypt", quantities=("throughput_KB_s",)),
    "elminaam-wlan-fig6": files("image", "encrypt", quantities=("energy_uJ_per_byte",)),
    "elminaam-wlan-fig7": sending_tables.durations("image"),
    "elminaam-wlan-fig8": files("audio", "encrypt", quantities=ALL),
    "elminaam-wlan-table2": sending_tables.durations("audio"),
    "elminaam-wlan-fig9": sending_tables.energies("audio"),
    "elminaam-wlan-fig10": files("video", "encrypt", quantities=ALL),
    "elminaam-wlan-table3": sending_tables.durations("video"),
    "elminaam-wlan-fig11": sending_tables.energies("video"),
    "singh-figA-C": files("text", "encrypt", quantities=ALL),
    "singh-figD-F": files("text", "decrypt", quantities=ALL),
    "singh-figF-G": files("video", "encrypt", quantities=ALL),
    "singh-figH-J": files("video", "decrypt", quantities=("time_ms", "throughput_KB_s", "energy_uJ_per_byte")),
    "prasithsangaree-fig1": battery_life.discharge,
    "prasithsangaree-fig2": packet_sizes.over_packets("throughput_MB_s"),
    "prasithsangaree-fig3": packet_sizes.over_packets("cpu_time_ms"),
    "prasithsangaree-fig4": packet_sizes.over_packets("energy_uJ"),
    "prasithsangaree-fig5": cost_figures.energy_of_a_megabyte,
    "prasithsangaree-fig6": packet_sizes.capture_sizes,
    "elminaam-perf-fig1": exhibit.taxonomy,
    "elminaam-perf-fig2": cost_figures.encoding("base64"),
    "elminaam-perf-fig3": cost_figures.encoding("hex"),
    "elminaam-perf-fig4": files("text", "encrypt", quantities=("throughput_MB_s",)),
    "elminaam-perf-fig5": files("text", "decrypt", quantities=("throughput_MB_s",)),
    "elminaam-perf-fig6-9": files("audio", "encrypt", "decrypt", quantities=("throughput_KB_s", "cpu_time_ms")),
    "elminaam-perf-fig10-13": files("video", "encrypt", "decrypt", quantities=("throughput_KB_s", "cpu_time_ms")),
    "elminaam-perf-fig14": cost_figures.key_sizes("aes"),
    "elminaam-perf-fig15": cost_figures.key_sizes("rc6"),
    "toldinas-fig1": exhibit.features,
    "toldinas-fig2": exhibit.loop,
    "toldinas-fig3": exhibit.bitmap,
    "toldinas-table1": rijndael.table("encrypt"),
    "toldinas-table2": rijndael.table("decrypt"),
    "toldinas-fig4": rijndael.draw_profiles,
    "toldinas-fig5": rijndael.prediction,
}


def show_all(material: Material) -> list[DrawnExhibit]:
    """Every exhibit on this machine, in the order of the data."""
    return [_compared(EXHIBITS[exhibit.id](exhibit, material)) for exhibit in material.papers.exhibits]


def _compared(drawing: DrawnExhibit) -> DrawnExhibit:
    """With panels that are alike; of a figure of which no number is kept a note that says so."""
    notes = drawing.notes
    if drawing.exhibit.kind == "chart" and not drawing.exhibit.numbers and drawing.exhibit.id not in OF_TABLES:
        notes = (*notes, NO_NUMBER)
    return replace(drawing, panels=alike(drawing.panels), notes=notes)
