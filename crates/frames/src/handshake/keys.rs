//! Keys of keys: a passphrase's, a pair's, those of a mobility domain, and the temporal one that protects frames.

use cmac::Cmac;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::akm::{Akm, Hash, Keys};
use crate::{Address, Error, Malformed, Protocol};

/// Octets of a pre-shared key, and of most master keys.
pub const PMK_B: usize = 32;
/// The longest master key: of OWE with SHA-512.
pub const MOST_PMK_B: usize = 64;
/// Octets of a nonce.
pub const NONCE_B: usize = 32;
/// Octets of the name of a key.
pub const NAME_B: usize = 16;
/// The rounds of PBKDF2 (J.4.1).
const ROUNDS: u32 = 4096;
/// KCK, KEK and a temporal key, of 32 octets each.
const MOST_PTK_B: usize = 96;

/// The PSK of a passphrase in a network.
///
/// # Source
/// IEEE Std 802.11-2020, J.4: PBKDF2 of HMAC-SHA-1 with 4096 rounds.
#[must_use]
pub fn psk(passphrase: &[u8], ssid: &[u8]) -> Zeroizing<[u8; PMK_B]> {
    let mut key = Zeroizing::new([0; PMK_B]);
    pbkdf2::pbkdf2_hmac::<Sha1>(passphrase, ssid, ROUNDS, &mut *key);
    key
}

pub(super) fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Result<M, Error> {
    let mut mac = <M as KeyInit>::new_from_slice(key);
    if let Ok(mac) = &mut mac {
        parts.iter().for_each(|part| mac.update(part));
    }
    mac.map_err(|_| Error::WrongKeyLength { given_B: key.len(), right_B: 16 })
}

/// A MIC, as long as `output`.
pub(super) fn mic(made_with: MadeWith, key: &[u8], parts: &[&[u8]], output: &mut [u8]) -> Result<(), Error> {
    let length_B = output.len();
    let mut fill = |whole: &[u8]| {
        let cut = whole.get(..length_B).ok_or(Malformed::KeyFrame)?;
        output.copy_from_slice(cut);
        Ok(())
    };
    match made_with {
        MadeWith::Md5 => fill(&mac::<Hmac<Md5>>(key, parts)?.finalize().into_bytes()),
        MadeWith::Cmac => fill(&mac::<Cmac<aes::Aes128>>(key, parts)?.finalize().into_bytes()),
        MadeWith::Hmac(Hash::Sha1) => fill(&mac::<Hmac<Sha1>>(key, parts)?.finalize().into_bytes()),
        MadeWith::Hmac(Hash::Sha256) => fill(&mac::<Hmac<Sha256>>(key, parts)?.finalize().into_bytes()),
        MadeWith::Hmac(Hash::Sha384) => fill(&mac::<Hmac<Sha384>>(key, parts)?.finalize().into_bytes()),
        MadeWith::Hmac(Hash::Sha512) => fill(&mac::<Hmac<Sha512>>(key, parts)?.finalize().into_bytes()),
    }
}

/// What a MIC is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MadeWith {
    Md5,
    Cmac,
    Hmac(Hash),
}

/// PRF-n of 12.7.1.2, with SHA-1.
///
/// # Errors
/// None that a key of any length could cause.
pub fn prf_sha1(key: &[u8], label: &[u8], context: &[u8], output: &mut [u8]) -> Result<(), Error> {
    for (count, block) in (0..=u8::MAX).zip(output.chunks_mut(20)) {
        let whole = mac::<Hmac<Sha1>>(key, &[label, &[0], context, &[count]])?.finalize().into_bytes();
        block.copy_from_slice(&whole[..block.len()]);
    }
    Ok(())
}

/// KDF-Hash-Length of 12.7.1.7.2; with SHA-1 the PRF in its place. The length is a part of what is hashed.
///
/// # Errors
/// [`Malformed::TooLong`] of an output of 8 KiB or more.
pub fn kdf(hash: Hash, key: &[u8], label: &[u8], context: &[u8], output: &mut [u8]) -> Result<(), Error> {
    let block_B = match hash {
        Hash::Sha1 => return prf_sha1(key, label, context, output),
        Hash::Sha256 => 32,
        Hash::Sha384 => 48,
        Hash::Sha512 => 64,
    };
    let bits = u16::try_from(output.len() * 8).map_err(|_| Malformed::TooLong)?;
    for (count, block) in (1..=u16::MAX).zip(output.chunks_mut(block_B)) {
        let parts: [&[u8]; 4] = [&count.to_le_bytes(), label, context, &bits.to_le_bytes()];
        mic(MadeWith::Hmac(hash), key, &parts, block)?;
    }
    Ok(())
}

