//! The IV of the part that follows, for libraries that do not give it back.
#![forbid(unsafe_code)]

use wattlock_ciphers::Mode;

/// Makes `iv` that of the next part.
///
/// * `iv`: one whole block in CBC, CFB, OFB and CTR; as long as a block, empty in ECB.
/// * `input`, `output`: of the part before; `output` may be longer. Nothing can follow a part that ends inside of a block.
#[inline]
pub fn go_on(mode: Mode, decrypts: bool, iv: &mut [u8], input: &[u8], output: &[u8]) {
    let block_B = iv.len();
    if block_B == 0 || input.is_empty() {
        return;
    }
    if mode == Mode::Ctr {
        return count(iv, input.len().div_ceil(block_B));
    }
    let Some(from) = (input.len() / block_B * block_B).checked_sub(block_B) else { return };
    let [plain_or_not, other] = [input, output].map(|text| &text[from..from + block_B]);
    match mode {
        Mode::Cbc | Mode::Cfb => iv.copy_from_slice(if decrypts { plain_or_not } else { other }),
        Mode::Ofb => iv.iter_mut().zip(plain_or_not.iter().zip(other)).for_each(|(iv, (a, b))| *iv = a ^ b),
        _ => {}
    }
}

/// The counter `blocks` blocks later, big-endian over the whole block.
pub fn count(counter: &mut [u8], blocks: usize) {
    let mut carry = blocks;
    for byte in counter.iter_mut().rev() {
        let sum = usize::from(*byte) + (carry & 0xff);
        *byte = sum.to_le_bytes()[0];
        carry = (carry >> 8) + (sum >> 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_passes_its_end_and_carries_over_many_bytes() {
        let mut counter = [0xff; 16];
        count(&mut counter, 1);
        assert_eq!(counter, [0; 16]);
        count(&mut counter, 0x01_0203);
        assert_eq!(counter[12..], [0, 1, 2, 3]);
        counter[12..].copy_from_slice(&[0, 0xff, 0xff, 0xfe]);
        count(&mut counter, 3);
        assert_eq!(counter[12..], [1, 0, 0, 1]);
    }

    #[test]
    fn the_next_iv_is_the_last_ciphertext_block_or_the_key_stream_of_the_last_block() {
        let (plain, sealed) = ([1; 16], [6; 20]);
        let next = |mode, decrypts, input: &[u8], output: &[u8]| {
            let mut iv = [9; 8];
            go_on(mode, decrypts, &mut iv, input, output);
            iv
        };
        assert_eq!(next(Mode::Cbc, false, &plain, &sealed), [6; 8]);
        assert_eq!(next(Mode::Cfb, true, &sealed, &plain), [6; 8]);
        assert_eq!(next(Mode::Ofb, false, &plain, &sealed), [7; 8]);
        assert_eq!(next(Mode::Cfb, false, &plain[..7], &sealed), [9; 8]);
        assert_eq!(next(Mode::Ctr, false, &plain[..9], &sealed), [9, 9, 9, 9, 9, 9, 9, 11]);
        assert_eq!(next(Mode::Ofb, false, &[], &[]), [9; 8]);
    }
}
