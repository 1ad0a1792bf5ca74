"""ns-3's side, started by `link.ns3` as a program of its own: scenarios as JSON lines in, results as JSON lines out.

It imports nothing of wattlock: the Python that has ns-3 need not be the one that has wattlock, and ns-3 ends a process
on an error of its own.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial


def main(source: str, how: str = "together") -> None:
    """Compile `source` with ns-3's cling, then answer each line.

    * `how`: `apart` answers each in a process of its own, which begins with ns-3 as it was compiled.
    """
    # Libraries write to standard output as they like: the answers go where it was, and nothing else does.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    began_by = os.getppid()
    from ns import ns  # type: ignore[import-not-found, unused-ignore]

    ns.cppyy.include(source)

    def answer(line: str) -> str:
        words = ["ns3", *(f"--{key}={value}" for key, value in json.loads(line).items())]
        return str(ns.cppyy.gbl.weighing.Transfer(words))

    for line in sys.stdin:
        if os.getppid() != began_by:
            return
        answers.write((apart(partial(answer, line)) if how == "apart" else answer(line)) + "\n")
        answers.flush()


def apart(answer: Callable[[], str]) -> str:
    """What a process of its own answers, or how it `ended` and what it `said` before."""
    with tempfile.TemporaryFile("w+") as answered, tempfile.TemporaryFile("w+", errors="replace") as complaints:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.dup2(complaints.fileno(), 1)
                os.dup2(complaints.fileno(), 2)
                answered.write(answer())
                answered.flush()
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answered.seek(0)
        complaints.seek(0)
        return answered.read() if code == 0 else json.dumps({"ended": code, "said": complaints.read(10_000)})


if __name__ == "__main__":
    main(*sys.argv[1:])