/// The name of a key: the first 16 octets of a hash (12.7.1.6.3).
fn name(hash: Hash, parts: &[&[u8]]) -> [u8; NAME_B] {
    fn first<D: Digest>(parts: &[&[u8]]) -> [u8; NAME_B] {
        let mut digest = D::new();
        parts.iter().for_each(|part| digest.update(part));
        let mut name = [0; NAME_B];
        name.copy_from_slice(&digest.finalize()[..NAME_B]);
        name
    }
    match hash {
        Hash::Sha384 => first::<Sha384>(parts),
        _ => first::<Sha256>(parts),
    }
}

/// Whose keys of a mobility domain: its name, the domain, the holders of PMK-R0 and PMK-R1 (12.7.1.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holders<'a> {
    /// The network's name.
    pub ssid: &'a [u8],
    /// The mobility domain, as its element has it.
    pub domain: [u8; 2],
    /// R0KH-ID, 1 to 48 octets.
    pub r0: &'a [u8],
    /// R1KH-ID.
    pub r1: Address,
    /// The station: S0KH-ID and S1KH-ID.
    pub station: Address,
}

/// PMK-R1 of a mobility domain, and the names of it and of PMK-R0.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PmkR1 {
    key: [u8; 48],
    length_B: usize,
    /// PMKR0Name.
    #[zeroize(skip)]
    pub r0_name: [u8; NAME_B],
    /// PMKR1Name.
    #[zeroize(skip)]
    pub r1_name: [u8; NAME_B],
}

impl PmkR1 {
    /// Derives PMK-R0 of the key of all (XXKey), and PMK-R1 of that.
    ///
    /// * `xxkey`: the PSK; of SAE its PMK; of EAP the second half of the MSK, or with SHA-384 its first 48 octets.
    ///
    /// # Errors
    /// [`Malformed::KeyFrame`] of names that are too long, [`Error::WrongKeyLength`] of another suite.
    ///
    /// # Source
    /// IEEE Std 802.11-2020, 12.7.1.6.3 and 12.7.1.6.4.
    pub fn derive(akm: Akm, xxkey: &[u8], of: &Holders<'_>) -> Result<Self, Error> {
        let wrong = Error::WrongKeyLength { given_B: xxkey.len(), right_B: PMK_B };
        let hash = akm.keys(xxkey.len()).filter(|_| akm.is_fast_transition()).ok_or(wrong)?.hash;
        let length_B = xxkey.len().min(48);
        let mut context = [0; 1 + 32 + 2 + 1 + 48 + 6];
        let mut end = 0;
        let lengths = [of.ssid.len(), of.r0.len()].map(u8::try_from);
        let [Ok(ssid_B), Ok(r0_B)] = lengths else { return Err(Malformed::KeyFrame.into()) };
        for part in [&[ssid_B], of.ssid, &of.domain, &[r0_B], of.r0, &of.station] {
            context.get_mut(end..end + part.len()).ok_or(Malformed::KeyFrame)?.copy_from_slice(part);
            end += part.len();
        }
        // PMK-R0, then the salt of its name.
        let mut r0 = Zeroizing::new([0; 48 + NAME_B]);
        kdf(hash, xxkey, b"FT-R0", &context[..end], &mut r0[..length_B + NAME_B])?;
        let r0_name = name(hash, &[b"FT-R0N", &r0[length_B..length_B + NAME_B]]);
        let mut made = Self { key: [0; 48], length_B, r0_name, r1_name: [0; NAME_B] };
        let mut holders = [0; 12];
        holders[..6].copy_from_slice(&of.r1);
        holders[6..].copy_from_slice(&of.station);
        kdf(hash, &r0[..length_B], b"FT-R1", &holders, &mut made.key[..length_B])?;
        made.r1_name = name(hash, &[b"FT-R1N", &r0_name, &holders]);
        Ok(made)
    }

    /// PMK-R1.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key[..self.length_B]
    }
}

