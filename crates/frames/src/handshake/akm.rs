//! Key managements: which hash makes the keys of a pair, how long they are, and what a MIC is made with.

use core::fmt;

/// An authentication and key management suite (9.4.2.24.3, table 9-151), by its selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Akm([u8; 4]);

/// The hash that keys are derived with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// The PRF of 12.7.1.2, of the first suites.
    Sha1,
    /// KDF-Hash-Length of 12.7.1.7.2.
    Sha256,
    /// The same.
    Sha384,
    /// The same.
    Sha512,
}

/// What makes the MIC of a key frame whose version leaves that to the suite (table 12-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integrity {
    Cmac,
    /// HMAC with the suite's hash, cut to the length of the MIC.
    Hmac,
}

/// The lengths and functions that go with a suite and a master key (table 12-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) hash: Hash,
    pub(crate) integrity: Integrity,
    pub(crate) kck_B: usize,
    pub(crate) kek_B: usize,
    pub(crate) mic_B: usize,
}

const fn keys(hash: Hash, integrity: Integrity, kck_B: usize, kek_B: usize) -> Option<Keys> {
    Some(Keys { hash, integrity, kck_B, kek_B, mic_B: kck_B })
}

const fn rsn(number: u8) -> Akm {
    Akm([0x00, 0x0f, 0xac, number])
}

impl Akm {
    /// WPA from before the standard, with 802.1X.
    pub const WPA_8021X: Self = Self([0x00, 0x50, 0xf2, 1]);
    /// WPA from before the standard, with a pre-shared key.
    pub const WPA_PSK: Self = Self([0x00, 0x50, 0xf2, 2]);
    /// 802.1X.
    pub const IEEE_8021X: Self = rsn(1);
    /// A pre-shared key.
    pub const PSK: Self = rsn(2);
    /// Fast transition with 802.1X, of EAP.
    pub const FT_8021X: Self = rsn(3);
    /// Fast transition with a pre-shared key.
    pub const FT_PSK: Self = rsn(4);
    /// 802.1X with SHA-256.
    pub const IEEE_8021X_SHA256: Self = rsn(5);
    /// A pre-shared key with SHA-256.
    pub const PSK_SHA256: Self = rsn(6);
    /// A direct link between two stations.
    pub const TDLS: Self = rsn(7);
    /// SAE, as of WPA3.
    pub const SAE: Self = rsn(8);
    /// Fast transition with SAE.
    pub const FT_SAE: Self = rsn(9);
    /// 802.1X with an EAP method of Suite B.
    pub const SUITE_B: Self = rsn(11);
    /// 802.1X of 192 bits: SHA-384 and a master key of 48 octets.
    pub const SUITE_B_192: Self = rsn(12);
    /// Fast transition with 802.1X and SHA-384.
    pub const FT_8021X_SHA384: Self = rsn(13);
    /// Opportunistic encryption (RFC 8110).
    pub const OWE: Self = rsn(18);

    /// The suite of these four octets.
    #[must_use]
    pub fn of(selector: &[u8]) -> Option<Self> {
        selector.try_into().ok().map(Self)
    }

    /// Whether keys begin with those of a mobility domain (12.7.1.6).
    #[must_use]
    pub fn is_fast_transition(self) -> bool {
        matches!(self, Self::FT_8021X | Self::FT_PSK | Self::FT_SAE | Self::FT_8021X_SHA384)
    }

    /// Whether a passphrase gives the master key: of SAE and OWE both sides draw it afresh, of 802.1X a server gives it.
    #[must_use]
    pub fn takes_passphrase(self) -> bool {
        matches!(self, Self::WPA_PSK | Self::PSK | Self::FT_PSK | Self::PSK_SHA256)
    }

    /// Whether the keys of this suite are followed at all, with the right master key.
    #[must_use]
    pub fn is_followed(self) -> bool {
        [32, 48, 64].into_iter().any(|pmk_B| self.keys(pmk_B).is_some())
    }

    /// Octets of the MIC in an element of this suite's fast transition (9.4.2.47).
    pub(super) fn mic_B(self) -> usize {
        if self == Self::FT_8021X_SHA384 { 24 } else { 16 }
    }

    /// What goes with a master key of so many octets; `None` where it is not as long as the suite's.
    ///
    /// # Source
    /// IEEE Std 802.11-2020, 12.7.3 (table 12-11); RFC 8110, 4.4, for OWE, whose hash goes with its group.
    pub(crate) fn keys(self, pmk_B: usize) -> Option<Keys> {
        match (self, pmk_B) {
            // Their key frames say by their version what makes the MIC.
            (Self::WPA_8021X | Self::WPA_PSK | Self::IEEE_8021X | Self::PSK, 32) => {
                keys(Hash::Sha1, Integrity::Hmac, 16, 16)
            }
            (
                Self::FT_8021X | Self::FT_PSK | Self::IEEE_8021X_SHA256 | Self::PSK_SHA256 | Self::SAE | Self::FT_SAE,
                32,
            ) => keys(Hash::Sha256, Integrity::Cmac, 16, 16),
            (Self::SUITE_B | Self::OWE, 32) => keys(Hash::Sha256, Integrity::Hmac, 16, 16),
            (Self::SUITE_B_192 | Self::FT_8021X_SHA384 | Self::OWE, 48) => keys(Hash::Sha384, Integrity::Hmac, 24, 32),
            (Self::OWE, 64) => keys(Hash::Sha512, Integrity::Hmac, 32, 32),
            _ => None,
        }
    }
}

impl fmt::Display for Akm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, number] = self.0;
        f.write_str(match self.0 {
            [0x00, 0x50, 0xf2, 1] => "WPA 802.1X",
            [0x00, 0x50, 0xf2, 2] => "WPA PSK",
            [0x00, 0x0f, 0xac, 1] => "802.1X",
            [0x00, 0x0f, 0xac, 2] => "PSK",
            [0x00, 0x0f, 0xac, 3] => "FT-802.1X",
            [0x00, 0x0f, 0xac, 4] => "FT-PSK",
            [0x00, 0x0f, 0xac, 5] => "802.1X-SHA256",
            [0x00, 0x0f, 0xac, 6] => "PSK-SHA256",
            [0x00, 0x0f, 0xac, 7] => "TDLS",
            [0x00, 0x0f, 0xac, 8] => "SAE",
            [0x00, 0x0f, 0xac, 9] => "FT-SAE",
            [0x00, 0x0f, 0xac, 10] => "AP-PeerKey",
            [0x00, 0x0f, 0xac, 11] => "Suite-B",
            [0x00, 0x0f, 0xac, 12] => "Suite-B-192",
            [0x00, 0x0f, 0xac, 13] => "FT-802.1X-SHA384",
            [0x00, 0x0f, 0xac, 14] => "FILS-SHA256",
            [0x00, 0x0f, 0xac, 15] => "FILS-SHA384",
            [0x00, 0x0f, 0xac, 16] => "FT-FILS-SHA256",
            [0x00, 0x0f, 0xac, 17] => "FT-FILS-SHA384",
            [0x00, 0x0f, 0xac, 18] => "OWE",
            [0x00, 0x0f, 0xac, 19] => "FT-PSK-SHA384",
            [0x00, 0x0f, 0xac, 20] => "PSK-SHA384",
            [0x00, 0x0f, 0xac, 24] => "SAE-EXT-KEY",
            [0x00, 0x0f, 0xac, 25] => "FT-SAE-EXT-KEY",
            _ => return write!(f, "{a:02x}-{b:02x}-{c:02x}:{number}"),
        })
    }
}
