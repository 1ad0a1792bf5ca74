//! The text in which test vectors are kept: blocks of `name value` lines, an empty line between two blocks.
//!
//! `# source:` says where the blocks after it come from; other lines that start with `#` are comments.
#![forbid(unsafe_code)]

/// One block of the text. The texts and the key are hexadecimal still.
#[derive(Default)]
pub(crate) struct Vector<'t> {
    /// The line of the text on which the block starts, from 1.
    pub(crate) line: usize,
    source: &'t str,
    pub(crate) cipher: &'t str,
    pub(crate) key: &'t str,
    pub(crate) iv: &'t str,
    /// Associated data, of AEADs.
    pub(crate) aad: &'t str,
    /// Bytes of key stream before these.
    pub(crate) offset: usize,
    pub(crate) plaintext: &'t str,
    pub(crate) ciphertext: &'t str,
}

impl<'t> Vector<'t> {
    /// Where it comes from.
    pub(crate) fn source(&self) -> &'t str {
        self.source
    }

    /// Whether somebody published it as it stands, rather than an implementation computed it.
    pub(crate) fn is_published(&self) -> bool {
        !self.source.starts_with("computed")
    }
}

/// A line that is none of a vector, by its number from 1.
pub(crate) struct Malformed(pub(crate) usize);

/// The blocks of a text, one after the other.
pub(crate) struct Vectors<'t> {
    lines: core::iter::Enumerate<core::str::Lines<'t>>,
    source: &'t str,
}

impl<'t> Vectors<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { lines: text.lines().enumerate(), source: "" }
    }

    fn block(&mut self) -> Result<Option<Vector<'t>>, Malformed> {
        let mut vector = Vector::default();
        for (index, line) in self.lines.by_ref() {
            let malformed = Malformed(index + 1);
            match line.split_once(' ').unwrap_or((line, "")) {
                ("", _) if vector.line > 0 => break,
                ("", _) => {}
                ("#", comment) => self.source = comment.strip_prefix("source: ").unwrap_or(self.source),
                (_, "") => return Err(malformed),
                ("cipher", value) => (vector.cipher, vector.line) = (value, index + 1),
                _ if vector.line == 0 => return Err(malformed),
                ("key", value) => vector.key = value,
                ("iv", value) => vector.iv = value,
                ("aad", value) => vector.aad = value,
                ("offset", value) => vector.offset = value.parse().map_err(|_| malformed)?,
                ("plaintext", value) => vector.plaintext = value,
                ("ciphertext", value) => vector.ciphertext = value,
                _ => return Err(malformed),
            }
        }
        vector.source = self.source;
        let whole = !vector.source.is_empty() && vector.plaintext.len() <= vector.ciphertext.len();
        match vector.line {
            0 => Ok(None),
            _ if whole && !vector.ciphertext.is_empty() => Ok(Some(vector)),
            line => Err(Malformed(line)),
        }
    }
}

impl<'t> Iterator for Vectors<'t> {
    type Item = Result<Vector<'t>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        self.block().transpose()
    }
}

/// The bytes that `hex` writes, put at the start of `buffer`; `None` where it writes none or too many.
pub(crate) fn decode<'b>(hex: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let (digits, odd) = hex.as_bytes().as_chunks::<2>();
    let bytes = buffer.get_mut(..digits.len()).filter(|_| odd.is_empty())?;
    for (byte, [high, low]) in bytes.iter_mut().zip(digits) {
        *byte = (nibble(*high)? << 4) | nibble(*low)?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