/// What a pair brings to its key: address and nonce of the authenticator, which in most networks is the access point, and
/// of the supplicant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brought<'a> {
    /// Of the authenticator, of the supplicant.
    pub addresses: [Address; 2],
    /// Of the authenticator, of the supplicant.
    pub nonces: [&'a [u8; NONCE_B]; 2],
}

/// A pairwise transient key: KCK, KEK and the temporal key (12.7.1.3, 12.7.1.6.5).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Ptk {
    bytes: [u8; MOST_PTK_B],
    length_B: usize,
    #[zeroize(skip)]
    keys: Keys,
}

impl Ptk {
    /// Derives it of a master key.
    ///
    /// * `temporal_B`: octets of the temporal key, 16 or 32.
    ///
    /// # Errors
    /// [`Error::WrongKeyLength`] where `temporal_B` is above 32, or the master key is not as long as the suite's.
    pub fn derive(akm: Akm, pmk: &[u8], brought: &Brought<'_>, temporal_B: usize) -> Result<Self, Error> {
        let wrong = Error::WrongKeyLength { given_B: pmk.len(), right_B: PMK_B };
        let keys = akm.keys(pmk.len()).filter(|_| !akm.is_fast_transition()).ok_or(wrong)?;
        let [one, other] = brought.addresses;
        let [first, second] = brought.nonces;
        let context = [&one.min(other)[..], &one.max(other), first.min(second), first.max(second)];
        Self::expand(keys, pmk, b"Pairwise key expansion", context, temporal_B)
    }

    /// Derives it of PMK-R1 (12.7.1.6.5).
    ///
    /// # Errors
    /// As of [`Ptk::derive`].
    pub fn derive_fast(akm: Akm, pmk: &PmkR1, brought: &Brought<'_>, temporal_B: usize) -> Result<Self, Error> {
        let wrong = Error::WrongKeyLength { given_B: pmk.length_B, right_B: PMK_B };
        let keys = akm.keys(pmk.length_B).filter(|_| akm.is_fast_transition()).ok_or(wrong)?;
        let ([access_point, station], [anonce, snonce]) = (brought.addresses, brought.nonces);
        Self::expand(keys, pmk.key(), b"FT-PTK", [snonce, anonce, &access_point, &station], temporal_B)
    }

    fn expand(keys: Keys, master: &[u8], label: &[u8], context: [&[u8]; 4], temporal_B: usize) -> Result<Self, Error> {
        let mut joined = [0; 2 * 6 + 2 * NONCE_B];
        let mut end = 0;
        for part in context {
            joined[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        }
        let length_B = keys.kck_B + keys.kek_B + temporal_B;
        let mut ptk = Self { bytes: [0; MOST_PTK_B], length_B, keys };
        let wrong = Error::WrongKeyLength { given_B: temporal_B, right_B: 32 };
        let output = ptk.bytes.get_mut(..length_B).filter(|_| temporal_B <= 32).ok_or(wrong)?;
        kdf(keys.hash, master, label, &joined, output)?;
        Ok(ptk)
    }

    pub(super) fn keys(&self) -> Keys {
        self.keys
    }

    /// Confirms key frames.
    #[must_use]
    pub fn kck(&self) -> &[u8] {
        &self.bytes[..self.keys.kck_B]
    }

    /// Encrypts key data.
    #[must_use]
    pub fn kek(&self) -> &[u8] {
        &self.bytes[self.keys.kck_B..self.keys.kck_B + self.keys.kek_B]
    }

    /// Protects frames.
    #[must_use]
    pub fn temporal(&self) -> &[u8] {
        &self.bytes[self.keys.kck_B + self.keys.kek_B..self.length_B]
    }
}

/// The key that protects frames, and by which protocol.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Temporal {
    bytes: [u8; 32],
    length_B: usize,
    /// `None` where the handshake did not show it.
    #[zeroize(skip)]
    pub protocol: Option<Protocol>,
}

impl Temporal {
    pub(super) fn new(bytes: &[u8], protocol: Option<Protocol>) -> Result<Self, Error> {
        let mut temporal = Self { bytes: [0; 32], length_B: bytes.len(), protocol };
        temporal.bytes.get_mut(..bytes.len()).ok_or(Malformed::KeyFrame)?.copy_from_slice(bytes);
        Ok(temporal)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length_B]
    }
}
