"""Days of battery: against a device that is simulated step by step, and whether their intervals hold the truth."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from support.advice import BASE, TODAY
from support.simulated_days import Scene, mean_W
from support.simulated_days import seconds as simulated
from wattlock.advise import advise, checked, cipher_costs, days, load, published, question
from wattlock.advise.choices import Choice, framings
from wattlock.advise.days import DAY_s, Draws, MonteCarlo
from wattlock.advise.question import Question
from wattlock.advise.sending import Sender
from wattlock.energy import battery_cards, device_cards, radio_cards
from wattlock.energy.battery_cards import Battery, BatteryCard, Samples
from wattlock.energy.device_cards import Number
from wattlock.energy.tasks import BatteryPlan
from wattlock.security import status_of

DEVICE = device_cards.load("nrf52840")
ROWS: dict[str, Any] = {
    "aes128-ccm": {"id": "aes128-ccm", "mode": "aead", "key_bits": 128, "block_bits": 128, "iv_B": 13, "tag_bits": 128},
    "aes128-gcm": {"id": "aes128-gcm", "mode": "aead", "key_bits": 128, "block_bits": 128, "iv_B": 12, "tag_bits": 128},
    "ascon-aead128": {
        "id": "ascon-aead128",
        "mode": "aead",
        "key_bits": 128,
        "block_bits": 64,
        "iv_B": 16,
        "tag_bits": 128,
    },
}
PRICED = published.published_costs(
    DEVICE, [cipher_costs.CostedMessage(64, 1.0)], allow_assumed=False, accelerator=False
)
# The simulation reads the lines that others printed; what the law of counts takes has tests of its own.
PUBLISHED = {
    cost.cipher: cost
    for cost in reversed([*PRICED.taken, *PRICED.slower])
    if cost.cipher in ROWS and cost.origin and cost.origin.kind == "published"
}
RADIOS = ["nrf52840-802154", "nrf52840-ble"]


def small_case(capacity_mAh: float) -> Battery:
    """A case so small that a simulation ends soon, with a CR2032's numbers else."""
    card = battery_cards.load("cr2032").card
    capacity = card.capacity.model_copy(update={"value": capacity_mAh})
    return Battery("small", BatteryCard.model_validate(card.model_copy(update={"capacity": capacity}).model_dump()))


def choice_of(cipher: str, framing: str, aggregate: int) -> Choice:
    row = ROWS[cipher]
    return Choice(row, status_of(row), PUBLISHED[cipher], 128, framing, "raw", aggregate, "ccm", resumed=False)


def certain(plan: BatteryPlan, names: set[str]) -> MonteCarlo:
    """One draw in which every number is its card's."""
    return MonteCarlo({name: np.ones(1) for name in names}, plan.batteries)


def planned(battery: Battery, *, draws: int, seed: int, exactly: bool = False) -> BatteryPlan:
    laws = battery.card.laws()
    batteries = battery_cards.drawn(battery, "linear", laws, draws=draws, seed=seed)
    if exactly:
        numbers = {key: np.array([number.in_SI]) for key, number in battery.card.numbers("linear", laws).items()}
        batteries = battery_cards.BatterySamples(numbers, np.ones(1), numbers["self_discharge"])
    return BatteryPlan(battery, "linear", laws, "modelled", batteries)


def loaded(question: Question, choice: Choice, radio: str, device: Draws) -> days.Load:
    sender = Sender(radio_cards.load(radio), question.radio)
    choice = choice._replace(protection=sender.protections[0])
    return days.load(question, choice, sender, device, sender.evaluate(days.needed(question, [choice], sender), None))


