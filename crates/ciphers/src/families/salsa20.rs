//! Salsa20 (Bernstein 2007): a key stream from a nonce of 8 bytes, keys of 256 bits.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, salsa20::Way};
use crate::card::{BLANK, Card, Code, Mode, Sizes, Timing};
use crate::modes::stream;
use crate::visit::ways;

static ALL: [Card; 1] = [Card {
    id: "salsa20",
    family: "salsa20",
    mode: Mode::Stream,
    templates: &["salsa20"],
    listed: &["salsa20"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 64,
    source: "Bernstein, The Salsa20 family of stream ciphers, 2007",
    codes: &[Code::of_crate("salsa20", "0.11.0", Timing::Constant, Algorithm::salsa20(Way::Crate))],
    definition: Some(by_definition),
    vectors: include_str!("../../vectors/salsa20.txt"),
    ..BLANK
}];

pub(crate) const CARDS: &[&[Card]] = &[&ALL];

ways! { Crate => visit_built_in::<stream::Nonced<::salsa20::Salsa20>> }

/// Bernstein, Salsa20 specification, 2005: 20 rounds, a key of 32 bytes.
fn by_definition(key: &[u8], iv: &[u8], message: &[u8], output: &mut [u8]) {
    let [a, b, c, d] = stream::CONSTANTS;
    let k = core::array::from_fn::<u32, 8, _>(|place| stream::word(key, place));
    let n = [stream::word(iv, 0), stream::word(iv, 1)];
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of the counter")]
    let state = |number: u64| {
        let halves = [number as u32, (number >> 32) as u32];
        [a, k[0], k[1], k[2], k[3], b, n[0], n[1], halves[0], halves[1], c, k[4], k[5], k[6], k[7], d]
    };
    let quarter = |x: &mut [u32; 16], [a, b, c, d]: [usize; 4]| {
        for (to, one, other, bits) in [(b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)] {
            x[to] ^= x[one].wrapping_add(x[other]).rotate_left(bits);
        }
    };
    // Columns and rows begin at the diagonal.
    stream::definition(message, output, state, |x| {
        (0..4).for_each(|i| quarter(x, core::array::from_fn(|at| 4 * ((i + at) % 4) + i)));
        (0..4).for_each(|i| quarter(x, core::array::from_fn(|at| 4 * i + (i + at) % 4)));
    });
}
