"""How long advice takes: a million candidates (choices x draws), and the usual interactive answer.

Prints seconds and the peak of resident memory; asserts nothing, as a busy machine is slower.
    python benchmarks/advise.py
"""

import resource
import time

from wattlock.advise import advise, checked, days
from wattlock.advise.rank import ranked
from wattlock.energy import battery_cards
from wattlock.energy.tasks import BatteryPlan

TRAFFIC = {"message": "64B", "every": "10s"}
MANY = {"framings": ["explicit", "counter", "dtls13", "dtls12", "wireguard"], "aggregate": [1, 2, 4, 8]}


def timed(what: str, since: float) -> float:
    """Prints how long something took, and gives the time from which the next is counted."""
    now = time.perf_counter()
    peak_MB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{what:58s} {now - since:7.3f} s   peak {peak_MB:5.0f} MB")
    return time.perf_counter()


def main() -> None:
    """Time the two answers."""
    requested = checked("benchmark", {"flow": [TRAFFIC], "device": {"card": "nrf52840"}, "choices": MANY})
    advise(requested)  # imports and the catalogue's libraries are warm from here on
    now = time.perf_counter()
    few = advise(requested)
    now = timed(f"advise, {len(few.choices)} choices x {few.monte_carlo.draws} draws", now)
    # As many choices as make a million candidates: loads are computed for each, none is copied.
    times = -(-1_000 // len(few.choices))
    sender, of = few.inputs.sender, few.inputs
    every = [choice for _ in range(times) for choice in few.choices][:1_000]
    spent = sender.evaluate(days.needed(requested, few.choices, sender), None)
    now = time.perf_counter()
    loads = [days.load(requested, choice, sender, of.draws, spent) for choice in every]
    battery = battery_cards.load("lipo-1000")
    laws = battery.card.laws()
    plan = BatteryPlan(
        battery, "linear", laws, "assumed", battery_cards.drawn(battery, "linear", laws, draws=1_000, seed=1)
    )
    life_s = days.seconds(loads, days.monte_carlo(requested, every, sender, of.draws, plan, stage=of.stage), plan)
    ranked(life_s)
    timed(f"{life_s.size:,} candidates: loads, draws, days, ranks", now)


if __name__ == "__main__":
    main()
