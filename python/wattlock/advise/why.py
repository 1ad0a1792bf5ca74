"""Why the answer is not another: what a longer or shorter tag would change, and where a cipher that is named stands."""

from collections.abc import Iterator
from itertools import groupby

from wattlock.advise import amortised, decision, exclude, prose
from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.gain import gain
from wattlock.advise.quantity import LEAST, percent
from wattlock.advise.rank import Place
from wattlock.security import status_of
from wattlock.study.cases import CatalogueRow
from wattlock.targets import Target, probe


def tag(of: Advice) -> str:
    """Which tags are allowed, what that of the decision means, and what the other end of the range would change.

    Empty where the decision has no tag.
    """
    place = decision.decided(of)
    choice = of.choices[place.number]
    bits, floor = choice.tag_bits, of.question.floor.tag
    if not bits:
        return ""
    if choice.frame.amortised_bits is not None:
        return f"Tag: {amortised.described(of.question, choice)}."
    forged = f"with {bits} a forgery passes once in 2^{bits} tries"
    said = f"Tag: {floor} bits or more are allowed (--set floor.tag=N); {forged}"
    other = _other_tag(of, place)
    if other is None:
        return f"{said}."
    than = of.choices[other.number]
    octets_B = than.sealed(1).wire_B - choice.sealed(1).wire_B
    changed = abs(gain(of.life_s[place.number], of.life_s[other.number]).percent) / 100
    days = percent(changed) if changed >= LEAST else "less than 0.1 %"
    costs = f"costs {octets_B} B" if octets_B > 0 else f"saves {-octets_B} B"
    return f"{said}; one of {than.tag_bits} {costs} a packet and {days} of the days."


def _other_tag(of: Advice, place: Place) -> Place | None:
    """The same choice with the longest tag, else the shortest; a mode that names its tag's length is the same mode."""
    chosen = of.choices[place.number]

    def like(choice: Choice) -> bool:
        return choice._replace(
            row=chosen.row, security=chosen.security, cost=chosen.cost, tag_bits=chosen.tag_bits
        ) == chosen and _family(choice) == _family(chosen)

    found = [one for one in of.places if like(of.choices[one.number])]
    longest = max(found, key=lambda one: of.choices[one.number].tag_bits)
    shortest = min(found, key=lambda one: of.choices[one.number].tag_bits)
    other = longest if of.choices[longest.number].tag_bits > chosen.tag_bits else shortest
    return None if of.choices[other.number].tag_bits == chosen.tag_bits else other


def _family(choice: Choice) -> str:
    """The cipher and its mode: CCM with a tag of 8 octets is CCM."""
    return choice.cipher.removesuffix("8") if choice.cipher.endswith("-ccm8") else choice.cipher


def why(of: Advice, cipher: str, target: Target) -> list[str]:
    """Where a cipher stands: its best choice beside what is decided, what excludes it, or what is missing.

    Raises InputError for an id that there is not.
    """
    name = _id(of, cipher)
    sentences = [*_passes(of, name), *_excluded(of, name), *_unpriced(of, name)]
    if not sentences and any(cost.cipher == name for cost in of.inputs.costs):
        sentences = [f"{name} is left out by the question's choices.ciphers or choices.providers."]
    if not sentences:
        sentences = _without_figure(of, name, probe.first_rows(target, [name])[name])
    past = [one for one in of.history if one.cipher == name]
    return [*sentences, *prose.history(past)]


def _without_figure(of: Advice, name: str, row: CatalogueRow) -> list[str]:
    """A cipher that no cost is known of: whether its security would do, and how to bring a cost."""
    security = status_of(row)
    status = next(one for one in security.statements if one.about == "status")
    if security.status not in exclude.SOUND:
        return [
            f"{name} would be excluded whatever it costs: it is {security.status}: {status.says} ({status.source})."
        ]
    if of.question.floor.authenticated and not security.authenticated:
        return [
            f"{name} would be excluded whatever it costs: a changed message is not noticed, and authentication is "
            "asked for (--unauthenticated lifts that)."
        ]
    isa = of.inputs.device.card.isa if of.inputs.device else "CORE"
    return [
        f"{name}: no figure of what it costs on {of.inputs.name} is known. Count it and name it with --costs FILE "
        f"(`wattlock advise --costs-template {isa}` prints a file to fill), or measure it with a run and name that "
        "with --run."
    ]


def _id(of: Advice, cipher: str) -> str:
    """The id that is meant, however it is spelt: AES-128-GCM is aes128-gcm."""
    priced = of.inputs.priced
    known = [cost.cipher for cost in of.inputs.costs]
    known += [cost.cipher for cost in (*priced.taken, *priced.unranked)]
    known += [one.cipher for one in of.history]
    spelt = {_plain(one): one for one in known}
    return spelt.get(_plain(cipher), cipher)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _passes(of: Advice, name: str) -> Iterator[str]:
    places = [one for one in of.places if of.choices[one.number].cipher == name]
    if not places:
        return
    best, chosen = places[0], decision.decided(of)
    choice = of.choices[best.number]
    if of.choices[chosen.number].cipher == name:
        yield f"{name} is what the answer says to use."
        return
    ways = "its only choice" if len(places) == 1 else f"the best of its {len(places)} choices"
    tied = best.group == of.best.group
    yield (
        f"{name} passes: {ways} is {choice.beside_tag} with a tag of {choice.tag_bits} bits (by {choice.provider}), "
        f"{prose.lasts(best)}, rank {best.group}."
    )
    differ = _difference(of, best, chosen)
    if tied:
        yield (
            "By days it can't be told from what is decided, which stands before it by strength of the key, then length "
            f"of the tag, then approval: {_strong(of.choices[chosen.number])} beside {_strong(choice)}. {differ}"
        )
    else:
        behind = gain(of.life_s[best.number], of.life_s[chosen.number])
        yield f"What is decided lasts {percent(behind.percent / 100)} longer. {differ}"


def _strong(choice: Choice) -> str:
    return f"{choice.security.strength_bits:g} bits, tag {choice.tag_bits}, {choice.security.status}"


def _difference(of: Advice, best: Place, chosen: Place) -> str:
    one, other = of.loads[best.number], of.loads[chosen.number]
    each = sum(rate for flow in of.question.flow for _, rate in flow.rates)
    joules = [decision.joules(load.group_W("cipher") / each) for load in (one, other)]
    return (
        f"A message takes {one.octets_B:,.0f} B on the air (decided: {other.octets_B:,.0f}) and its cipher {joules[0]} "
        f"(decided: {joules[1]})."
    )


def _excluded(of: Advice, name: str) -> Iterator[str]:
    rows = [row for row in of.excluded_frame.to_dicts() if row["cipher"] == name]
    passing = any(choice.cipher == name for choice in of.choices)
    for rule, of_rule in groupby(rows, key=lambda row: row["rule"]):
        for row in of_rule:
            which = f"{row['choices']} of its choices" if passing else name
            are = "is" if which == name or row["choices"] == 1 else "are"
            yield f"{which} {are} excluded by {rule}: {row['because']} ({row['source']})."


def _unpriced(of: Advice, name: str) -> Iterator[str]:
    if any(choice.cipher == name for choice in of.choices):
        return
    for cost in of.inputs.priced.unranked:
        if cost.cipher == name:
            yield (
                f"{name} by {cost.provider} is not ranked, as its cost is assumed ({cost.doubt}): --allow-assumed "
                "ranks it as it is, --costs FILE brings your own figure."
            )
