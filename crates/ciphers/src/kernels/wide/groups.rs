//! Groups of blocks in registers: loaded or counted, encrypted or decrypted, stored.

use super::lanes::{Lanes, Source};
use super::vector::{Vector, Ymm, Zmm};

/// Gives how many blocks were done: all, or all but one.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2")]
pub(super) unsafe fn avx512<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    // SAFETY: compiled for these instructions.
    unsafe { all::<Zmm, L, B, R, N, BACK>(cipher, source, add, output) }
}

/// Gives how many blocks were done: all, or all but one.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx2<L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    // SAFETY: compiled for these instructions.
    unsafe { all::<Ymm, L, B, R, N, BACK>(cipher, source, add, output) }
}

/// Bytes of the most groups that are worked on at once: twelve registers of 64.
const MOST_B: usize = 768;

/// # Safety
/// As of [`Vector`].
#[inline(always)]
unsafe fn all<V: Vector, L: Lanes<B, R>, const B: usize, const R: usize, const N: usize, const BACK: bool>(
    cipher: &L,
    source: Source<'_, B>,
    add: Option<&[[u8; B]]>,
    output: &mut [[u8; B]],
) -> usize {
    const { assert!(N * R * V::BYTES <= MOST_B) };
    let output = output.as_flattened_mut();
    let add = add.map(<[_]>::as_flattened);
    let group_B = R * V::BYTES;
    let whole_B = output.len() - output.len() % (N * group_B);
    let (whole, tail) = output.split_at_mut(whole_B);
    // SAFETY: the caller's promise.
    unsafe {
        let mut counters = Counters::<V, B>::from(source);
        for first in (0..whole_B / V::BYTES).step_by(N * R) {
            let mut state = match source {
                Source::Blocks(input) => load::<V, R, N>(input.as_flattened(), first),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, N, BACK>(&mut state);
            store(&state, add, whole, first);
        }
        if tail.len() <= B {
            return whole_B / B;
        }
        let mut buffer = [0; MOST_B];
        if let Source::Blocks(input) = source {
            buffer[..tail.len()].copy_from_slice(&input.as_flattened()[whole_B..]);
        }
        if tail.len() > group_B {
            let mut state = match source {
                Source::Blocks(_) => load::<V, R, N>(&buffer, 0),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, N, BACK>(&mut state);
            store(&state, None, &mut buffer, 0);
        } else {
            let mut state = match source {
                Source::Blocks(_) => load::<V, R, 1>(&buffer, 0),
                Source::Counters(_) => counters.take(),
            };
            cipher.groups::<V, 1, BACK>(&mut state);
            store(&state, None, &mut buffer, 0);
        }
        tail.copy_from_slice(&buffer[..tail.len()]);
    }
    if let Some(add) = add {
        for (byte, add) in tail.iter_mut().zip(&add[whole_B..]) {
            *byte ^= add;
        }
    }
    (whole_B + tail.len()) / B
}

/// `N` groups, from the register with number `first` on.
///
/// # Safety
/// As of [`Vector`].
#[inline(always)]
unsafe fn load<V: Vector, const R: usize, const N: usize>(input: &[u8], first: usize) -> [[V; R]; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut state = [[V::splat(0); R]; N];
        for (group, state) in state.iter_mut().enumerate() {
            for (at, register) in state.iter_mut().enumerate() {
                *register = V::load(input, first + group * R + at);
            }
        }
        state
    }
}

/// To where [`load`] would take them from, with what `add` has there.
///
/// # Safety
/// As of [`Vector`].
#[inline(always)]
unsafe fn store<V: Vector, const R: usize, const N: usize>(
    state: &[[V; R]; N],
    add: Option<&[u8]>,
    output: &mut [u8],
    first: usize,
) {
    for (group, state) in state.iter().enumerate() {
        for (at, register) in state.iter().enumerate() {
            let at = first + group * R + at;
            // SAFETY: the caller's promise.
            unsafe {
                match add {
                    Some(add) => register.xor(V::load(add, at)).store(output, at),
                    None => register.store(output, at),
                }
            }
        }
    }
}

/// Counters of `B` bytes, a register of them at a time; only the low number counts on.
struct Counters<V, const B: usize> {
    next: V,
    step: V,
}

impl<V: Vector, const B: usize> Counters<V, B> {
    /// # Safety
    /// As of [`Vector`].
    #[inline(always)]
    unsafe fn from(source: Source<'_, B>) -> Self {
        let Source::Counters(first) = source else {
            // SAFETY: the caller's promise.
            return unsafe { Self { next: V::splat(0), step: V::splat(0) } };
        };
        let (mut ramp, mut blocks) = ([0; 8], 0);
        for number in ramp.chunks_exact_mut(B / 8) {
            if let Some(low) = number.last_mut() {
                *low = blocks;
            }
            blocks += 1;
        }
        let each = (V::BYTES / B) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            let step = V::pairs(if B == 8 { [each, each] } else { [0, each] });
            Self { next: V::pairs(first).add64(V::numbers(&ramp)), step }
        }
    }

    /// # Safety
    /// As of [`Vector`].
    #[inline(always)]
    unsafe fn take<const R: usize, const N: usize>(&mut self) -> [[V; R]; N] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut state = [[V::splat(0); R]; N];
            for group in &mut state {
                for register in group {
                    *register = self.next.reverse64();
                    self.next = self.next.add64(self.step);
                }
            }
            state
        }
    }
}
