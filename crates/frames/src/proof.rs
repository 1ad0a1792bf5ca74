//! The proof of a protocol before anything of it is timed or counted: published frames, a frame that comes back, changed
//! bits that are refused.

use core::fmt;

use crate::{Error, Frame, Key, MAX_EXPANSION_B, Protocol};

/// The header of the frames that are measured: a data frame with QoS and three addresses, to the access point.
pub const HEADER: [u8; 26] = hex("88012c00 020000000001 020000000002 020000000003 1000 0000");

/// The longest frame in the clear of a proof.
const MOST_B: usize = 128;

/// Why a protocol is not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unproven {
    /// A frame is refused that is none of those with changed bits.
    Refused(Error),
    /// Not the frame of this clause of IEEE Std 802.11-2020.
    AnotherFrame(&'static str),
    /// A frame does not come back.
    DoesNotComeBack,
    /// A changed frame is taken for a right one.
    Forged,
}

impl From<Error> for Unproven {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::AnotherFrame(clause) => write!(f, "another frame than that of IEEE Std 802.11-2020, {clause}"),
            Self::DoesNotComeBack => f.write_str("the frame did not come back"),
            Self::Forged => f.write_str("a changed frame was taken for a right one"),
        }
    }
}

impl core::error::Error for Unproven {}

/// A frame of the standard's annex J.
struct Answer {
    protocol: Protocol,
    clause: &'static str,
    key: &'static [u8],
    number: u64,
    /// Header and body.
    clear: &'static [u8],
    /// The last octets of the protected frame: the MIC, or the end of the body with Michael and ICV.
    right: [u8; 16],
}

const AES_KEY: [u8; 32] = hex("c97c1f67ce371185514a8a19f2bdd52f 000102030405060708090a0b0c0d0e0f");
const TKIP_KEY: [u8; 32] = hex("12345678901234567890123456789012 3456789012345678 9012345678901234");
const CCMP: [u8; 44] =
    hex("0808c32c 0fd2e128a57c 5030f1844408 abaea5b8fcba 8033 f8ba1a55d02f85ae967bb62fb6cda8eb7e78a050");
