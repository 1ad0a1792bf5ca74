"""The errors that a person can act on: each kind has an exit code of its own.

Beside them the command line ends with 70 for a bug; docs/reference/exit-codes.md has them all.
"""

import errno

HINT_OF_SYSTEM = {
    errno.ENOENT: "is it written as it should be? A folder is made by `mkdir -p`",
    errno.ENOTDIR: "a part of this path is a file, not a folder",
    errno.EISDIR: "name a file in this folder",
    errno.EACCES: "look at who may read and write there, or name another place",
    errno.EPERM: "look at who may read and write there, or name another place",
    errno.EROFS: "nothing can be written there: name another place",
    errno.ENAMETOOLONG: "a file's name has at most 255 octets",
    errno.ELOOP: "its links lead in a circle",
    errno.ENXIO: "a socket or a device without its other end is no file: name another one",
    errno.EIO: "the system can't read or write it: what holds it may be broken, or no file at all",
    errno.EMFILE: "raise the limit of open files: `ulimit -n 1024`",
    errno.ENFILE: "the system has no file left to open: end other programs",
}
"""What to do about what the system refused, where a file or a folder is named."""


class WattlockError(Exception):
    """Something that a person can put right: `message` says what is wrong, with the value, `hint` what to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def told(self) -> str:
        """Message and hint in one line, where there is but one for both."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class StudyError(WattlockError):
    """A study that can't be carried out: an unknown key, cipher or unit, an empty grid."""

    exit_code = 3


class InputError(WattlockError):
    """An input that is missing, unreadable or not what it should be: a file, a card, a key of the wrong length."""

    exit_code = 4


class UsageError(InputError):
    """A command line that lacks something, or whose options don't go together."""

    exit_code = 2


class StoreError(WattlockError):
    """A run folder that is missing, damaged or written by an unknown schema version."""

    exit_code = 5


class DiskFull(WattlockError):
    """The disk has no room left; what was measured until then is kept."""

    exit_code = 6


class ProbeError(WattlockError):
    """The probe is missing, died or answered with something that is no record."""

    exit_code = 7


class EvidenceError(WattlockError):
    """A number that the evidence doesn't carry: unverified without `--allow-assumed`, or of another kind of machine."""

    exit_code = 8


class Slower(WattlockError):
    """A comparison found cases that are slower than `--fail-above` allows."""

    exit_code = 9


class TransferRefused(WattlockError):
    """One side of a transfer refused the other, or a file."""

    exit_code = 10


class CasesFailed(WattlockError):
    """A run came to its end, and some of its cases failed; all others have their numbers."""

    exit_code = 12


class WayError(WattlockError):
    """A device that can't be reached or was lost: its probe is not to blame; what was measured is kept."""

    exit_code = 13


class NotVerified(WattlockError):
    """A file or a result set that isn't what was signed: another key, another sum, another seal."""

    exit_code = 14


class Interrupted(WattlockError):
    """The person stopped the run, which can be resumed."""

    exit_code = 130
