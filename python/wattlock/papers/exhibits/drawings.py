"""Exhibits that explain: what the diagrams are drawn from."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from wattlock.papers.exhibits.shown import Drawing, Material, Shown
from wattlock.papers.record import Exhibit

SIDE_PX = 512
PROFILES = {"low": (128, 128), "medium": (192, 192), "high": (256, 256)}


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("wattlock") / "data" / "papers" / "diagrams.toml").read_text(encoding="utf-8"))


def authentication(exhibit: Exhibit, material: Material) -> Shown:
    """Open system, shared key and the 4-way handshake, frame by frame."""
    del material
    exchanges = _data()["exchange"]
    drawings = tuple(Drawing("exchange", one) for one in exchanges)
    sizes = [sum(message["octets_B"] for message in one["messages"]) for one in exchanges]
    finding = (
        f"Open system exchanges {sizes[0]} octets and proves nothing; the shared key {sizes[1]}, and shows whoever "
        f"listens 136 octets of the key stream of an IV; the 4-way handshake {sizes[2]} of EAPOL."
    )
    return Shown(exhibit, drawings=drawings, finding=finding, notes=tuple(one["source"] for one in exchanges))


def taxonomy(exhibit: Exhibit, material: Material) -> Shown:
    """The catalogue's families by what they are."""
    if not material.catalogue:
        return Shown(exhibit, missing=("the probe's catalogue",), command="wattlock ciphers")
    families = {row["family"] for row in material.catalogue}
    finding = f"{len(families)} families stand in the catalogue; every implementation is proven before it is timed."
    return Shown(exhibit, drawings=(Drawing("taxonomy", {"rows": list(material.catalogue)}),), finding=finding)


def features(exhibit: Exhibit, material: Material) -> Shown:
    """The paper's feature model, with the numbers of its own tables."""
    words = _words(material)
    listed = [{**one, "name": one["name"].format(**words)} for one in _data()["feature"]]
    finding = (
        f"By the paper's own tables the weakest choice, {words['low']}, takes {words['low_percent']} % of the battery "
        f"and the strongest, {words['high']}, {words['high_percent']} %; the most expensive is {words['dearest']} with "
        f"{words['most']} %."
    )
    note = "The paper's drawing is not in its text; the content here is ours, its numbers are those of its tables."
    return Shown(exhibit, drawings=(Drawing("features", {"features": listed}),), finding=finding, notes=(note,))


def loop(exhibit: Exhibit, material: Material) -> Shown:
    """The paper's measuring loop."""
    of, words = _data()["loop"], _words(material)
    steps = [step.format(**words) for step in of["steps"]]
    finding = (
        f"One reading stands for {words['iterations']} encryptions; wattlock repeats in fresh processes, shuffles the "
        "cases and gives each figure an interval."
    )
    return Shown(exhibit, drawings=(Drawing("loop", {**of, "steps": steps}),), finding=finding)


def bitmap(exhibit: Exhibit, material: Material) -> Shown:
    """The image that is encrypted: one of our own making, of the paper's size."""
    size_B = material.papers.toldinas.payload_B
    whole = 54 + 3 * SIDE_PX * SIDE_PX
    finding = f"A bitmap of {SIDE_PX} × {SIDE_PX} pixels has {whole:,} B with its header, as the paper's {size_B:,} B."
    note = "The image is ours; what it shows has no effect on the time (claim data-type)."
    return Shown(exhibit, drawings=(Drawing("bitmap", {"side_px": SIDE_PX}),), finding=finding, notes=(note,))


def _words(material: Material) -> dict[str, str]:
    paper = material.papers.toldinas
    by_place = {(row.block_bits, row.key_bits): row.encrypt_battery_percent for row in paper.rijndael}
    labels = {name: f"{block}, key {key}" for name, (block, key) in PROFILES.items()}
    labels |= {f"{name}_percent": f"{by_place[place]:g}" for name, place in PROFILES.items()}
    dearest = max(by_place, key=lambda place: by_place[place])
    blocks = sorted({row.block_bits for row in paper.rijndael})
    rounds = [max(block, key) // 32 + 6 for block, key in by_place]
    return labels | {
        "blocks": ", ".join(map(str, blocks)),
        "keys": ", ".join(map(str, sorted({row.key_bits for row in paper.rijndael}))),
        "rounds": ", ".join(map(str, sorted(set(rounds)))),
        "least": f"{min(by_place.values()):g}",
        "dearest": f"{dearest[0]}, key {dearest[1]}",
        "most": f"{by_place[dearest]:g}",
        "iterations": f"{paper.iterations:,}",
        "payload": f"{paper.payload_B:,}",
    }
