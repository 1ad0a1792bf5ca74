//! Signal and errors: decibels in, the share of lost frames out. `f64` here, and in `bianchi`, only.
//!
//! All is additive white Gaussian noise: cliffs of a few decibels, where real rooms have slopes.

use libm::{erf, erfc, exp, log10, pow, sqrt};

use crate::phy::{Channel, Modulation, Rate};

/// Log-distance path loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathLoss {
    /// Loss at one metre, dB: 40.046 in 2.4 GHz, 46.677 in 5 GHz (free space at 2.4 and 5.15 GHz).
    pub first_metre_dB: f64,
    /// Exponent: 2 in free space, 3 in buildings.
    pub exponent: f64,
}

impl PathLoss {
    /// Loss over `distance_m` and walls, dB. Nearer than a metre counts as a metre.
    #[must_use]
    pub fn loss_dB(&self, distance_m: f64, walls_dB: f64) -> f64 {
        self.first_metre_dB + 10.0 * self.exponent * log10(distance_m.max(1.0)) + walls_dB
    }
}

/// Thermal noise of a receiver at 290 K, dBm.
///
/// * `figure_dB`: its noise figure.
#[must_use]
pub fn noise_dBm(width_MHz: f64, figure_dB: f64) -> f64 {
    const BOLTZMANN_J_K: f64 = 1.380_649e-23;
    10.0 * log10(BOLTZMANN_J_K * 290.0 * width_MHz * 1e6 * 1e3) + figure_dB
}

/// The ratio of a number of decibels.
#[must_use]
pub fn ratio(dB: f64) -> f64 {
    pow(10.0, dB / 10.0)
}

/// Share of PPDUs that are lost at `snr` (a ratio, not decibels).
///
/// * `psdu_B`: octets of the PSDU; the PLCP or PHY header counts too, at its own rate.
#[must_use]
pub fn ppdu_error_rate(rate: Rate, psdu_B: u32, channel: &Channel, snr: f64) -> f64 {
    1.0 - header_success(rate, snr) * mpdu_success(rate, psdu_B, channel, snr)
}

/// Share of MPDUs of `mpdu_B` octets inside an aggregate that are lost once the header has been received.
#[must_use]
pub fn mpdu_error_rate(rate: Rate, mpdu_B: u32, channel: &Channel, snr: f64) -> f64 {
    1.0 - mpdu_success(rate, mpdu_B, channel, snr)
}

/// The header before the PSDU: 48 bits at 1 Mb/s for DSSS, 24 bits of SIGNAL at 6 Mb/s for OFDM, and 48 of SIG-A after it.
#[must_use]
pub fn header_success(rate: Rate, snr: f64) -> f64 {
    let signal = |bits| coded_success(Modulation { bits: 1, code: 1, of: 2 }, snr, bits);
    match rate {
        Rate::Dsss { .. } => dsss_success(1_000, snr, 48.0),
        Rate::Ofdm { .. } => signal(24.0),
        Rate::Ht { .. } | Rate::Vht { .. } | Rate::He { .. } => signal(72.0),
    }
}

fn mpdu_success(rate: Rate, psdu_B: u32, channel: &Channel, snr: f64) -> f64 {
    match rate {
        Rate::Dsss { kb_s } => dsss_success(kb_s, snr, 8.0 * f64::from(psdu_B)),
        // Streams share the bits; each has its own noise.
        _ => rate.modulation().map_or(0.0, |modulation| {
            let data_bits = rate.data_bits_a_symbol(channel).max(1);
            let symbols = (16 + 8 * psdu_B + 6).div_ceil(data_bits);
            let bits = f64::from(symbols * data_bits) / f64::from(rate.streams());
            coded_success(modulation, snr, bits)
        }),
    }
}

