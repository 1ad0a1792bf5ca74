"""A `probe-rs` whose board misbehaves in its first case: `fake_probe_rs.py WHAT FOLDER run --chip CHIP ... IMAGE`.

It answers as the image would by RTT, beside words of its own, and keeps the image in FOLDER.
"""

import re
import shutil
import sys
import time
from pathlib import Path

from fake_board import framed

LINE = re.compile(rb"(\d+) \S+ \S+ \S+ (?:ready|each) \d+ \d+ \d+ \d+\n")


def say(text: str) -> None:
    """Writes a line of the image."""
    sys.stdout.write(framed(text).decode())
    sys.stdout.flush()


def main() -> int:
    """Carries the image's plan out."""
    what, folder, *words = sys.argv[1:]
    if words == ["--version"]:
        sys.stdout.write("probe-rs 0.32.0\n")
        return 0
    if what == "absent":
        sys.stderr.write("Error: No connected probes were found.\n")
        return 1
    shutil.copy(words[-1], Path(folder, "image.elf"))
    Path(folder, "words").write_text(" ".join(words[:-1]))
    image = Path(words[-1]).read_bytes()
    sys.stdout.write("      Erasing 100%\n")
    say("wattlock-firmware 0.1.0 aes")
    say("board aes-0000000000000000 2 20000 60000 60000 60000")
    for count, line in enumerate(LINE.finditer(image), 1):
        number = line[1].decode()
        say(f"case {number}")
        if number == "0" and what == "hang":
            time.sleep(60)
        if number == "0" and what == "fault":
            say("fault stack 3")
            time.sleep(60)
        if number == "0" and what == "gone":
            sys.stderr.write("Error: the probe was unplugged\n")
            return 1
        if not (number == "0" and what == "lose"):
            say(f"counted {number} portable 16 96 2 0 0")
        tick = 2**32 - 1 if number == "0" and what == "long" else 1002 + count
        say(f"ticks 999 {tick}")
        say("end")
    say("done")
    time.sleep(60)
    return 0


sys.exit(main())
