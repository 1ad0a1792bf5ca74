//! The two phases that make an RC4 seed of a temporal key, a transmitter and a sequence counter (12.5.2.5).

use zeroize::Zeroizing;

use crate::Address;

/// What phase 1 gives: it changes once in 65,536 frames.
pub type Ttak = [u16; 5];

/// Multiplication by x in the field of AES.
const fn twice(value: u8) -> u8 {
    (value << 1) ^ if value & 0x80 == 0 { 0 } else { 0x1b }
}

const fn product(mut one: u8, mut other: u8) -> u8 {
    let mut sum = 0;
    while other != 0 {
        if other & 1 == 1 {
            sum ^= one;
        }
        one = twice(one);
        other >>= 1;
    }
    sum
}

/// The S-box of TKIP: S of AES (FIPS 197, 5.1.1) times 2 in the high octet, times 3 in the low one.
const SBOX: [u16; 256] = {
    let mut table = [0; 256];
    let mut value: u8 = 0;
    loop {
        // The inverse is the 254th power.
        let mut inverse = 1;
        let mut power = 0;
        while power < 254 {
            inverse = product(inverse, value);
            power += 1;
        }
        let rotated = inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4);
        let s = inverse ^ rotated ^ 0x63;
        table[value as usize] = u16::from_be_bytes([twice(s), twice(s) ^ s]);
        if value == 255 {
            break table;
        }
        value += 1;
    }
};

fn s(value: u16) -> u16 {
    let [high, low] = value.to_be_bytes();
    SBOX[usize::from(low)] ^ SBOX[usize::from(high)].swap_bytes()
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]])
}

/// Phase 1: of the temporal key, the transmitter's address and the upper 32 bits of the counter.
#[must_use]
pub fn phase_1(temporal_key: &[u8; 16], transmitter: Address, upper: u32) -> Ttak {
    let (high, low) = ((upper >> 16) as u16, (upper & 0xffff) as u16);
    let mut k = [low, high, word(&transmitter, 0), word(&transmitter, 1), word(&transmitter, 2)];
    for round in 0..8_u16 {
        let odd = usize::from(round & 1);
        for (at, from) in [0, 2, 4, 6, 0].into_iter().enumerate() {
            let before = k[(at + 4) % 5];
            k[at] = k[at].wrapping_add(s(before ^ word(temporal_key, from + odd)));
        }
        k[4] = k[4].wrapping_add(round);
    }
    k
}

/// Phase 2: the RC4 seed of one frame, of phase 1 and the lower 16 bits of the counter.
#[must_use]
pub fn phase_2(temporal_key: &[u8; 16], ttak: &Ttak, lower: u16) -> Zeroizing<[u8; 16]> {
    let key = |at| word(temporal_key, at);
    let mut p = [ttak[0], ttak[1], ttak[2], ttak[3], ttak[4], ttak[4].wrapping_add(lower)];
    for at in 0..6 {
        p[at] = p[at].wrapping_add(s(p[(at + 5) % 6] ^ key(at)));
    }
    for at in 0..6 {
        let mixed = p[(at + 5) % 6] ^ if at < 2 { key(6 + at) } else { 0 };
        p[at] = p[at].wrapping_add(mixed.rotate_right(1));
    }
    let [high, low] = lower.to_be_bytes();
    let mut seed = Zeroizing::new([0; 16]);
    // The second octet keeps clear of the IVs for which RC4 is weakest.
    seed[..3].copy_from_slice(&[high, (high | 0x20) & 0x7f, low]);
    seed[3] = ((p[5] ^ key(0)) >> 1).to_le_bytes()[0];
    for (pair, value) in seed[4..].chunks_exact_mut(2).zip(p) {
        pair.copy_from_slice(&value.to_le_bytes());
    }
    seed
}