def scene(seed: int) -> tuple[Scene, Question, Choice]:
    """A random device, as a scene to be simulated and as a question."""
    draw = random.Random(seed)
    radio = draw.choice(RADIOS)
    ble = radio == "nrf52840-ble"
    cipher, framing = draw.choice(sorted(ROWS)), draw.choice(["full-nonce", "implicit-nonce", "dtls13"])
    if not framings()[framing].carries(cipher):
        framing = "full-nonce"
    message_B, every_s, aggregate = draw.randrange(8, 50), draw.uniform(8, 300), draw.choice([1, 1, 2, 4])
    sleep_uW, wake_ms = draw.uniform(1, 300), draw.uniform(0.2, 20)
    poll_s = None if ble else draw.choice([None, draw.uniform(20, 400)])
    # A connection's interval goes in steps of 1.25 ms.
    interval_s, left_out, ppm = draw.randrange(16, 1200) * 0.00125, draw.randrange(9), draw.uniform(0, 200)
    shake = draw.choice([None, (draw.randrange(40, 400), draw.randrange(40, 400), draw.uniform(0.001, 0.3))])
    shake_h = draw.uniform(2, 30)
    tables: dict[str, Any] = {
        "flow": [{"message": f"{message_B}B", "every": f"{every_s:.6f}s"}],
        "wake_up": {"time": f"{wake_ms * 1000:.3f}us"},
        "choices": {"aggregate": [aggregate]},
    }
    if ble:
        tables["connection"] = {"interval": f"{interval_s:.6f}s", "latency": left_out, "clock_ppm": ppm}
    if poll_s:
        tables["keep_alive"] = {"every": f"{poll_s:.6f}s"}
    if shake:
        sent_B, received_B, time_s = shake
        tables["session"] = {
            "every": f"{shake_h:.6f}h",
            "sent": f"{sent_B}B",
            "received": f"{received_B}B",
            "computing": f"{time_s * 1e6:.3f}us",
        }
    overhead_B = {"full-nonce": ROWS[cipher]["iv_B"], "implicit-nonce": 1, "dtls13": 4}[framing] + 16
    printed = next(
        one
        for one in cipher_costs.load("thumbv7em").cost
        if one.source == PUBLISHED[cipher].source and cipher in one.ciphers
    )
    line = [(0.0, printed.fixed or 0.0), (1000.0, (printed.fixed or 0.0) + 1000 * (printed.rate or 0.0))]
    described = Scene(
        DEVICE.card,
        radio_cards.load(radio).card,
        ble,
        battery_cards.load("cr2032").card,
        sleep_uW * 1e-6,
        message_B,
        every_s,
        aggregate,
        overhead_B,
        1 if framing == "dtls13" else 0,
        [(octets, cycles) for octets, cycles in printed.figures or line],
        wake_ms * 1e-3,
        poll_s,
        round(interval_s, 6) * (1 + left_out) if ble else None,
        ppm if ble else 0.0,
        shake,
        shake_h * 3600,
    )
    return described, checked("random", tables), choice_of(cipher, framing, aggregate)


def name_of(described: Scene) -> str:
    return RADIOS[described.ble]


@pytest.mark.parametrize("seed", range(50))
def test_days_agree_with_a_simulation_of_every_message_and_state_within_a_thousandth(seed: int) -> None:
    described, question, choice = scene(seed)
    clock = DEVICE.card.frequency
    assert clock
    device = Draws([], DEVICE.card.rate.joules * clock.in_SI, described.sleep_W, 0.0)
    load = loaded(question, choice, name_of(described), device)
    # A case that lasts for some weeks: long against an hour, and soon simulated.
    hours = random.Random(seed).uniform(150, 500)
    battery = small_case(1e3 * load.total_W * hours / 2.9)
    described = described._replace(battery=battery.card)
    plan = planned(battery, draws=1, seed=1, exactly=True)
    names = {name for _, factors in load.terms_W for name in factors}
    life_s = float(days.seconds([load], certain(plan, names), plan)[0, 0])
    assert life_s == pytest.approx(simulated(described), rel=0.001)


@pytest.mark.parametrize("name", [*question.names(), ""])
def test_days_of_two_seeds_differ_by_less_than_half_a_percent(name: str) -> None:
    question = load(name) if name else checked("usual", BASE)
    few = question.choices.model_copy(update={"ciphers": ["ascon-aead128", "aes128-ccm"]})
    question = question.model_copy(update={"choices": few})
    assert question.draws == Question.model_fields["draws"].default
    found = [
        advise(question.model_copy(update={"seed": seed}), allow_assumed=True, today=TODAY).best.seconds
        for seed in range(1, 9)
    ]
    assert max(found) / min(found) < 1.005


