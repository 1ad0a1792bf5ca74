"""The encryption of the links themselves, by technology: which there are, and how they are called."""

PROTECTIONS = {
    "802.11": ["ccmp", "none", "gcmp", "ccmp256", "gcmp256", "tkip", "wep"],
    "ble": ["ccm", "none"],
    "802.15.4": ["5", "none", "1", "2", "3", "4", "6", "7"],
    "lorawan": ["lorawan"],
}
"""The link's own encryption by technology, the usual one first."""
OPEN = "open"
"""The link's protection of an advertisement: it has none, and none could be chosen."""
SPOKEN = {
    "802.11": {name: name.upper() for name in PROTECTIONS["802.11"]},
    "ble": {"ccm": "AES-CCM of Bluetooth LE, with a tag of 32 bits"},
    "802.15.4": {
        str(level): f"security level {level} of IEEE 802.15.4: {what}"
        for level, what in enumerate(
            (
                "none",
                "a tag of 32 bits",
                "a tag of 64 bits",
                "a tag of 128 bits",
                "encryption alone",
                "encryption with a tag of 32 bits",
                "encryption with a tag of 64 bits",
                "encryption with a tag of 128 bits",
            )
        )
    },
}
"""What each is, in a sentence."""


def short(protection: str) -> str:
    """A protection in a word or two."""
    return f"level {protection}" if protection.isdigit() else protection
