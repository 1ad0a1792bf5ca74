//! The key expansion that RC5 and RC6 share.

/// Odd((e - 2) 2^32).
const P: u32 = 0xb7e1_5163;
/// Odd((golden ratio - 1) 2^32).
const Q: u32 = 0x9e37_79b9;

/// Fills `keys` from a key of 4 to 32 bytes, whole words; `None` for another.
///
/// # Source
/// Rivest, The RC5 Encryption Algorithm, 1994, 4.3; Rivest, Robshaw, Sidney, Yin, The RC6 Block Cipher, 1998, 2.3.
#[inline]
pub(in crate::kernels) fn expand(key: &[u8], keys: &mut [u32]) -> Option<()> {
    let (chunks, rest) = key.as_chunks::<4>();
    let mut words = [0; 8];
    let words = words.get_mut(..chunks.len()).filter(|words| rest.is_empty() && !words.is_empty())?;
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u32::from_le_bytes(*chunk);
    }
    let mut constant = P;
    for key in &mut *keys {
        *key = constant;
        constant = constant.wrapping_add(Q);
    }
    let (mut a, mut b) = (0_u32, 0_u32);
    let (mut at_key, mut at_word) = (0, 0);
    for _ in 0..3 * keys.len().max(words.len()) {
        let (key, word) = (keys.get_mut(at_key)?, words.get_mut(at_word)?);
        a = key.wrapping_add(a).wrapping_add(b).rotate_left(3);
        *key = a;
        let sum = a.wrapping_add(b);
        b = word.wrapping_add(sum).rotate_left(sum);
        *word = b;
        at_key = if at_key + 1 == keys.len() { 0 } else { at_key + 1 };
        at_word = if at_word + 1 == words.len() { 0 } else { at_word + 1 };
    }
    Some(())
}
