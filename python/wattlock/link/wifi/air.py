"""The probe as the teller of time: scenarios of the air in one process, their answers as they come."""

import re
from collections.abc import Sequence
from typing import Any

from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.link.payload import Group
from wattlock.link.scenario import OWN, Named
from wattlock.targets.toolbox import Toolbox

# What air's keys are called in a scenario.
PLACES = {key: f"signal.{key}" for key in ("distance_m", "walls_dB", "rssi_dBm")} | {"payload_B": "payload.payload_B"}
PLACES |= {"datagrams": "payload, in packets"}
UNKNOWN = re.compile("`([^`]+)`")
# A key with its value in a hint, as the probe's JSON has it.
IN_JSON = re.compile(r'"(\w+)": "?([\w.-]+)"?')
# Where the probe names a key alone.
OTHERWISE = {("rate_Mb_s", "mcs"): "--set mcs=7 in its place, and --set air.streams=2 for two streams"}
# What a transfer has no use for: it ends when all is sent.
BY_TIME = ', or a "duration_s"'
Question = dict[str, Any]
Answer = dict[str, Any]


def question(named: Named, group: Group, signal: dict[str, float], number: int) -> Question:
    """One line for the air: a group of equal packets at one position.

    * `signal`: what takes the place of the scenario's signal. `number`: of the group, so that each draws for itself.
    """
    requested = named.scenario
    whole = {
        "phy": requested.phy,
        "topology": requested.topology,
        "band": requested.band,
        "rate_Mb_s": requested.rate_Mb_s,
        "mcs": requested.mcs,
        "preamble": requested.preamble,
        "basic_rates_Mb_s": requested.basic_rates_Mb_s,
        "protection": requested.protection,
        "transport": requested.transport,
        "engine": requested.engine,
        "seed": requested.seed + number,
        "payload_B": group.wire_B,
        "datagrams": group.packets,
        **requested.air,
        **signal,
    }
    return {key: value for key, value in whole.items() if value is not None}


def evaluate(net: Toolbox, questions: Sequence[tuple[Named, Question]]) -> list[Answer]:
    """The answers, in the order of the questions, from one process.

    Raises InputError naming scenario and key of the first that can't be, ProbeError where the toolbox fails.
    """
    found = []
    for one in answers(net, questions):
        if isinstance(one, InputError):
            raise one
        found.append(one)
    return found


def answers(net: Toolbox, questions: Sequence[tuple[Named, Question]]) -> list[Answer | InputError]:
    """As `evaluate`, but that a question which can't be has its refusal among the answers."""
    came = net.answers("air", [question for _, question in questions])
    return [
        refusal(named, requested, answer) if answer["kind"] == "failure" else answer
        for (named, requested), answer in zip(questions, came, strict=True)
    ]


def refusal(named: Named, requested: Question, failure: Answer) -> InputError:
    """The probe's failure to answer, in the words of a scenario of `wattlock link`."""
    key = failure["key"]
    if "unknown field" in failure["message"]:
        known = [one for one in UNKNOWN.findall(failure["message"])[1:] if one not in OWN]
        return InputError(f"link {named.label}: air.{key}: unknown key", hint=suggestion(key, known, "there are"))
    place = f"air.{key}" if key in named.scenario.air else PLACES.get(key, key)
    hint = IN_JSON.sub(_as_option, (failure["hint"] or "").replace(BY_TIME, ""))
    if key == "payload_B" and named.scenario.payload.encrypt == "packet":
        hint = f"{hint} with what cipher and encoding add: less plaintext a packet"
    given = requested.get(key)
    words = f"{given:g}" if isinstance(given, float) else str(given)
    value = f" (is {words})" if given is not None and words not in failure["message"] else ""
    hint = OTHERWISE.get((key, hint), hint)
    return InputError(f"link {named.label}: {place}: {failure['message']}{value}", hint=hint)


def _as_option(found: re.Match[str]) -> str:
    """A key of the air with its value as `wattlock link` is told it."""
    key, value = found.groups()
    if key in {"engine", "transport", "topology", "protection", "phy"}:
        return f"--{key} {value}"
    return f"--set {PLACES.get(key, key if key in OWN else f'air.{key}')}={value}"
