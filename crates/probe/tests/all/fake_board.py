"""A board that misbehaves in its first case: `fake_board.py WHAT IMAGE` writes the name of its port."""

import os
import sys
import time
import tty
from pathlib import Path


def framed(text: str) -> bytes:
    """A line with its CRC-16."""
    crc = 0xFFFF
    for byte in text.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return f"{text}*{crc:04x}\n".encode()


def answers(what: str, image: str, line: str, count: int) -> list[bytes]:
    """What it writes after a line; `count`: the cases that came so far."""
    if line == "hello":
        name = "aes-0000000000000000" if what == "other" else image
        return [framed(f"board {name} 2 20000 60000 60000 60000")]
    number = line.split(maxsplit=1)[0]
    begins = framed(f"case {number}")
    counted = framed(f"counted {number} portable 16 96 2 0 0")
    ticks, end = framed(f"ticks 999 {1002 + count}"), framed("end")
    again = framed(f"wattlock-firmware 0.1.0 {image}")
    good = [begins, counted, ticks, end]
    if number != "0":
        return good
    if what == "hang":
        time.sleep(60)
    wrong = {
        "reset": [begins, again],
        "fault": [begins, framed("fault stack 3"), again],
        "lose": [begins, counted, ticks[:-2], end],
        "half": [begins, counted[:9]],
        "long": [begins, counted, framed(f"ticks 999 {2**32 - 1}"), end],
    }
    once = {"lose-once": [begins, counted[:5] + counted[6:], ticks, end], "deaf": [framed("again")]}
    return wrong.get(what) or (once.get(what) if count == 1 else None) or good


def main() -> None:
    """Answers until it is ended."""
    what, image = sys.argv[1], Path(sys.argv[2]).stem
    here, port = os.openpty()
    tty.setraw(port)
    sys.stdout.write(f"{os.ttyname(port)}\n")
    sys.stdout.flush()
    heard, count = b"", 0
    while True:
        heard += os.read(here, 4096)
        *lines, heard = heard.split(b"\n")
        for line in lines:
            text = line.decode().rpartition("*")[0]
            count += text != "hello"
            for answer in answers(what, image, text, count):
                os.write(here, answer)


if __name__ == "__main__":
    main()