/// Success of `bits` behind a DSSS or CCK receiver; the chips spread 22 MHz.
///
/// # Source
/// DBPSK: 0.5 exp(-Eb/N0). DQPSK: the asymptote in Ferrari and Corazza, Tight bounds and accurate approximations for
/// DQPSK transmission bit error rate, Electronics Letters 40(20), 2004. CCK: Pursley and Royster, Properties and
/// performance of the IEEE 802.11b complementary-code-key signal sets, IEEE Trans. Communications 57(2), 2009.
fn dsss_success(kb_s: u16, snr: f64, bits: f64) -> f64 {
    const CHIPS_MHZ: f64 = 22.0;
    match kb_s {
        1_000 => pow(1.0 - 0.5 * exp(-snr * CHIPS_MHZ), bits),
        2_000 => {
            let x = (snr * CHIPS_MHZ / 2.0).max(1e-9);
            let root = core::f64::consts::SQRT_2;
            let errors = (root + 1.0) / sqrt(8.0 * core::f64::consts::PI * root) / sqrt(x) * exp(-(2.0 - root) * x);
            pow((1.0 - errors).max(0.0), bits)
        }
        // Symbols at 1.375 MHz; biorthogonal sets of 8 on one or on both branches.
        5_500 => pow(biorthogonal_success(snr * CHIPS_MHZ / 1.375 / 2.0), bits / 4.0),
        _ => {
            let branch = biorthogonal_success(snr * CHIPS_MHZ / 1.375 / 4.0);
            pow(branch * branch, bits / 8.0)
        }
    }
}

/// Probability that a symbol of a biorthogonal set of 16 (8 waveforms with both signs) is received right (Proakis,
/// Digital Communications, 4th ed., 5.2.3): the integral over x > -b of (2 Phi(x + b) - 1)^7 phi(x), b = sqrt(2 E/N0).
fn biorthogonal_success(energy: f64) -> f64 {
    const STEPS: u32 = 400;
    let root = sqrt(2.0 * energy);
    let (low, high) = ((-root).max(-8.5), 8.5);
    let step = (high - low) / f64::from(STEPS);
    let at = |x: f64| {
        let inner = erf((x + root) / core::f64::consts::SQRT_2);
        let inner2 = inner * inner;
        inner2 * inner2 * inner2 * inner * exp(-x * x / 2.0)
    };
    // Simpson's rule.
    let sum: f64 = (1..STEPS).map(|i| (if i % 2 == 1 { 4.0 } else { 2.0 }) * at(low + step * f64::from(i))).sum();
    ((at(low) + at(high) + sum) * step / 3.0 / sqrt(2.0 * core::f64::consts::PI)).clamp(0.0, 1.0)
}

/// Success of `bits` behind the convolutional code of clause 17.3.5.6 with hard decisions: union bound on the first
/// events of error, independent.
///
/// # Source
/// Pei and Henderson, Validation of OFDM error rate model in ns-3, 2010 (the NIST model). Weights: Frenger, Orten and
/// Ottosson, Multi-rate convolutional codes, 1998 (1/2, 2/3, 3/4); Haccoun and Begin, High-rate punctured convolutional
/// codes, IEEE Trans. Communications 37(11), 1989 (5/6).
fn coded_success(modulation: Modulation, snr: f64, bits: f64) -> f64 {
    let uncoded = match modulation.bits {
        1 => 0.5 * erfc(sqrt(snr)),
        2 => 0.5 * erfc(sqrt(snr / 2.0)),
        bits => {
            // Square QAM: 2^bits points, sqrt of that a side.
            let side = f64::from(1u32 << (u32::from(bits) / 2));
            let error = (side - 1.0) / (side * f64::from(bits) / 2.0);
            error * erfc(sqrt(1.5 * snr / (side * side - 1.0)))
        }
    };
    let d = sqrt(4.0 * uncoded * (1.0 - uncoded));
    let (first, step, scale, weights): (u32, u32, f64, &[f64]) = match modulation.of {
        2 => (10, 2, 0.5, &HALF),
        3 => (6, 1, 0.25, &TWO_THIRDS),
        4 => (5, 1, 1.0 / 6.0, &THREE_QUARTERS),
        _ => (4, 1, 0.1, &FIVE_SIXTHS),
    };
    let mut power = pow(d, f64::from(first));
    let by = pow(d, f64::from(step));
    let mut errors = 0.0;
    for weight in weights {
        errors += weight * power;
        power *= by;
    }
    pow(1.0 - (scale * errors).min(1.0), bits)
}

const HALF: [f64; 9] = [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
const THREE_QUARTERS: [f64; 10] =
    [42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0];
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];
