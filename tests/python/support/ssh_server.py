"""OpenSSH's server on this machine, for this user alone, with keys and a configuration of its own."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

SERVER = """
Port {port}
ListenAddress 127.0.0.1
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
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/id
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking accept-new
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The value of WATTLOCK_SSH by which any host is this server; its home is `folder`/home, and empty."""
    port = _free_port()
    for key in ("host", "id"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
    (folder / "home").mkdir()
    names = {"port": port, "folder": folder, "user": getpass.getuser()}
    (folder / "sshd_config").write_text(SERVER.format(**names))
    (folder / "ssh_config").write_text(CLIENT.format(**names))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")], stderr=subprocess.DEVNULL)
    try:
        _listening(port)
        yield f"ssh -F {folder}/ssh_config"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _listening(port: int) -> None:
    due = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > due:
                raise
            time.sleep(0.05)
        else:
            return
