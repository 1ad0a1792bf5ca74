"""ns-3's side, started by `link.ns3` as a program of its own: scenarios as JSON lines in, results as JSON lines out.

It imports nothing of wattlock: the Python that has ns-3 need not be the one that has wattlock, and ns-3 ends a process
on an error of its own.
"""

import json
import os
import sys


def main(source: str) -> None:
    """Compile `source` with ns-3's cling, then answer each line."""
    # Libraries write to standard output as they like: the answers go where it was, and nothing else does.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from ns import ns  # type: ignore[import-not-found, unused-ignore]

    ns.cppyy.include(source)
    for line in sys.stdin:
        words = ["ns3", *(f"--{key}={value}" for key, value in json.loads(line).items())]
        answers.write(str(ns.cppyy.gbl.weighing.Transfer(words)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
