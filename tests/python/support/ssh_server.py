"""OpenSSH's server on this machine, for this user alone, with keys and a configuration of its own."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

SERVER = """
Port {port}
ListenAddress {address}
HostKey {folder}/host
AuthorizedKeysFile {folder}/id.pub
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
SetEnv HOME={folder}/home
"""
CLIENT = """
Host *
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {folder}/id
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
"""


@contextmanager
def served(folder: Path, address: str = "127.0.0.1", within: Sequence[str] = ()) -> Iterator[str]:
    """The value of WATTLOCK_SSH by which any host is this server; its home is `folder`/home, and empty.

    * `within`: a command that carries out others where the server is to be, as in a name space of the network.
    """
    port = _free_port()
    for key in ("host", "id"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
    (folder / "home").mkdir()
    names = {"port": port, "folder": folder, "address": address, "user": getpass.getuser()}
    (folder / "sshd_config").write_text(SERVER.format(**names))
    (folder / "ssh_config").write_text(CLIENT.format(**names))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen(
        [*within, str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")], stderr=subprocess.DEVNULL
    )
    try:
        _listening(address, port, within)
        yield f"ssh -F {folder}/ssh_config"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _listening(address: str, port: int, within: Sequence[str]) -> None:
    due = time.monotonic() + 10
    reach = [*within, sys.executable, "-c", f"import socket; socket.create_connection(({address!r}, {port}), 1)"]
    while subprocess.run(reach, check=False, capture_output=True).returncode:
        if time.monotonic() > due:
            raise TimeoutError(f"no sshd at {address}:{port}")
        time.sleep(0.05)
