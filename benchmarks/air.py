"""`wattlock-net air` beside ns-3: `python benchmarks/air.py [--ns3 FOLDER]`.

The same scenarios in both, throughput, collision probability, a sender's time in each state and the speed of the
simulation next to each other; then Minstrel over a range of signals. It ends with 1 where a figure misses its aim.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "python" / "wattlock" / "data" / "ns3" / "transfer.cc"
APPLICATION = ["applications", "internet", "traffic-control", "wifi"]
LIBRARIES = [*APPLICATION, "energy", "mobility", "propagation", "network", "stats", "core"]
AIM_TIMES = 500
HINT = "hint: pip install ns3==3.44.post0, a C++20 compiler, and --ns3 FOLDER where the wheel is not beside this Python"


@dataclass(frozen=True)
class Pair:
    """One scenario in both engines, and how far apart they may be."""

    name: str
    ours: dict[str, object]
    theirs: dict[str, object]
    aim_percent: float


def pair(phy: str, topology: str, stations: int, aim_percent: float, **more: object) -> Pair:
    """The same scenario twice, with the responses' rate that both take."""
    mode, control = {
        "b": ("DsssRate11Mbps", "DsssRate11Mbps" if topology == "adhoc" else "DsssRate2Mbps"),
        "g": ("ErpOfdmRate54Mbps", "ErpOfdmRate24Mbps"),
        "a": ("OfdmRate54Mbps", "OfdmRate24Mbps"),
        "n": ("HtMcs7", "ErpOfdmRate24Mbps" if more.get("band") == "2.4" else "OfdmRate24Mbps"),
        "ac": ("VhtMcs8", "OfdmRate24Mbps"),
        "ax": ("HeMcs11", "OfdmRate24Mbps"),
    }[phy]
    tcp = more.get("transport") == "tcp"
    ours: dict[str, object] = {"phy": phy, "topology": topology, "stations": stations, "id": "bench", **more}
    theirs: dict[str, object] = {key: ours[key] for key in ("phy", "topology", "stations")}
    theirs |= {"mode": mode, "control": control}
    theirs |= {key: value for key, value in more.items() if key in {"transport", "datagrams", "duration_s", "rts"}}
    if phy in {"n", "ax"}:
        ours["band"] = theirs["band"] = more.get("band", "5")
    if phy in {"n", "ac", "ax"}:
        theirs["ampdu_B"] = more.get("ampdu_B", 65_535)
    if tcp:
        ours["tcp_window_B"] = 131_072
    # Offered a little faster than it can go; what is too much only takes ns-3's time.
    theirs["interval_us"] = (600 if phy == "b" else 80 if phy in {"ac", "ax"} else 150) * max(1, stations // 2)
    if more.get("rate_control") == "minstrel":
        theirs |= {"rate_control": "minstrel", "rss_dBm": more["rssi_dBm"]}
    words = [
        f"802.11{phy}",
        "2.4 GHz" if phy == "n" and ours["band"] == "2.4" else "",
        topology,
        f"{stations} stations",
        "TCP" if tcp else "",
    ]
    words += ["file" if "datagrams" in more else "", "RTS" if more.get("rts") else ""]
    return Pair(" ".join(word for word in words if word), ours, theirs, aim_percent)


PAIRS = [
    *(pair(phy, "adhoc", 1, 0.5, duration_s=10) for phy in ("b", "g", "a", "n", "ac", "ax")),
    *(pair(phy, "to-ap", 1, 1.0, duration_s=10) for phy in ("b", "g", "a")),
    *(pair(phy, "adhoc", stations, 2.0, duration_s=10) for phy in ("b", "a") for stations in (2, 5, 10, 20)),
    pair("a", "adhoc", 10, 2.0, duration_s=10, rts=True),
    pair("a", "bss", 1, 1.5, duration_s=10),
    pair("g", "bss", 1, 1.5, duration_s=10),
    pair("b", "bss", 1, 4.0, duration_s=10),
    pair("n", "to-ap", 1, 1.0, duration_s=10, band="2.4"),
    pair("n", "bss", 1, 1.5, duration_s=10, band="2.4"),
    *(pair("a", topology, 1, 1.5, datagrams=10_000) for topology in ("adhoc", "to-ap", "bss")),
    *(pair(phy, topology, 1, 6.0, datagrams=7_000, transport="tcp") for phy in "ba" for topology in ("adhoc", "bss")),
]

MINSTREL = [
    (phy, rssi_dBm, pair(phy, "adhoc", 1, 8.0, duration_s=10, rate_control="minstrel", rssi_dBm=rssi_dBm))
    for phy in ("b", "g")
    for rssi_dBm in range(-46, -77, -3)
]
SEEDS = (1, 2, 3, 4)
"""Each draws the order in which rates are tried; their mean is compared."""


def wheel(given: Path | None) -> Path | None:
    """The folder of ns-3's wheel, with `include` and `lib64`."""
    found = importlib.util.find_spec("ns3")
    places = [given] if given else [Path(place) for place in (found.submodule_search_locations or [])] if found else []
    return next((place for place in places if (place / "include" / "ns3").is_dir()), None)


def build(folder: Path, into: Path) -> Path | None:
    """ns-3's side as a program."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    program = into / "air_ns3"
    links = [f"-lns3.44-{name}" for name in LIBRARIES]
    command = [compiler, "-std=c++20", "-O2", "-DAS_PROGRAM", f"-I{folder / 'include'}"]
    command += [str(SOURCE), "-o", str(program)]
    command += [f"-L{folder / 'lib64'}", f"-Wl,-rpath,{folder / 'lib64'}", *links]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[:2_000], file=sys.stderr)
        return None
    return program


def ours(net: str, scenario: dict[str, object], often: int = 21) -> tuple[dict[str, Any], float]:
    """Our result, and the seconds of one scenario among many, so that the start of the process does not count."""
    once = 1
    seconds = []
    for times in (once, often):
        text = "\n".join([json.dumps(scenario)] * times)
        began = time.perf_counter()
        done = subprocess.run([net, "air"], input=text, capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - began)
    return json.loads(done.stdout.splitlines()[0]), max((seconds[1] - seconds[0]) / (often - once), 1e-6)


def theirs(program: Path, scenario: dict[str, object]) -> dict[str, Any]:
    """ns-3's figures."""
    words = {key: str(value).lower() if isinstance(value, bool) else value for key, value in scenario.items()}
    arguments = [f"--{key}={word}" for key, word in words.items()]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def line(one: Pair, net: str, program: Path | None) -> tuple[str, bool]:
    """Both engines on one scenario, and whether they are as near as they should be."""
    result, our_s = ours(net, one.ours)
    duration_ns, frames = float(result["duration_ns"]), float(result["frames"])
    rate = float(result["delivered"]) / duration_ns * 1e9
    text = f"{one.name:34} {rate:9.1f}"
    if program is None:
        return f"{text}  {frames / our_s / 1e6:6.1f} M frames/s", True
    other = theirs(program, one.theirs)
    apart = 100 * (rate / other["packets_per_s"] - 1)
    text += f" {other['packets_per_s']:9.1f} {apart:+6.2f} % (aim {one.aim_percent:3.1f})"
    aggregated = one.theirs.get("ampdu_B", 0)
    collision = float(result["collision_probability"])
    text += " " * 17 if aggregated else f"  p {collision:.3f} {other['failures'] / max(other['attempts'], 1):.3f}"
    sender = dict(result["nodes"][1])
    # ns-3 counts preambles as CCA: what is heard is compared as a whole.
    their_sender = other["nodes"][1]
    heard, their_heard = sender["rx_ns"] + sender["cca_ns"], their_sender["rx_s"] + their_sender["cca_s"]
    text += f"  sends {sender['tx_ns'] / duration_ns:.3f} {their_sender['tx_s'] / other['duration_s']:.3f}"
    text += f" hears {heard / duration_ns:.3f} {their_heard / other['duration_s']:.3f}"
    # ns-3 counts A-MPDUs, we count MPDUs: both by datagrams delivered a second of work.
    speed = (float(result["delivered"]) / our_s) / (other["packets_per_s"] * other["duration_s"] / other["wall_s"])
    text += f"  {frames / our_s / 1e6:5.1f} M frames/s, {speed:6.0f} times ns-3"
    return text, abs(apart) <= one.aim_percent


def minstrel(phy: str, rssi_dBm: int, one: Pair, net: str, program: Path) -> tuple[str, bool]:
    """Both engines' Minstrel at one signal: the mean of some seeds."""

    def mean(rates: list[float]) -> float:
        return sum(rates) / len(rates)

    results = [ours(net, one.ours | {"seed": seed}, often=2)[0] for seed in SEEDS]
    rate = mean([float(result["delivered"]) / float(result["duration_ns"]) * 1e9 for result in results])
    other = mean([float(theirs(program, one.theirs | {"seed": seed})["packets_per_s"]) for seed in SEEDS])
    ratio = rate / other
    return f"802.11{phy} {rssi_dBm} dBm {rate:9.1f} {other:9.1f} {ratio:6.3f}", abs(
        100 * (ratio - 1)
    ) <= one.aim_percent


def main() -> None:
    """All pairs, one line each."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--ns3", type=Path, help="folder of ns-3's wheel")
    arguments.add_argument("--net", default=shutil.which("wattlock-net", path=str(Path(sys.executable).parent)))
    options = arguments.parse_args()
    if options.net is None:
        sys.exit("error: no wattlock-net beside this Python\nhint: `make setup`, or --net PATH")
    folder = wheel(options.ns3)
    with tempfile.TemporaryDirectory() as scratch:
        program = build(folder, Path(scratch)) if folder else None
        if program is None:
            print(f"ns-3 is missing: our figures alone\n{HINT}", file=sys.stderr)
        print(f"datagrams a second: ours, ns-3's, apart; then collisions, states, speed (aim {AIM_TIMES} times ns-3)")
        missed = 0
        for one in PAIRS:
            text, near = line(one, options.net, program)
            missed += not near
            print(text, flush=True)
        if program is not None:
            print("\nMinstrel, one station, full packets: ours, ns-3's, ratio (aim 0.92 to 1.08)")
            for phy, rssi_dBm, one in MINSTREL:
                text, near = minstrel(phy, rssi_dBm, one, options.net, program)
                missed += not near
                print(text, flush=True)
    if missed:
        sys.exit(f"error: {missed} of {len(PAIRS) + len(MINSTREL)} figures miss their aim")


if __name__ == "__main__":
    main()
