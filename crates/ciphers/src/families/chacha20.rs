//! ChaCha20 (RFC 8439): a key stream from a nonce of 12 bytes; the counter starts at 0.
#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, chacha20::Way};
use crate::card::{BLANK, Card, Code, Mode, Sizes, Timing};
use crate::modes::stream;
use crate::visit::ways;

static ALL: [Card; 1] = [Card {
    id: "chacha20",
    family: "chacha20",
    mode: Mode::Stream,
    templates: &["chacha20"],
    listed: &["chacha20"],
    key_bits: Sizes::only(256),
    block_bits: 8,
    iv_bits: 96,
    source: "RFC 8439, 2018; the counter of the first block is 0",
    codes: &[Code::of_crate("chacha20", "0.10.2", Timing::Constant, Algorithm::chacha20(Way::Crate)).on(path)],
    definition: Some(by_definition),
    vectors: include_str!("../../vectors/chacha20.txt"),
    ..BLANK
}];

pub(crate) const CARDS: &[&[Card]] = &[&ALL];

ways! { Crate => visit_built_in::<stream::Nonced<::chacha20::ChaCha20>> }

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(avx2, "avx2");
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
cpufeatures::new!(sse2, "sse2");

/// The way that the `chacha20` crate takes here: the order of its own choice.
pub(crate) fn path() -> &'static str {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if avx2::get() {
        return "avx2";
    } else if sse2::get() {
        return "sse2";
    }
    "portable"
}

/// RFC 8439, 2.1 to 2.4, the counter from 0.
fn by_definition(key: &[u8], iv: &[u8], message: &[u8], output: &mut [u8]) {
    let [a, b, c, d] = stream::CONSTANTS;
    let k = core::array::from_fn::<u32, 8, _>(|place| stream::word(key, place));
    let n = core::array::from_fn::<u32, 3, _>(|place| stream::word(iv, place));
    #[allow(clippy::cast_possible_truncation, reason = "a message has at most 2^32 blocks")]
    let state =
        |number: u64| [a, b, c, d, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], number as u32, n[0], n[1], n[2]];
    let quarter = |x: &mut [u32; 16], [a, b, c, d]: [usize; 4]| {
        for (to, from, into, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
            x[to] = x[to].wrapping_add(x[from]);
            x[into] = (x[into] ^ x[to]).rotate_left(bits);
        }
    };
    stream::definition(message, output, state, |x| {
        (0..4).for_each(|i| quarter(x, [i, 4 + i, 8 + i, 12 + i]));
        (0..4).for_each(|i| quarter(x, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]));
    });
}
