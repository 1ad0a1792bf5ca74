//! Keys: a root of each resumption, generations below it, and what a rescue derives.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::sealing::{KEY_B, Key, TAG_B, Tag, cxof, wipe};

/// Octets of the secret that a pair shares.
pub const SECRET_B: usize = 32;
/// Octets of a side's nonce in a resumption.
pub const NONCE_B: usize = 8;

/// A side's nonce in a resumption. No two of a side and a pair may be the same.
///
/// A state that is restored from a copy gives numbers again that were used since. Then the random half keeps the nonces
/// apart, but for a chance of 2^-32 each time that a number comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce {
    /// One more than this side's last, and stored for good before it is used.
    pub number: u32,
    /// Drawn anew each time, never stored.
    pub random: [u8; NONCE_B / 2],
}

impl Nonce {
    /// As it is sent: the number, big-endian, and the random octets.
    #[must_use]
    pub fn octets(self) -> [u8; NONCE_B] {
        let ([a, b, c, d], [e, f, g, h]) = (self.number.to_be_bytes(), self.random);
        [a, b, c, d, e, f, g, h]
    }
}

impl From<[u8; NONCE_B]> for Nonce {
    fn from([a, b, c, d, random @ ..]: [u8; NONCE_B]) -> Self {
        Self { number: u32::from_be_bytes([a, b, c, d]), random }
    }
}

const ROOT: &[u8] = b"tally1 root";
#[cfg(feature = "handshake")]
const HANDSHAKE_ROOT: &[u8] = b"tally1 handshake root";
const BELOW_ROOT: &[u8] = b"tally1 below root";
const GENERATION: &[u8] = b"tally1 generation";
const NEXT: &[u8] = b"tally1 next";
const AGAIN: &[u8] = b"tally1 again";
const HINT: &[u8] = b"tally1 hint";

/// What a pair shares for ever. A copy repeats no nonce: each resumption brings a new one.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Pair {
    /// The secret, uniformly random.
    pub secret: [u8; SECRET_B],
    /// The link's number, the same at both ends and for no two pairs of one gateway.
    pub link: [u8; 4],
}

/// The keys that a root gives beside its generations. No copy of it: two sensors of one root seal with the same nonces.
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Root {
    link: [u8; 4],
    first: Key,
    rescue: Key,
    hint: Key,
    /// Seals rescue records.
    pub(crate) rescue_up: Key,
    /// Seals requests for a rescue.
    pub(crate) rescue_down: Key,
}

impl Root {
    /// The root of a pair and of both sides' nonces.
    #[must_use]
    pub(crate) fn new(pair: &Pair, of_sensor: [u8; NONCE_B], of_gateway: [u8; NONCE_B]) -> Self {
        Self::below(pair.link, ROOT, &[&pair.secret, &pair.link, &of_sensor, &of_gateway])
    }

    /// The root that a handshake's new pair begins with.
    #[cfg(feature = "handshake")]
    #[must_use]
    pub(crate) fn of_handshake(pair: &Pair) -> Self {
        Self::below(pair.link, HANDSHAKE_ROOT, &[&pair.secret, &pair.link])
    }

    fn below(link: [u8; 4], label: &[u8], parts: &[&[u8]]) -> Self {
        let mut root = [0; KEY_B];
        cxof(label, parts, &mut root);
        let mut keys = [0; 5 * KEY_B];
        cxof(BELOW_ROOT, &[&root], &mut keys);
        wipe(&mut root);
        let [first, rescue, hint, rescue_up, rescue_down] = split(&mut keys);
        Self { link, first, rescue, hint, rescue_up, rescue_down }
    }

    /// The generation that a root begins with.
    #[must_use]
    pub(crate) fn first(&self, short_tag_bits: u8) -> Generation {
        Generation::of(&self.first, 0, self.link, short_tag_bits)
    }

    /// The generation behind the rescue of this number, in which the sensor confirmed `generation`.
    #[must_use]
    pub(crate) fn again(
        &self,
        rescue: u32,
        generation: u32,
        confirmed: &[u8; KEY_B],
        short_tag_bits: u8,
    ) -> Generation {
        let number = generation.wrapping_add(1);
        let mut key = [0; KEY_B];
        let parts: [&[u8]; 4] = [self.rescue.octets(), &rescue.to_be_bytes(), &generation.to_be_bytes(), confirmed];
        cxof(AGAIN, &parts, &mut key);
        let generation = Generation::of(&Key::new(key), number, self.link, short_tag_bits);
        wipe(&mut key);
        generation
    }

    /// The two octets that stand before a record of this kind and counter.
    #[must_use]
    pub(crate) fn hint(&self, kind: u8, counter: u32) -> [u8; 2] {
        let mut hint = [0; 2];
        cxof(HINT, &[self.hint.octets(), &[kind], &counter.to_be_bytes()], &mut hint);
        hint
    }
}

/// The keys between two reports.
#[cfg_attr(any(test, feature = "copies"), derive(Clone))]
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Generation {
    /// Its number below the root.
    pub number: u32,
    link: [u8; 4],
    short_tag_bits: u8,
    /// Seals records with short tags.
    pub short: Key,
    /// Seals records with whole tags.
    pub whole: Key,
    /// Seals the report.
    pub down: Key,
    next: Key,
    confirm: Key,
}

impl Generation {
    fn of(key: &Key, number: u32, link: [u8; 4], short_tag_bits: u8) -> Self {
        let mut keys = [0; 5 * KEY_B];
        cxof(GENERATION, &[key.octets(), &link, &[short_tag_bits]], &mut keys);
        let [short, whole, down, next, confirm] = split(&mut keys);
        Self { number, link, short_tag_bits, short, whole, down, next, confirm }
    }

    /// The generation that the attested messages lead to: `sum` is that of their whole tags.
    #[must_use]
    pub fn next(&self, base: u32, bitmap: u32, sum: &Tag) -> Self {
        let number = self.number.wrapping_add(1);
        let mut key = [0; KEY_B];
        let tags: &[u8; TAG_B] = sum.octets();
        let parts: [&[u8]; 5] =
            [self.next.octets(), &number.to_be_bytes(), &base.to_be_bytes(), &bitmap.to_be_bytes(), tags];
        cxof(NEXT, &parts, &mut key);
        let generation = Self::of(&Key::new(key), number, self.link, self.short_tag_bits);
        wipe(&mut key);
        generation
    }

    /// What proves that a side holds this generation, and so the same transcripts before it. Never sent in the clear.
    #[must_use]
    pub fn confirmation(&self) -> &[u8; KEY_B] {
        self.confirm.octets()
    }
}

fn split<const N: usize>(octets: &mut [u8]) -> [Key; N] {
    let keys = core::array::from_fn(|index| {
        let mut key = [0; KEY_B];
        key.copy_from_slice(&octets[index * KEY_B..(index + 1) * KEY_B]);
        Key::new(key)
    });
    wipe(octets);
    keys
}
