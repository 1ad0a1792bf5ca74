//! Where what depends on secrets becomes known to all: whether a tag was right, and what a report lists. A program that
//! watches secrets is told of it (feature `watched`); otherwise this does nothing.

#[cfg(feature = "watched")]
static TOLD: std::sync::OnceLock<fn(&mut [u8])> = std::sync::OnceLock::new();

/// From now on whatever is disclosed is given to this function, which changes nothing.
#[cfg(feature = "watched")]
pub fn tell_disclosed(told: fn(&mut [u8])) {
    let _ = TOLD.set(told);
}

/// Says that these octets may be known to all.
#[cfg_attr(
    not(feature = "watched"),
    expect(clippy::needless_pass_by_ref_mut, reason = "read again after they were told")
)]
pub fn disclosed(octets: &mut [u8]) {
    #[cfg(feature = "watched")]
    if let Some(told) = TOLD.get() {
        told(octets);
    }
    let _ = octets;
}

/// A verdict, which everybody learns from what is done next.
pub fn verdict(is_so: bool) -> bool {
    let mut octet = [u8::from(is_so)];
    disclosed(&mut octet);
    octet[0] == 1
}
