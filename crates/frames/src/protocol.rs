//! The protocols and their sizes.

use core::fmt;

use crate::Frame;

/// How frames are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// WEP with a key of 40 bits (12.3.2).
    Wep40,
    /// WEP with a key of 104 bits.
    Wep104,
    /// TKIP (12.5.2).
    Tkip,
    /// CCMP with keys of 128 bits and a MIC of 8 octets (12.5.3).
    Ccmp128,
    /// CCMP with keys of 256 bits and a MIC of 16 octets.
    Ccmp256,
    /// GCMP with keys of 128 bits (12.5.5).
    Gcmp128,
    /// GCMP with keys of 256 bits.
    Gcmp256,
}

/// Octets of Michael and of its key (12.5.2.3).
pub const MICHAEL_B: usize = 8;
/// The flag of an IV of 8 octets, in its fourth.
pub(crate) const EXTENDED_IV: u8 = 0x20;

impl Protocol {
    /// All of them, in the order of their years.
    pub const ALL: [Self; 7] =
        [Self::Wep40, Self::Wep104, Self::Tkip, Self::Ccmp128, Self::Ccmp256, Self::Gcmp128, Self::Gcmp256];

    /// Its id: `ccmp128`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wep40 => "wep40",
            Self::Wep104 => "wep104",
            Self::Tkip => "tkip",
            Self::Ccmp128 => "ccmp128",
            Self::Ccmp256 => "ccmp256",
            Self::Gcmp128 => "gcmp128",
            Self::Gcmp256 => "gcmp256",
        }
    }

    /// Bytes of a key; TKIP's is the temporal key of 16 and the two Michael keys of 8 (12.7.1.3, 12.7.2 table 12-8).
    #[must_use]
    pub const fn key_B(self) -> usize {
        match self {
            Self::Wep40 => 5,
            Self::Wep104 => 13,
            Self::Ccmp128 | Self::Gcmp128 => 16,
            Self::Tkip | Self::Ccmp256 | Self::Gcmp256 => 32,
        }
    }

    /// Octets between header and body: the IV, or the header of CCMP and GCMP.
    #[must_use]
    pub const fn head_B(self) -> usize {
        match self {
            Self::Wep40 | Self::Wep104 => 4,
            _ => 8,
        }
    }

    /// Octets behind the body: the ICV or the MIC.
    #[must_use]
    pub const fn tail_B(self) -> usize {
        match self {
            Self::Wep40 | Self::Wep104 | Self::Tkip => 4,
            Self::Ccmp128 => 8,
            Self::Ccmp256 | Self::Gcmp128 | Self::Gcmp256 => 16,
        }
    }

    /// Octets behind the MSDU, before it is cut into fragments: Michael.
    #[must_use]
    pub const fn msdu_tail_B(self) -> usize {
        match self {
            Self::Tkip => MICHAEL_B,
            _ => 0,
        }
    }

    /// The largest packet number, or IV.
    #[must_use]
    pub const fn largest_number(self) -> u64 {
        match self {
            Self::Wep40 | Self::Wep104 => (1 << 24) - 1,
            _ => (1 << 48) - 1,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The protocols by which a key of `key_B` bytes may have protected this frame, as the frame's own octets say.
///
/// WEP has no extended IV. TKIP repeats its first octet in the second, changed (12.5.2.2); CCMP and GCMP leave the third
/// one 0 and can't be told apart (12.5.3.2, 12.5.5.2).
pub fn fitting(frame: &Frame<'_>, key_B: usize) -> impl Iterator<Item = Protocol> + use<> {
    let head = frame.body().first_chunk::<4>().copied();
    Protocol::ALL.into_iter().filter(move |protocol| {
        let Some(head) = head else { return false };
        let fits = match protocol {
            Protocol::Wep40 | Protocol::Wep104 => head[3] & EXTENDED_IV == 0,
            _ if head[3] & EXTENDED_IV == 0 => false,
            Protocol::Tkip => head[1] == (head[0] | 0x20) & 0x7f,
            _ => head[2] == 0,
        };
        fits && protocol.key_B() == key_B
    })
}
