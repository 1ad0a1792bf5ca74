"""By which names a browser may ask a server of this machine."""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

LOCALHOST = "localhost"


def is_own(host: str, names: Collection[str] = (LOCALHOST,)) -> bool:
    """Whether a request's `Host` is an address in numbers or one of these names.

    A foreign name that leads here is another site's, whose page would read what this server says (DNS rebinding).
    """
    name = ""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        ip_address(name)
    except ValueError:
        return name in names
    return True
