//! What both sides make of the token: keys for each direction, and the tags of control messages.
//!
//! All that is kept is wiped when it is dropped. The crates leave the state of a hash that was at work on the stack.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{Reason, Refusal};

/// Bytes of the token.
pub const TOKEN_B: usize = 16;
/// Bytes of a nonce.
pub const NONCE_B: usize = 16;
/// Bytes of a tag and of a key of this protocol.
pub const TAG_B: usize = 32;
/// Bytes of a block of SHA-256.
const BLOCK_B: usize = 64;
/// Bytes of a session's public name.
pub const SESSION_B: usize = 8;

/// What both sides know and the network never sees.
pub struct Token(Zeroizing<[u8; TOKEN_B]>);

impl Token {
    /// A fresh one from the system.
    ///
    /// # Errors
    /// What the system says where it gives no random bytes.
    pub fn fresh() -> Result<Self, Refusal> {
        Ok(Self(Zeroizing::new(random()?)))
    }

    /// The token of its 32 hex digits, space around them ignored; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().as_bytes();
        let mut token = Zeroizing::new([0; TOKEN_B]);
        if text.len() != 2 * TOKEN_B {
            return None;
        }
        data_encoding::HEXLOWER_PERMISSIVE.decode_mut(text, &mut token[..]).ok()?;
        Some(Self(token))
    }

    /// Its 32 hex digits.
    pub fn shown(&self) -> Zeroizing<String> {
        Zeroizing::new(data_encoding::HEXLOWER.encode(&self.0[..]))
    }
}

/// Fresh random bytes.
///
/// # Errors
/// What the system says where it has none.
pub fn random<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::new(Reason::System, format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Who sends what a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side with the files.
    Sender,
    /// The side with the folder.
    Receiver,
}

