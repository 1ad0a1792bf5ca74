"""The program. Ctrl-C ends it without a traceback also while the command line is being imported."""

import os
import sys

INTERRUPTED = 130


def fill_closed_streams() -> None:
    """Put /dev/null where a standard stream is closed (`>&-`): else the next file that is opened takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def main() -> None:
    """Run the command line and leave with its exit code."""
    fill_closed_streams()
    try:
        from wattlock import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
