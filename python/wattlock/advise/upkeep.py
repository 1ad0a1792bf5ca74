"""What keeps a link up: as asked, else what such links usually take, assumed aloud; what can't be kept is refused."""

from wattlock.advise.quantity import spoken
from wattlock.advise.question import Association, Connection, KeepAlive, Question
from wattlock.advise.sending import Sender
from wattlock.errors import InputError

# After so long without a word a parent takes a sleeping child for lost (OpenThread, MLE_CHILD_TIMEOUT_DEFAULT).
CHILD_TIMEOUT_s = 240.0
# A station that sleeps listens to one beacon in three, each 102.4 ms, for so long: taken, as stations differ.
BEACONS = Association.model_construct(every=0.3072, time=0.003)
# How long a radio works to be back in its network, by technology: what is usual, to be offered.
REJOINING = {
    "802.11": "0.2s where channel, key and address are kept (T. von Eicken, ESP32 deep sleep, 2018), "
    "3s with scan and DHCP",
    "ble": "some 30ms of advertising and connection events where the other side listens all the time",
}


def settled(question: Question, sender: Sender, assumed: list[str]) -> Question:
    """The question with what keeps its link: what nobody gave is told in `assumed`.

    Raises InputError where a link can't be as it is asked for, with the key to set.
    """
    if sender.technology == "ble":
        return _ble(question, sender, assumed)
    if question.connection:
        raise InputError(
            f"connection: is of Bluetooth LE, the radio is for {sender.technology}", hint="keep_alive keeps other links"
        )
    if sender.technology == "802.11":
        return _wifi(question, sender, assumed)
    if sender.technology == "802.15.4":
        return _ieee802154(question, sender, assumed)
    if sender.radio.card.sleep is None:
        assumed.append(
            f"the radio idles until its receive windows: {sender.radio.name} has no power asleep (radio.sleep gives it)"
        )
    if sender.rest == "off":
        assumed.append("switched on again the radio knows its network: the device has kept session and settings")
    return question


def _ble(question: Question, sender: Sender, assumed: list[str]) -> Question:
    if sender.advertising:
        if question.connection:
            hint = "leave one of them out"
            raise InputError("connection: an advertisement has none, and radio.link.advertising is true", hint=hint)
        if "framings" in question.choices.model_fields_set:
            return question
        alone = ["full-nonce", "broadcast"]
        assumed.append(
            f"framings are {' and '.join(alone)}: nobody answers an advertisement, so that each must open by itself "
            "(choices.framings)"
        )
        return question.model_copy(update={"choices": question.choices.model_copy(update={"framings": alone})})
    if question.keep_alive and not question.keep_alive.message:
        hint = (
            "connection.interval and connection.latency say how often; keep_alive.message is for messages of your own"
        )
        raise InputError("keep_alive: a connection of Bluetooth LE is kept by its events", hint=hint)
    kept = question.connection
    if kept is None:
        kept = Connection()
        assumed.append(
            f"the connection has an event each {spoken(kept.every_s)} at least (interval {spoken(kept.interval)}, "
            f"{kept.left_out} of them left out, the most that Apple's rules for accessories allow): nobody gave it "
            "(connection.interval, connection.latency; connection.kept = false makes it anew for each message)"
        )
    if not kept.kept:
        _must_rejoin(question, sender, "connection.kept: a connection that is dropped must be made anew")
    return question.model_copy(update={"connection": kept})


def _wifi(question: Question, sender: Sender, assumed: list[str]) -> Question:
    if sender.rest == "off":
        _must_rejoin(question, sender, "radio.rest: a station that was off must join its network again")
    if sender.rest == "sleep" and question.association is None:
        assumed.append(
            f"asleep the radio wakes each {spoken(BEACONS.every)} and listens {spoken(BEACONS.time)} for a beacon: "
            "nobody gave it (association.every, association.time)"
        )
        return question.model_copy(update={"association": BEACONS})
    return question


def _ieee802154(question: Question, sender: Sender, assumed: list[str]) -> Question:
    silent_s = min((flow.every for flow in question.flow if flow.direction == "send"), default=CHILD_TIMEOUT_s + 1)
    if sender.rest == "idle" or question.keep_alive or silent_s <= CHILD_TIMEOUT_s:
        return question
    assumed.append(
        f"the radio asks its parent each {spoken(CHILD_TIMEOUT_s)} whether there is something for it, as a child "
        "that is silent for longer counts as lost (OpenThread's default): nobody gave it (keep_alive.every)"
    )
    return question.model_copy(update={"keep_alive": KeepAlive.model_construct(every=CHILD_TIMEOUT_s, message=0)})


def _must_rejoin(question: Question, sender: Sender, what: str) -> None:
    every_s = min(flow.every for flow in question.flow)
    usual = REJOINING[sender.technology]
    if question.association is None:
        raise InputError(
            f"{what}, and association says not what that takes",
            hint=f"association.every = {_written(every_s)} (each message) and association.time, usually {usual}",
        )
    if question.association.every > every_s:
        raise InputError(
            f"{what}: association.every is {spoken(question.association.every)}, messages go each {spoken(every_s)}",
            hint=f"association.every = {_written(every_s)}",
        )


def _written(seconds: float) -> str:
    """A duration as an option takes it."""
    return f"{seconds:.6g}s" if seconds >= 1 else f"{seconds * 1e3:.6g}ms"
