"""How long 10,000 draws of a battery's life take for each of 100 candidates, by model: `make bench-battery`."""

import time

import numpy as np

from wattlock.energy import battery_cards

CANDIDATES, DRAWS = 100, 10_000


def main() -> None:
    """Print one line a model: drawing the batteries, their lives, and the quantiles."""
    case = battery_cards.load("cgr18650da")
    loads = np.random.default_rng(1)
    power_W = np.geomspace(1e-3, 5, CANDIDATES)[:, None] * np.exp(loads.normal(0, 0.1, DRAWS))
    for model in case.card.models():
        start = time.perf_counter()
        drawn = battery_cards.drawn(case, model, case.card.laws(), draws=DRAWS, seed=1)
        life_s = battery_cards.seconds(case, model, drawn, power_W)
        low, high = np.quantile(life_s[0], [0.025, 0.975]) / 86_400
        np.quantile(life_s, [0.5, 0.025, 0.975], axis=1)
        took_s = time.perf_counter() - start
        print(f"{model:<9} {CANDIDATES} x {DRAWS} draws in {took_s:.2f} s; 1 mW lasts {low:.0f} to {high:.0f} days")


if __name__ == "__main__":
    main()