@pytest.mark.parametrize("many", [1_000, 4_096])
def test_samples_of_each_number_fill_its_law_evenly_and_pairs_are_even_too(many: int) -> None:
    samples = Samples(3, many)
    pairs = [samples.uniform(0.0, 1.0) for _ in range(20)]
    for one in pairs:
        assert np.allclose(np.sort(one), (np.arange(many) + 0.5) / many)
    worst = max(abs(np.corrcoef(one, two)[0, 1]) for one, two in itertools.combinations(pairs, 2))
    # Where they fall by chance the worst of 190 pairs is at some 2.9 of these.
    assert worst < 2 / math.sqrt(many)
    normal = Samples(3, many).normal(2.0, 0.5)
    assert normal.mean() == pytest.approx(2.0, abs=1e-9)
    assert normal.std() == pytest.approx(0.5, rel=0.01)
    late = Samples(3, many, first=100).uniform(0.0, 1.0)
    assert np.allclose(np.sort(late), (np.arange(many) + 0.5) / many)


def drawn_truth(number: Number, draw: np.random.Generator) -> float:
    """One device's own number, by the law of the card."""
    width = math.log1p(number.relative_uncertainty)
    off = draw.uniform(-width, width) if number.distribution == "uniform" else draw.normal(0, width)
    return float(np.exp(off))


def true_days(
    described: Scene, sleep_width: float, cost: cipher_costs.CipherCost, *, battery: Battery, seed: int
) -> float:
    """The days of one device whose numbers are drawn from the cards, by the simulation's own watts."""
    draw = np.random.default_rng([seed, 77])
    off = {"sleep": float(np.exp(draw.uniform(-sleep_width, sleep_width)))}
    off["device"] = math.prod(drawn_truth(number, draw) ** power for _, number, power in DEVICE.card.factors())
    for key, number in described.radio.numbers().items():
        off[f"radio {key}"] = drawn_truth(number, draw)
    assert cost.uniform is not None
    off["cipher"] = float(np.exp(draw.uniform(*cost.uniform)))
    power_W = mean_W(described, off.__getitem__)
    card = battery.card
    numbers = {
        key: number.in_SI * drawn_truth(number, draw) for key, number in card.numbers("linear", card.laws()).items()
    }
    cold_K = max(25.0 - draw.normal(20.0, 5.0), 0.0)
    charge_C = numbers["capacity"] * max(1 - numbers["capacity_per_kelvin"] * cold_K, 0.05)
    alone_s = charge_C * numbers["voltage"] / power_W
    return math.log1p(numbers["self_discharge"] * alone_s) / numbers["self_discharge"] / DAY_s


def test_95_percent_intervals_cover_93_percent_of_2000_randomised_devices_and_are_not_too_wide() -> None:
    covered, widths = 0, []
    for seed in range(2_000):
        described, question, choice = scene(seed)
        factors = [(number, exponent) for _, number, exponent in DEVICE.card.factors()]
        sleep_width = 0.2 + 0.02 * (seed % 50)
        clock = DEVICE.card.frequency
        assert clock
        device = Draws(factors, DEVICE.card.rate.joules * clock.in_SI, described.sleep_W, sleep_width)
        load = loaded(question, choice, name_of(described), device)
        battery = small_case(20.0)
        ends = []
        for draws, own_seed in ((1_000, seed), (4_000, seed + 10_000)):
            plan = planned(battery, draws=draws, seed=own_seed)
            sender = Sender(radio_cards.load(name_of(described)), question.radio)
            own = question.model_copy(update={"seed": own_seed})
            by = days.monte_carlo(own, [choice], sender, device, plan)
            ends.append(np.quantile(days.seconds([load], by, plan)[0], (0.025, 0.975)) / DAY_s)
        (low, high), (exact_low, exact_high) = ends
        truth = true_days(described, sleep_width, choice.cost, battery=battery, seed=seed)
        covered += bool(low <= truth <= high)
        widths.append((high - low) / (exact_high - exact_low))
    assert covered >= 0.93 * 2_000
    assert max(widths) <= 1.3
