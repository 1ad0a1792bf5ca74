"""The command line's frame: one verb, one file, imported only when it is called.

A verb `show` is the function `show` of `cli/show.py`; its line in the overview stands in `VERBS`. Data goes to standard
output, words to standard error, and a `WattlockError` becomes an `error:` and a `hint:` line with its exit code.
"""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from wattlock.cli.echo import echo
from wattlock.cli.help import HELP, PlainHelp, Verb, laid_out, listed, names_width, with_values
from wattlock.errors import HINT_OF_SYSTEM, DiskFull, InputError, WattlockError
from wattlock.extras import named_by

GROUPS = {
    "Measure": {
        "run": "Carry out a study on this machine.",
        "papers": "Regenerate the five papers on this machine, and judge their claims.",
        "page": "Serve a page in which a phone, or any browser, measures itself.",
        "send": "Send files through a cipher to another machine, both sides measured.",
        "receive": "Receive what another machine sends.",
        "energy": "Join the recording of a lab instrument to the run that it was made beside.",
        "calibrate": "Fit a device card to this machine, or to a published run.",
        "doctor": "Say how fit this machine is for measuring.",
    },
    "Answer": {
        "show": "Print the estimates of a run.",
        "report": "Draw the reports of runs again.",
        "compare": "Compare runs with each other, or two providers of one.",
        "advise": "Rank the ciphers that meet a security requirement by days of battery, with the reasons.",
        "link": "Say what sending the ciphertext costs: time and joules, line by line.",
        "battery": "Say how many operations, hours or days a battery carries.",
        "sweep": "Answer many link scenarios or questions of advice into one Parquet file.",
        "explain": "Rank hypotheses why ciphertext took longer, by measured durations.",
        "capture": "Count the packets of a capture by size and kind.",
        "costs": "Write what ciphers cost on a core, out of a run that counted.",
    },
    "Publish and share": {
        "export": "Write the estimates of a run as CSV, Parquet, JSON or LaTeX.",
        "publish": "Make a signed set of sealed runs, as a site that works offline.",
        "import": "Read figures that others published, from their result files.",
        "verify": "Check the signature of a file, a run or a result set.",
        "key": "Make a key that signs result sets, or print its public key.",
        "lab": "Serve a team's runs as web pages: collect, show and compare them.",
        "push": "Send a sealed run to a lab.",
        "pull": "Fetch a sealed run from a lab.",
    },
    "Look up": {
        "ciphers": "List the ciphers that can be measured, with their security status.",
        "studies": "List the studies that come with wattlock.",
        "devices": "List the cards of devices, radios and batteries.",
        "targets": "List the devices that can be measured by --on, and what each lacks.",
        "meters": "List the energy meters of this machine, and what would grant access.",
        "selftest": "Prove the ciphers of this machine: vectors, definition, agreement.",
    },
}
"""The verbs and their lines in the overview, by what they are for."""
VERBS = {name: line for verbs in GROUPS.values() for name, line in verbs.items()}
USAGE, BUG, INTERRUPTED = 2, 70, 130
LONGEST_WORD = 255
"""Letters of a word in an error: as long as a file's name may be."""


class LazyVerb(TyperCommand):
    """A verb known by name and one line of help; its file is imported when the verb is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Load the verb's file and let the real command read `args`."""
        from wattlock.cli import settings

        _refuse_little_room()
        verb = load(str(self.name))
        known = settings.defaults(str(self.name), verb.params, VERBS)
        context = verb.make_context(info_name, args, parent=parent, default_map=known, **extra)
        settings.say(context)
        return context


class Verbs(PlainHelp, TyperGroup):
    """The group of all verbs, in the order of `VERBS`."""

    verbs_word = ("VERB",)

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**{**attrs, "help": laid_out(attrs.get("help") or "")})
        for name, line in VERBS.items():
            self.add_command(LazyVerb(name=name, callback=None, help=line))

    def sections(self, ctx: Any, width: int) -> Iterator[str]:
        """The lines of the overview: the verbs in their groups stand before the options."""
        usage, prose, *options = super().sections(ctx, width)
        yield from (usage, prose)
        for title, verbs in GROUPS.items():
            yield from listed(title, list(verbs.items()), width, names_width(list(VERBS.items())))
        yield from options

    def get_params(self, ctx: Any) -> list[Any]:
        """The program's own options."""
        return with_values(super().get_params(ctx))