const GCMP: [u8; 66] = hex("88080b00 0fd2e128a57c 5030f1844408 5030f1844408 8033 0300
    000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627");
const TKIP: [u8; 116] = hex("08022c00 020304050608 020304050607 020304050607 d002
    aaaa03000000080045000054000040004001a555c0a80a02c0a80a0108003ab000000000cd4c050000000000
    08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637");
const WEP: [u8; 110] = hex("0808c32c 0fd2e128a57c 5030f1844408 abaea5b8fcba 8033
    aaaa0300000008004500004e661a00008011be640a0001220affffff00890089003a000080a601100001000000000000
    204543454a4548454346434550464545494546464343414341434143414341414100002000 01");

static ANSWERS: [Answer; 6] = [
    Answer {
        protocol: Protocol::Wep40,
        clause: "J.6.2",
        key: b"01234",
        number: 0xfb_029e,
        clear: &WEP,
        right: hex("693856ed0d4398e7aee3bf0e2a2ca8f7"),
    },
    Answer {
        protocol: Protocol::Tkip,
        clause: "J.6.3",
        key: &TKIP_KEY,
        number: 1,
        clear: &TKIP,
        right: hex("a99c05f289a7c52fee5bfc14f6f8e5f8"),
    },
    ccmp(Protocol::Ccmp128, "3246e80c3c04d0197845ce0b16f97623"),
    ccmp(Protocol::Ccmp256, "80aa56c9492e882b97642f80d50fe97b"),
    gcmp(Protocol::Gcmp128, "def619c2a374b6df66ffa53b6c69d79e"),
    gcmp(Protocol::Gcmp256, "114316859095473d5b1bd596b3dea3bf"),
];

const fn ccmp(protocol: Protocol, right: &str) -> Answer {
    let key = AES_KEY.split_at(protocol.key_B()).0;
    Answer { protocol, clause: "J.6.4", key, number: 0xb503_9776_e70c, clear: &CCMP, right: hex(right) }
}

const fn gcmp(protocol: Protocol, right: &str) -> Answer {
    let key = AES_KEY.split_at(protocol.key_B()).0;
    Answer { protocol, clause: "J.11.1", key, number: 0x0089_5f5f_2b08, clear: &GCMP, right: hex(right) }
}

/// The clause of IEEE Std 802.11-2020 that publishes a whole frame of a protocol; `None` where none does.
#[must_use]
pub fn published(protocol: Protocol) -> Option<&'static str> {
    answer(protocol).map(|answer| answer.clause)
}

fn answer(protocol: Protocol) -> Option<&'static Answer> {
    ANSWERS.iter().find(|answer| answer.protocol == protocol)
}

/// Proves a protocol by its published frame, where there is one, and by [`comes_back`].
///
/// # Errors
/// What is wrong.
pub fn prove(protocol: Protocol) -> Result<(), Unproven> {
    let (mut sealed, mut back) = ([0; MOST_B + MAX_EXPANSION_B], [0; MOST_B + MAX_EXPANSION_B]);
    if let Some(answer) = answer(protocol) {
        let mut key = Key::new(protocol, answer.key)?;
        let sealed_B = key.protect(&Frame::parse(answer.clear)?, answer.number, 0, &mut sealed)?;
        if !sealed[..sealed_B].ends_with(&answer.right) {
            return Err(Unproven::AnotherFrame(answer.clause));
        }
    }
    let mut clear = [0; MOST_B];
    clear[..HEADER.len()].copy_from_slice(&HEADER);
    (1_u8..).zip(&mut clear[HEADER.len()..]).for_each(|(octet, place)| *place = octet);
    let key: [u8; 32] = core::array::from_fn(|place| place.to_le_bytes()[0]);
    comes_back(&mut Key::new(protocol, &key[..protocol.key_B()])?, &clear, &mut sealed, &mut back).map(drop)
}

/// Protects a frame and takes its protection off again: it must come back, and not where a bit of its body or its tail is
/// another.
///
/// * `clear`: header and body, with at least one octet of body. `sealed`, `back`: room for it and [`MAX_EXPANSION_B`].
/// * Returns the octets of the protected frame, which is in `sealed`.
///
/// # Errors
/// What is wrong.
pub fn comes_back(key: &mut Key, clear: &[u8], sealed: &mut [u8], back: &mut [u8]) -> Result<usize, Unproven> {
    let frame = Frame::parse(clear)?;
    let (header_B, head_B) = (frame.header().len(), key.protocol().head_B());
    let sealed_B = key.protect(&frame, 1, 0, sealed)?;
    let sealed = &mut sealed[..sealed_B];
    let opened = key.unprotect(&Frame::parse(sealed)?, None, back)?;
    if back[..opened.length_B] != *clear {
        return Err(Unproven::DoesNotComeBack);
    }
    for at in [header_B + head_B, sealed_B - 1] {
        sealed[at] ^= 1;
        if key.unprotect(&Frame::parse(sealed)?, None, back).is_ok() {
            return Err(Unproven::Forged);
        }
        sealed[at] ^= 1;
    }
    Ok(sealed_B)
}

/// Octets written as hexadecimal digits, with spaces between them where one likes.
const fn hex<const N: usize>(digits: &str) -> [u8; N] {
    let digits = digits.as_bytes();
    let (mut octets, mut found, mut at) = ([0; N], 0, 0);
    while at < digits.len() {
        let value = match digits[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => {
                at += 1;
                continue;
            }
        };
        octets[found / 2] = octets[found / 2] << 4 | value;
        (found, at) = (found + 1, at + 1);
    }
    assert!(found == 2 * N, "as many digits as the octets have");
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_proven_and_all_but_wep_104_by_a_published_frame() {
        for protocol in Protocol::ALL {
            assert_eq!(prove(protocol), Ok(()), "{protocol}");
            assert_eq!(published(protocol).is_none(), protocol == Protocol::Wep104, "{protocol}");
        }
    }
}
