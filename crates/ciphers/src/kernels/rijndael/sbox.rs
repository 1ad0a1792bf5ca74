//! The S-box of Rijndael as gates on eight bit planes, the least significant first: no table, no branch.
//!
//! A byte is taken to GF(((2^2)^2)^2), where its inverse needs only products of two bits, and back; the affine map of the
//! S-box is part of the way back, that of its inverse part of the way there. The towers are z^2 + z + 1, y^2 + y + z and
//! x^2 + x + (z y + 1): of all such towers and all ways into them, the one whose maps take the fewest gates.
//!
//! # Source
//! Satoh, Morioka, Takano, Munetoh, A Compact Rijndael Hardware Architecture with S-Box Optimization, ASIACRYPT 2001,
//! for the idea; the maps were calculated anew.
#![forbid(unsafe_code)]

use core::ops::{BitAnd, BitXor, Not};

/// As many bits as a plane has.
pub(super) trait Bits: Copy + BitXor<Output = Self> + BitAnd<Output = Self> + Not<Output = Self> {}

impl<T: Copy + BitXor<Output = T> + BitAnd<Output = T> + Not<Output = T>> Bits for T {}

/// SubByte on every byte.
#[inline(always)]
pub(super) fn substitute<T: Bits>([x0, x1, x2, x3, x4, x5, x6, x7]: [T; 8]) -> [T; 8] {
    let (a, b) = (x4 ^ x6, x1 ^ x2);
    let (c, d) = (x3 ^ a, x7 ^ b);
    let [z0, z1, z2, z3, z4, z5, z6, z7] =
        invert([x0 ^ x3 ^ d, x1 ^ x3, c, x6 ^ d, x2 ^ x7 ^ c, x1 ^ x7 ^ a, x5 ^ b ^ c, x5 ^ x7]);
    let e = z0 ^ z3;
    let (f, g, h) = (z1 ^ e, z2 ^ z4, z2 ^ z7);
    [!(z0 ^ z6), !(z7 ^ f), f ^ g, z0, z5 ^ e ^ g, !(z3 ^ h), !(z4 ^ z7), h]
}

/// Its inverse.
#[inline(always)]
pub(super) fn restore<T: Bits>([x0, x1, x2, x3, x4, x5, x6, x7]: [T; 8]) -> [T; 8] {
    let (a, b) = (x1 ^ x2, x3 ^ x5);
    let (c, d) = (x6 ^ b, x6 ^ a);
    let [z0, z1, z2, z3, z4, z5, z6, z7] = invert([x3, x2 ^ c, d, !(x5 ^ x7), !(x7 ^ a), x4 ^ c, !(x0 ^ x3), x7 ^ d]);
    let (e, f, g) = (z1 ^ z4, z6 ^ z7, z1 ^ z2);
    let h = z5 ^ g;
    [z0 ^ z2 ^ e, z4 ^ f, z5 ^ e, e ^ f, z3 ^ e, z7 ^ h, z2 ^ z3 ^ f, h]
}

/// An element of GF(2^2): the bits of 1 and of z.
type Pair<T> = [T; 2];
/// An element of GF((2^2)^2): the pairs of 1 and of y.
type Nibble<T> = [Pair<T>; 2];

#[inline(always)]
fn sum<T: Bits>([a0, a1]: Pair<T>, [b0, b1]: Pair<T>) -> Pair<T> {
    [a0 ^ b0, a1 ^ b1]
}

#[inline(always)]
fn product<T: Bits>([a0, a1]: Pair<T>, [b0, b1]: Pair<T>) -> Pair<T> {
    let low = a0 & b0;
    [low ^ (a1 & b1), low ^ ((a0 ^ a1) & (b0 ^ b1))]
}

#[inline(always)]
fn sums<T: Bits>([a0, a1]: Nibble<T>, [b0, b1]: Nibble<T>) -> Nibble<T> {
    [sum(a0, b0), sum(a1, b1)]
}

#[inline(always)]
fn products<T: Bits>([a0, a1]: Nibble<T>, [b0, b1]: Nibble<T>) -> Nibble<T> {
    let (low, [high0, high1]) = (product(a0, b0), product(a1, b1));
    [sum(low, [high1, high0 ^ high1]), sum(low, product(sum(a0, a1), sum(b0, b1)))]
}

/// The inverse in GF(((2^2)^2)^2), and 0 of 0.
#[inline(always)]
fn invert<T: Bits>([x0, x1, x2, x3, x4, x5, x6, x7]: [T; 8]) -> [T; 8] {
    let (low, high) = ([[x0, x1], [x2, x3]], [[x4, x5], [x6, x7]]);
    // The norm of x: (z y + 1) high^2 + high low + low^2, its squares as one linear map.
    let (a, b) = (x3 ^ x4, x1 ^ x5);
    let squares = [[x0 ^ x6 ^ a ^ x7 ^ b, x2 ^ x7 ^ b], [x2 ^ x3 ^ x5, a]];
    let [norm0, norm1] = sums(squares, products(high, low));
    // Again, one field lower: z norm1^2 + norm1 norm0 + norm0^2, whose inverse is its square.
    let [inner0, inner1] = sum(product(norm0, norm1), [norm0[0] ^ norm0[1] ^ norm1[1], norm0[1] ^ norm1[0]]);
    let inverse = [inner0 ^ inner1, inner1];
    let of_norm = [product(sum(norm0, norm1), inverse), product(norm1, inverse)];
    let [[y0, y1], [y2, y3]] = products(sums(low, high), of_norm);
    let [[y4, y5], [y6, y7]] = products(high, of_norm);
    [y0, y1, y2, y3, y4, y5, y6, y7]
}
