//! Numbers of random bits.

/// A number from 0 to `bound` - 1 of 64 random bits.
pub(crate) fn below(bits: u64, bound: u64) -> u64 {
    u64::try_from((u128::from(bits) * u128::from(bound)) >> 64).unwrap_or(0)
}

/// A number in [0, 1) of 64 random bits.
pub(crate) fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / 9_007_199_254_740_992.0
}
