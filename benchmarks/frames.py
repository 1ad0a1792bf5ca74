"""Frames and captures against their peers: `python benchmarks/frames.py`.

* How fast a capture of 1 GB in the page cache is counted, beside reading it at all and beside tshark.
* What protecting a frame of 1500 octets costs beside the bare AEAD of the same crates, in one run.
"""

import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

SIZE_B = 1_000_000_000
REPEATS = 5
LEAST_MB_S, LEAST_TIMES, LEAST_SHARE = 500, 30, 0.8
RADIOTAP = bytes.fromhex("0000080000000000")
# Octets of a frame, and how many of ten have so many.
MIX = {1500: 5, 100: 3, 14: 2}
TSHARK = {
    "tshark, size and kind of each": [
        "-T",
        "fields",
        "-e",
        "frame.len",
        "-e",
        "wlan.fc.type",
        "-e",
        "wlan.fc.protected",
    ],
    "tshark, its statistics of sizes": ["-q", "-z", "plen,tree"],
}
STUDY = """
id = "frames"
title = "Frames beside the bare AEAD"
question = "What does framing add?"
target_percent = 1.0
smallest_effect_percent = 1.0
looks = [8]

[[grid]]
cipher = ["ccmp128", "ccmp256", "gcmp128", "gcmp256"]
operation = ["protect", "unprotect"]
payload_B = [1500]

[[grid]]
cipher = ["aes128-ccm8", "aes256-ccm", "aes128-gcm", "aes256-gcm"]
provider = ["rustcrypto"]
operation = ["seal", "open"]
payload_B = [1500]
"""
BARE = {"ccmp128": "aes128-ccm8", "ccmp256": "aes256-ccm", "gcmp128": "aes128-gcm", "gcmp256": "aes256-gcm"}
OPERATION = {"protect": "seal", "unprotect": "open"}


def write_capture(file: Path) -> None:
    """Data frames and acknowledgements behind radiotap, over and over until the size is reached."""
    sizes = [size_B for size_B, count in MIX.items() for _ in range(count)]
    packets = bytearray()
    for at, size_B in enumerate(sizes * 100):
        control = b"\xd4\0" if size_B == min(MIX) else b"\x08\x41"
        body = RADIOTAP + control + bytes(size_B - 2)
        packets += struct.pack("<IIII", at // 1000, at % 1000 * 1000, len(body), len(body)) + body
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127))
        while out.tell() < SIZE_B:
            out.write(packets)


def seconds(command: list[str]) -> float:
    """The wall time of a command whose output is thrown away."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def captures(net: Path) -> None:
    """Prints what counting a capture takes."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:  # noqa: S108
        file = Path(folder) / "capture.pcap"
        write_capture(file)
        size_MB = file.stat().st_size / 1e6
        best = min(seconds([str(net), "capture", str(file)]) for _ in range(REPEATS))
        floor = min(seconds(["cat", str(file)]) for _ in range(REPEATS))
        print(f"{'':34}{'s':>8}{'MB/s':>8}{'times':>8}")
        print(f"{'floor: cat to nowhere':34}{floor:8.2f}{size_MB / floor:8.0f}{floor / best:8.2f}")
        print(f"{'wattlock-net capture':34}{best:8.2f}{size_MB / best:8.0f}{1:8.2f}   aim {LEAST_MB_S} MB/s")
        if tshark := shutil.which("tshark"):
            for name, words in TSHARK.items():
                took = min(seconds([tshark, "-r", str(file), *words]) for _ in range(2))
                print(f"{name:34}{took:8.2f}{size_MB / took:8.0f}{took / best:8.2f}   aim {LEAST_TIMES} times")


def protection() -> None:
    """Prints what a frame costs beside the bare AEAD."""
    with tempfile.TemporaryDirectory() as folder:
        study, run = Path(folder) / "frames.toml", Path(folder) / "run"
        study.write_text(STUDY)
        wattlock = Path(sys.executable).with_name("wattlock")
        seconds([str(wattlock), "run", str(study), "--out", str(run)])
        shown = subprocess.run([wattlock, "show", run, "--format", "csv"], check=True, capture_output=True)
        cases = pl.read_csv(shown.stdout, infer_schema_length=None)
    times = {(row["cipher"], row["operation"]): row["time_ns"] for row in cases.iter_rows(named=True)}
    print(f"\n{'1500 octets':24}{'ns':>8}{'bare ns':>9}{'speed of the bare':>19}   aim {LEAST_SHARE:.0%}")
    for protocol, bare in BARE.items():
        for operation, of_bare in OPERATION.items():
            ns, bare_ns = times[protocol, operation], times[bare, of_bare]
            print(f"{protocol + ' ' + operation:24}{ns:8.0f}{bare_ns:9.0f}{bare_ns / ns:19.0%}")


if __name__ == "__main__":
    from wattlock.targets import toolbox

    captures(toolbox.find().program)
    protection()
