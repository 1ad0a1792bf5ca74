"""Carry out the formal models of tally: `make tally-models`, with WORDS="..." cases that have one of the words.

`cases.toml` says what each case shows and what it has to find. A claim holds where the search was whole and
found nothing; a link that was broken on purpose has to be caught, by the very property that it breaks.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).parent
NEEDED = {
    "spin": "`apt-get install spin gcc`",
    "gcc": "`apt-get install spin gcc`",
    "verifpal": "`cargo install --locked verifpal@1.6.7` (Rust 1.98, or a nightly compiler with --ignore-rust-version)",
}
"""Programs, and how to get them."""
TIME_s = 300.0
"""Longest time of one case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a model; `finds` is what it has to find, empty for nothing."""

    model: str
    says: str
    define: tuple[str, ...] = ()
    replace: tuple[tuple[str, str], ...] = ()
    finds: str = ""

    @property
    def programs(self) -> tuple[str, ...]:
        """What carries it out."""
        return ("verifpal",) if self.model.endswith(".vp") else ("spin", "gcc")


def cases(path: Path = MODELS / "cases.toml") -> list[Case]:
    """All cases, in order."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    return [
        Case(**row | {"define": tuple(row.get("define", ())), "replace": tuple(map(tuple, row.get("replace", ())))})
        for row in found
    ]


def fault(case: Case, printed: str) -> str | None:
    """What is wrong with what the model checker printed, or None."""
    found = _attacks(printed) if case.model.endswith(".vp") else _violation(printed)
    if found is None:
        return f"the search was cut short: {' '.join(printed.split())[-300:]}"
    if not case.finds:
        return f"found: {found}" if found else None
    if not found:
        return f"found nothing, expected {case.finds!r}"
    return None if case.finds in found else f"found {found!r}, expected {case.finds!r}"


def _violation(printed: str) -> str | None:
    """What Spin's verifier found, empty for nothing in a whole search, None if it says neither."""
    if found := re.search(r"^pan:1: (.*) \(at depth", printed, re.MULTILINE):
        return found[1]
    whole = "max search depth too small" not in printed and "Search not completed" not in printed
    return "" if whole and re.search(r"errors: 0$", printed, re.MULTILINE) else None


def _attacks(printed: str) -> str | None:
    """Verifpal's result code, empty if all queries pass."""
    code = printed.strip().rpartition("\n")[2]
    if not re.fullmatch(r"([cafue][01])+", code):
        return None
    return code if "1" in code else ""


def carry_out(case: Case) -> str:
    """What the model checker prints of a case."""
    with tempfile.TemporaryDirectory() as folder:
        if case.model.endswith(".vp"):
            return _verifpal(case, Path(folder))
        defines = [f"-D{define}" for define in case.define]
        live = "ltl " in (MODELS / case.model).read_text(encoding="utf-8")
        kind = ["-DCOLLAPSE"] if live else ["-DCOLLAPSE", "-DSAFETY"]
        search = ["./pan", "-m1000000", "-a" if live else "-E"]
        steps = [
            ["spin", "-a", *defines, str(MODELS / case.model)],
            ["gcc", "-O1", "-w", *kind, "-opan", "pan.c"],
            search,
        ]
        return _printed(steps, folder)


def _verifpal(case: Case, folder: Path) -> str:
    text = (MODELS / case.model).read_text(encoding="utf-8")
    for old, new in case.replace:
        if old not in text:
            return f"error: {case.model} has no {old!r}"
        text = text.replace(old, new)
    (folder / "model.vp").write_text(text, encoding="utf-8")
    return _printed([["verifpal", "verify", "model.vp", "--quiet", "--result-code"]], folder)


def _printed(steps: Iterable[list[str]], folder: Path | str) -> str:
    """The last step's output, or that of the step that failed."""
    printed = ""
    for step in steps:
        try:
            done = subprocess.run(step, cwd=folder, capture_output=True, text=True, timeout=TIME_s, check=False)
        except subprocess.TimeoutExpired:
            return f"error: {step[0]} took more than {TIME_s:.0f} s"
        printed = done.stdout + done.stderr
        if done.returncode:
            break
    return printed


def main(words: list[str]) -> int:
    """Carry all cases out, or those with one of the words; 1 if one isn't as it has to be."""
    asked = [case for case in cases() if not words or any(word in f"{case}" for word in words)]
    missing = [program for program in NEEDED if not shutil.which(program)]
    for program in missing:
        if any(program in case.programs for case in asked):
            sys.stdout.write(
                f"skipped: {program} is missing, so its models stay unchecked; get it with {NEEDED[program]}\n"
            )
    ready = [case for case in asked if not set(case.programs) & set(missing)]
    with ThreadPoolExecutor(2) as pool:
        faults = list(zip(ready, pool.map(lambda case: fault(case, carry_out(case)), ready), strict=True))
    for case, wrong in faults:
        sys.stdout.write(f"{'FAILED' if wrong else 'found ' if case.finds else 'holds '} {case.model}: {case.says}\n")
    for case, wrong in faults:
        if wrong:
            sys.stderr.write(f"error: {case.model} {' '.join(case.define)}: {case.says}: {wrong}\n")
    return 1 if any(wrong for _, wrong in faults) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
