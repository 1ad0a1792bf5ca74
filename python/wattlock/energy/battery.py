"""How a battery discharges: four models, in SI units but where a name says otherwise, on arrays of any shapes that fit.

A load is constant. A duty cycle enters by its mean, which holds where the cycle is short against the battery's own
times (minutes): slow pulses recover more than the mean says by KiBaM, and cost more than it says by Peukert.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# The curve is smooth up to the cut-off: 16 points give its energy to 1e-6, 12 steps the cut-off to rounding.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
STEPS = 12
HOUR_s = 3600.0
SMALL_W, W_STEPS = 40.0, 4


def linear_s(capacity_C: Any, current_A: Any) -> Array:
    """Seconds until empty where each coulomb that was put in comes out: t = Q / I."""
    return np.asarray(capacity_C / current_A, dtype=np.float64)


def peukert_s(capacity_C: Any, current_A: Any, rated_A: Any, exponent: Any) -> Array:
    """Seconds until empty by t = Q / I * (I_rated / I)^(exponent - 1).

    Below the rated current the law would give more charge than the capacity; there it gives the capacity.

    Source: W. Peukert, Elektrotechnische Zeitschrift 20, 1897; in this form D. Doerffel and S. Abu Sharkh, Journal of
    Power Sources 155, 2006.
    """
    share = np.minimum(1.0, (rated_A / current_A) ** (np.asarray(exponent) - 1.0))
    return np.asarray(linear_s(capacity_C, current_A) * share)


def kibam_s(capacity_C: Any, current_A: Any, available_share: Any, exchange_per_s: Any) -> Array:
    """Seconds until the available well is empty.

    * `available_share`: c, the share of the charge that stands in the well which feeds the load.
    * `exchange_per_s`: k' = k / (c (1 - c)), the rate at which the wells even out.

    The well is empty where Q - I t = (1 - c) / c * I / k' * (1 - exp(-k' t)), which Lambert's W solves.

    Source: J. F. Manwell and J. G. McGowan, Solar Energy 50, 1993; in this form M. R. Jongerden and B. R. Haverkort,
    IET Software 3(6), 2009.
    """
    span = (1.0 - available_share) / (available_share * exchange_per_s)
    ahead = capacity_C / current_A - span
    with np.errstate(divide="ignore"):  # one well alone spans nothing
        log_argument = np.log(span * exchange_per_s) - exchange_per_s * ahead
    rest = lambert_w_of_exp(log_argument)
    return np.asarray(ahead + rest / exchange_per_s, dtype=np.float64)


def lambert_w_of_exp(y: Any) -> Array:
    """The w > 0 of w exp(w) = exp(y): Lambert's W by the logarithm of its argument, which then can't overflow.

    Source: the step of R. Iacono and J. P. Boyd, New approximations to the principal real-valued branch of the Lambert
    W-function, Advances in Computational Mathematics 43, 2017; the start of S. Winitzki, Uniform approximations for
    transcendental functions, ICCSA 2003.
    """
    y = np.asarray(y, dtype=np.float64)
    held = np.maximum(y, -SMALL_W)
    grown = np.logaddexp(0.0, held)
    w = grown * (1.0 - np.log1p(grown) / (2.0 + grown))
    for _ in range(W_STEPS):
        w = w / (1.0 + w) * (1.0 + held - np.log(w))
    # So small a w is its own argument, to rounding.
    return np.asarray(np.where(y < -SMALL_W, np.exp(np.minimum(y, -SMALL_W)), w))


class Tremblay(NamedTuple):
    """Terminal voltage over charge drawn: V = E0 - R i - K Q / (Q - q) (q + i*) + A exp(-B q).

    Charge is in ampere-hours here, as K stands for volts an ampere-hour and for ohms; i* is the settled current.

    Source: O. Tremblay and L.-A. Dessaint, World Electric Vehicle Journal 3, 2009, equations 2 and 4 to 6, after
    C. M. Shepherd, J. Electrochem. Soc. 112, 1965; K from the nominal point at the typical current, as in ns-3's
    generic battery model.
    """

    constant_V: Any
    polarisation: Any
    amplitude_V: Any
    decay_per_Ah: Any
    resistance_ohm: Any
    capacity_Ah: Any

    @classmethod
    def from_points(
        cls,
        *,
        capacity_Ah: Any,
        resistance_ohm: Any,
        typical_A: Any,
        full_V: Any,
        exponential: tuple[Any, Any],
        nominal: tuple[Any, Any],
    ) -> Self:
        """The curve through three points at `typical_A`.

        * `exponential`, `nominal`: ends of the two zones as (ampere-hours drawn, volts).

        The full point is met before the current settles and the nominal one after; at the exponential one the curve
        lies off by what is left of its exponential (5 % of its amplitude) and by the polarisation.
        """
        exponential_Ah, exponential_V = exponential
        nominal_Ah, nominal_V = nominal
        amplitude = full_V - exponential_V
        decay = 3.0 / exponential_Ah
        constant = full_V + resistance_ohm * typical_A - amplitude
        discharge = constant - nominal_V - resistance_ohm * typical_A + amplitude * np.exp(-decay * nominal_Ah)
        polarisation = discharge * (capacity_Ah - nominal_Ah) / (capacity_Ah * (nominal_Ah + typical_A))
        return cls(constant, polarisation, amplitude, decay, resistance_ohm, capacity_Ah)

    def voltage_V(self, drawn_Ah: Any, current_A: Any, settled_A: Any | None = None) -> Array:
        """The terminal voltage; `settled_A` is the current as the battery has followed it, without one the same."""
        settled = current_A if settled_A is None else settled_A
        steep = self.polarisation * self.capacity_Ah / (self.capacity_Ah - drawn_Ah)
        exponential = self.amplitude_V * np.exp(-self.decay_per_Ah * drawn_Ah)
        return np.asarray(
            self.constant_V - self.resistance_ohm * current_A - steep * (drawn_Ah + settled) + exponential
        )

    def under_power_V(self, drawn_Ah: Any, power_W: Any) -> Array:
        """The terminal voltage under a load of constant power; the least possible one where it can't be carried."""
        open_V = self.voltage_V(drawn_Ah, 0.0)
        ohm = self.resistance_ohm + self.polarisation * self.capacity_Ah / (self.capacity_Ah - drawn_Ah)
        return np.asarray((open_V + np.sqrt(np.maximum(open_V**2 - 4.0 * ohm * power_W, 0.0))) / 2.0)

    def until_Ah(self, current_A: Any, cut_off_V: Any) -> Array:
        """Ampere-hours drawn when the voltage reaches the cut-off at this current; 0 where it starts below.

        Voltage above the cut-off times (Q - q) is convex and falls to its root, so that Newton's steps from the full
        battery rise to it and never pass it.
        """
        drawn = np.zeros(np.broadcast_shapes(*(np.shape(one) for one in (*self, current_A, cut_off_V))))
        room = self.constant_V - self.resistance_ohm * current_A - cut_off_V
        slope = self.polarisation * self.capacity_Ah
        carries = (room + self.amplitude_V) * self.capacity_Ah > slope * current_A
        for _ in range(STEPS):
            exponential = self.amplitude_V * np.exp(-self.decay_per_Ah * drawn)
            left = self.capacity_Ah - drawn
            above = (room + exponential) * left - slope * (drawn + current_A)
            discharges = room + exponential + slope + self.decay_per_Ah * exponential * left
            drawn = np.where(carries, drawn + above / discharges, 0.0)
        return drawn

    def seconds(self, power_W: Any, cut_off_V: Any) -> Array:
        """Seconds until the cut-off under a load of constant power: the energy given by then over the power."""
        end = self.until_Ah(power_W / cut_off_V, cut_off_V)
        mean_V = np.zeros_like(end)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            mean_V += weight / 2.0 * self.under_power_V(end * ((node + 1.0) / 2.0), power_W)
        return np.asarray(end * mean_V * HOUR_s / power_W)


def with_self_discharge(seconds: Any, per_s: Any) -> Array:
    """Seconds until empty where a share of what is left goes by itself too: dq/dt = -I - s q gives ln(1 + s t) / s."""
    rate = np.asarray(per_s)
    return np.asarray(np.where(rate > 0, np.log1p(rate * seconds) / np.where(rate > 0, rate, 1.0), seconds))