impl Side {
    fn label(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// A key from which others are expanded, or of HMAC-SHA256.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; TAG_B]>);

impl Key {
    /// The pseudorandom key of the session with these nonces, from which all others come.
    ///
    /// # Source
    /// RFC 5869, 2.2: the salt is the receiver's nonce followed by the sender's, the input is the token.
    pub fn of_session(token: &Token, receiver: &[u8; NONCE_B], sender: &[u8; NONCE_B]) -> Self {
        let (mut first, _) = Hkdf::<Sha256>::extract(Some(&[*receiver, *sender].concat()), &token.0[..]);
        let mut key = Zeroizing::new([0; TAG_B]);
        key.copy_from_slice(&first);
        first.fill(0);
        Self(key)
    }

    /// The key of the control messages that `side` sends.
    ///
    /// # Errors
    /// None that can be, as of all that are below: HKDF gives up to 8160 bytes.
    pub fn control(&self, side: Side) -> Result<Self, Refusal> {
        self.key(&["control", side.label()])
    }

    /// The key from which the data that `side` sends are keyed. Files go one way, so that only the sender's is asked for.
    pub fn data(&self, side: Side) -> Result<Self, Refusal> {
        self.key(&["data", side.label()])
    }

    /// The key of the tag over a file's plaintext, from a key of data. The tag travels in the clear: being keyed, it tells
    /// nobody what the file is.
    pub fn plaintext(&self, file: u32) -> Result<Self, Refusal> {
        self.key(&["plaintext", &file.to_string()])
    }

    /// Key and IV of the measured cipher for one file, from a key of data.
    pub fn cipher(&self, file: u32, key: &mut [u8], iv: &mut [u8]) -> Result<(), Refusal> {
        let mut both = Zeroizing::new(vec![0; key.len() + iv.len()]);
        self.expand(&["cipher", &file.to_string()], &mut both)?;
        let (first, second) = both.split_at(key.len());
        key.copy_from_slice(first);
        iv.copy_from_slice(second);
        Ok(())
    }

    /// The public name of the session, by which records of both sides are joined and datagrams told from strangers'.
    pub fn session(&self) -> Result<[u8; SESSION_B], Refusal> {
        let mut session = [0; SESSION_B];
        self.expand(&["session"], &mut session)?;
        Ok(session)
    }

    fn key(&self, words: &[&str]) -> Result<Self, Refusal> {
        let mut key = Zeroizing::new([0; TAG_B]);
        self.expand(words, &mut key[..])?;
        Ok(Self(key))
    }

    /// RFC 5869, 2.3, with the words behind the protocol's name as `info`.
    fn expand(&self, words: &[&str], output: &mut [u8]) -> Result<(), Refusal> {
        let info = format!("wattlock transfer 1 {}", words.join(" "));
        let expanded = Hkdf::<Sha256>::from_prk(&self.0[..]).map(|hkdf| hkdf.expand(info.as_bytes(), output));
        match expanded {
            Ok(Ok(())) => Ok(()),
            _ => Err(Refusal::new(Reason::System, "HKDF gives no key of more than 8160 bytes")),
        }
    }

    /// The tag over `parts`, one after the other: HMAC-SHA256.
    ///
    /// # Source
    /// RFC 2104, 2: a key shorter than a block of the hash is filled up with zeros.
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_B] {
        let mut block = Zeroizing::new([0; BLOCK_B]);
        block[..TAG_B].copy_from_slice(&self.0[..]);
        let mut mac = Hmac::<Sha256>::new((&*block).into());
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }

    /// Whether `given` is that tag, in constant time.
    pub fn is_tag(&self, parts: &[&[u8]], given: &[u8]) -> bool {
        self.tag(parts).ct_eq(given).into()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap()
    }

    /// A key of up to 32 bytes; shorter ones are filled up with zeros, which is what HMAC does with them.
    fn key(bytes: &[u8]) -> Key {
        let mut key = Zeroizing::new([0; TAG_B]);
        key[..bytes.len()].copy_from_slice(bytes);
        Key(key)
    }

    #[test]
    fn tags_are_those_of_rfc_4231() {
        // RFC 4231, 4.2 to 4.5: key, data, HMAC-SHA-256.
        let counted: Vec<u8> = (1..=25).collect();
        let published: [(&[u8], &[u8], &str); 4] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (&counted, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        ];
        for (secret, data, tag) in published {
            let (first, rest) = data.split_at(3);
            assert_eq!(key(secret).tag(&[first, rest]).to_vec(), bytes(tag));
            assert!(key(secret).is_tag(&[data], &bytes(tag)));
            assert!(!key(secret).is_tag(&[data], &bytes(tag)[..31]));
            assert!(!key(secret).is_tag(&[data, &[0]], &bytes(tag)));
        }
    }

    #[test]
    fn the_derivation_is_that_of_rfc_5869() {
        // RFC 5869, A.1 and A.3: input, salt, info, pseudorandom key, output.
        let (input, salt) = ([0x0b; 22], bytes("000102030405060708090a0b0c"));
        let (first, hkdf) = Hkdf::<Sha256>::extract(Some(&salt), &input);
        assert_eq!(first.to_vec(), bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
        let mut output = [0; 42];
        hkdf.expand(&bytes("f0f1f2f3f4f5f6f7f8f9"), &mut output).unwrap();
        let right = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
        assert_eq!(output.to_vec(), bytes(right));
    }

    #[test]
    fn the_keys_are_those_of_the_rfcs_formula_spelled_out_by_hmac() {
        let token = Token::read("000102030405060708090a0b0c0d0e0f").unwrap();
        let (receiver, sender) = ([1; NONCE_B], [2; NONCE_B]);
        let session = Key::of_session(&token, &receiver, &sender);
        let first = key(&[receiver, sender].concat()).tag(&[&bytes("000102030405060708090a0b0c0d0e0f")]);
        assert_eq!(session.0[..], first);
        let control = session.control(Side::Sender).unwrap();
        assert_eq!(control.0[..], key(&first).tag(&[b"wattlock transfer 1 control sender", &[1]]));
        let data = session.data(Side::Sender).unwrap();
        let (mut secret, mut iv) = ([0; 32], [0; 16]);
        data.cipher(7, &mut secret, &mut iv).unwrap();
        let one = data.tag(&[b"wattlock transfer 1 cipher 7", &[1]]);
        let two = data.tag(&[&one, b"wattlock transfer 1 cipher 7", &[2]]);
        assert_eq!((secret, &iv[..]), (one, &two[..16]));
    }

    #[test]
    fn every_key_differs_from_every_other_and_with_token_nonce_and_file() {
        let mut keys = Vec::new();
        for (token, receiver, sender) in [("1", 1, 2), ("2", 1, 2), ("1", 3, 2), ("1", 1, 3), ("1", 2, 1)] {
            let session =
                Key::of_session(&Token::read(&token.repeat(32)).unwrap(), &[receiver; NONCE_B], &[sender; NONCE_B]);
            for side in [Side::Sender, Side::Receiver] {
                let data = session.data(side).unwrap();
                keys.push(session.control(side).unwrap().0.to_vec());
                for file in [0, 1] {
                    keys.push(data.plaintext(file).unwrap().0.to_vec());
                    let mut both = ([0; 32], [0; 16]);
                    data.cipher(file, &mut both.0, &mut both.1).unwrap();
                    keys.extend([both.0.to_vec(), both.1.to_vec()]);
                }
                keys.push(data.0.to_vec());
            }
        }
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_token_is_32_hex_digits_and_nothing_else() {
        let token = Token::fresh().unwrap();
        let shown = token.shown();
        assert_eq!(shown.len(), 32);
        assert_eq!(Token::read(&format!(" {}\r\n", shown.to_uppercase())).unwrap().shown(), shown);
        assert_ne!(Token::fresh().unwrap().shown(), shown);
        for wrong in ["", &shown[1..], &format!("{}0", &*shown), &format!("g{}", &shown[1..])] {
            assert!(Token::read(wrong).is_none(), "{wrong:?}");
        }
    }
}