def load(name: str) -> Any:
    """Give the verb `name` as a command, by importing its file."""
    from wattlock.cli.help import spread

    python = f"{name}_" if iskeyword(name) else name
    verb: Callable[..., None] = getattr(import_module(f"wattlock.cli.{python}"), python)
    single = typer.Typer(add_completion=False, context_settings=HELP)
    single.command(name=name, cls=Verb)(spread(verb))
    return typer.main.get_command(single)


LEAST_SPACE_B = 2**30


def _refuse_little_room() -> None:
    """Raise WattlockError where the threads of Polars can't be made: it would abort without a word."""
    try:
        import resource
    except ImportError:
        return
    room_B, _ = resource.getrlimit(resource.RLIMIT_AS)
    if room_B != resource.RLIM_INFINITY and room_B < LEAST_SPACE_B:
        what = f"the address space is limited to {room_B / 2**20:.0f} MiB, and wattlock needs {LEAST_SPACE_B >> 20}"
        raise WattlockError(what, hint="`ulimit -v unlimited` lifts the limit, where the system allows that")


app = typer.Typer(cls=Verbs, add_completion=True, context_settings=HELP)


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    version: bool = typer.Option(False, "-V", "--version", help="Print the version."),
) -> None:
    """Weigh ciphers in joules: what encryption costs on this device in time, cycles and energy.

    Example: wattlock run first-look --only 'aes*'
    """
    if version:
        import wattlock

        echo(f"wattlock {wattlock.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        echo(context.get_help())


def say(message: str, hint: str) -> None:
    """Print an error in the project's two lines to standard error."""
    echo(f"error: {_short(message)}", err=True)
    if hint:
        echo(f"hint: {_short(hint)}", err=True)


def _short(text: str) -> str:
    """A text without its endless words: nobody is thrown back thousands of letters."""
    return re.sub(rf"\S{{{LONGEST_WORD}}}\S+", lambda word: f"{word[0][:80]}... ({len(word[0])} characters)", text)


def _bug(error: Exception) -> int:
    if isinstance(error, MemoryError):
        say("there is not enough memory", "close other programs, or give wattlock less to do at a time")
        return WattlockError.exit_code
    if os.environ.get("WATTLOCK_DEBUG"):
        raise error
    if isinstance(error, ModuleNotFoundError) and (extra := named_by(error)) is not None:
        say(extra.message, extra.hint)
        return extra.exit_code
    text = " ".join(str(error).split())
    say(f"this is a bug in wattlock: {type(error).__name__}: {text}", "WATTLOCK_DEBUG=1 shows where; please report it")
    return BUG


def _close_quietly() -> int:
    """Point standard output at nothing, so that closing it at the end can't complain; the reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1  # what Typer gives where the pipe breaks inside a verb


def _system_error(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        return _close_quietly()
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        say(f"no room left on the disk for {error.filename or 'the output'}", "free some space and try again")
        return DiskFull.exit_code
    if error.errno not in HINT_OF_SYSTEM or (error.filename is None and error.errno != errno.EIO):
        return _bug(error)
    say(f"{error.filename or 'a file'}: {error.strerror}", HINT_OF_SYSTEM[error.errno])
    return InputError.exit_code


def _hint_of_usage(arguments: Sequence[str]) -> str:
    """Where the options of the verb that was called stand, or the verbs where none was."""
    verb = next((word for word in arguments if not word.startswith("-")), None)
    if verb in VERBS:
        return f"`wattlock {verb} --help` lists its options"
    return "`wattlock --help` lists the verbs, `wattlock VERB --help` a verb's options"


def answer(arguments: Sequence[str]) -> int:
    """Carry out one command line and give its exit code; every error is told in words.

    * `arguments`: without the program's name.
    """
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name="wattlock", standalone_mode=False)
        sys.stdout.flush()
    except WattlockError as error:
        say(error.message, error.hint)
        return error.exit_code
    except typer.TyperException as error:
        say(error.format_message().replace("Value error, ", "").rstrip("."), _hint_of_usage(arguments))
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except OSError as error:
        return _system_error(error)
    except Exception as error:  # noqa: BLE001 - the last frame: a bug is told in one line too
        return _bug(error)
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(answer(sys.argv[1:]))
