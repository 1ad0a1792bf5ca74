//! The plan: one case a line, its fields apart by spaces, a zero byte at the end.
//!
//! `NUMBER CIPHER PROVIDER OPERATION KEYING PAYLOAD_B AAD_B SEED STACK_B`; a stack of 0 bytes is all that there is.
#![forbid(unsafe_code)]

use wattlock_ciphers::establish;

/// What is counted. The names are those of `wattlock-records`, which needs an allocator, and an image has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A whole message from plaintext to ciphertext.
    Encrypt,
    /// A whole message from ciphertext to plaintext.
    Decrypt,
    /// The key schedule alone.
    KeySetup,
    /// A whole message from plaintext to ciphertext and tag.
    Seal,
    /// A whole message from ciphertext and tag to plaintext.
    Open,
    /// A message whose tag is wrong, up to its refusal.
    OpenForged,
    /// A frame from the clear to its protected form.
    Protect,
    /// A protected frame back to the clear.
    Unprotect,
    /// What a scheme of key establishment or signatures does.
    Establish(establish::Operation),
}

impl Operation {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "encrypt" => Self::Encrypt,
            "decrypt" => Self::Decrypt,
            "key_setup" => Self::KeySetup,
            "seal" => Self::Seal,
            "open" => Self::Open,
            "open_forged" => Self::OpenForged,
            "protect" => Self::Protect,
            "unprotect" => Self::Unprotect,
            _ => Self::Establish(establish::Operation::named(name)?),
        })
    }

    /// Whether it starts from a ciphertext.
    pub fn is_backward(self) -> bool {
        matches!(self, Self::Decrypt | Self::Open | Self::OpenForged)
    }
}

/// One case.
#[derive(Debug, Clone, Copy)]
pub struct Case<'p> {
    /// Its number in the run.
    pub number: u32,
    /// The id of the cipher, the scheme or the protocol.
    pub cipher: &'p str,
    /// Whose code.
    pub provider: &'p str,
    /// What is counted.
    pub operation: Operation,
    /// Whether the key schedule, or reading the keys, is counted with each message.
    pub keyed_each: bool,
    /// Plaintext, bytes.
    pub payload_B: usize,
    /// Associated data, bytes.
    pub aad_B: usize,
    /// Of key, IV, payload and associated data.
    pub seed: u64,
    /// The stack that the counted call gets, bytes; 0 for all that there is.
    pub stack_B: usize,
}

impl<'p> Case<'p> {
    /// A line of the plan; `None` where it is none.
    pub fn read(line: &'p str) -> Option<Self> {
        let mut fields = line.split(' ');
        let mut next = || fields.next();
        let case = Self {
            number: next()?.parse().ok()?,
            cipher: next()?,
            provider: next()?,
            operation: Operation::named(next()?)?,
            keyed_each: match next()? {
                "ready" => false,
                "each" => true,
                _ => return None,
            },
            payload_B: next()?.parse().ok()?,
            aad_B: next()?.parse().ok()?,
            seed: next()?.parse().ok()?,
            stack_B: next()?.parse().ok()?,
        };
        fields.next().is_none().then_some(case)
    }
}

/// The lines of a plan.
pub fn lines(plan: &[u8]) -> core::str::Lines<'_> {
    let end = plan.iter().position(|byte| *byte == 0).unwrap_or(plan.len());
    core::str::from_utf8(&plan[..end]).unwrap_or_default().lines()
}
