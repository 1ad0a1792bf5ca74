"""A `probe-rs` whose board is a machine of QEMU: `qemu_probe_rs.py FOLDER run --chip MACHINE ... IMAGE`.

It reads the ring of RTT in the memory of the machine as a debug probe does, by the protocol of GDB, and writes it out.

Source: GDB's manual, appendix E (remote serial protocol); SEGGER, UM08001, RTT (the control block).
"""

import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

BLOCK = "_SEGGER_RTT"
RUNS_S = 0.01


def address_of(image: bytes, name: str) -> int:
    """The address of a symbol of an ELF file of 32 bits."""
    sections_at, size, count = struct.unpack_from("<I10xHH", image, 32)
    sections = [struct.unpack_from("<10I", image, sections_at + size * at) for at in range(count)]
    table = next(one for one in sections if one[1] == 2)
    names_at = sections[table[6]][4]
    for at in range(table[4], table[4] + table[5], 16):
        name_at, address = struct.unpack_from("<II", image, at)
        start = names_at + name_at
        if image[start : image.index(0, start)].decode() == name:
            return address
    raise LookupError(name)


class Machine:
    """QEMU behind its socket for GDB."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.heard = b""

    def answer(self) -> str:
        """The next packet."""
        while (end := self.heard.find(b"#")) < 0 or len(self.heard) < end + 3:
            self.heard += self.socket.recv(4096)
        packet, self.heard = self.heard[:end], self.heard[end + 3 :]
        self.socket.sendall(b"+")
        return packet.partition(b"$")[2].decode()

    def send(self, words: str) -> None:
        """Sends a packet."""
        self.socket.sendall(f"${words}#{sum(words.encode()) & 255:02x}".encode())

    def read(self, address: int, size: int) -> bytes:
        """Reads memory."""
        self.send(f"m{address:x},{size:x}")
        return bytes.fromhex(self.answer())

    def write(self, address: int, value: int) -> None:
        """Writes a word."""
        self.send(f"M{address:x},4:{struct.pack('<I', value).hex()}")
        self.answer()

    def run(self) -> None:
        """Lets it run for a while."""
        self.send("c")
        time.sleep(RUNS_S)
        self.socket.sendall(b"\x03")
        self.answer()


def main() -> None:
    """Runs the image, and writes what it says until it is ended."""
    folder, *words = sys.argv[1:]
    if words == ["--version"]:
        return
    image, machine = Path(words[-1]), words[words.index("--chip") + 1]
    path = Path(folder, f"gdb-{time.time_ns()}")
    command = ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-serial", "null", "-S"]
    # What it inherited would stay open behind this program.
    quiet = subprocess.DEVNULL
    listens = f"unix:{path},server=on,wait=off"
    child = subprocess.Popen(
        [*command, "-gdb", listens, "-kernel", str(image)], stdin=quiet, stdout=quiet, stderr=quiet
    )
    Path(folder, "pid").write_text(str(child.pid))
    while not path.exists():
        time.sleep(0.05)
    board = Machine(path)
    block = address_of(image.read_bytes(), BLOCK)
    while True:
        board.run()
        if board.read(block, 10) != b"SEGGER RTT":
            continue
        ring, size, written, read = struct.unpack("<IIII", board.read(block + 28, 16))
        while read != written:
            end = written if written > read else size
            sys.stdout.write(board.read(ring + read, end - read).decode())
            read = end % size
        sys.stdout.flush()
        board.write(block + 40, read)


main()
