//! Which of the keys that somebody has a pair agreed on, and why none of them.

use core::fmt;

use super::akm::Akm;
use super::elements::Mobility;
use super::keys::{Brought, PmkR1, Ptk};
use crate::{Address, Error, Malformed};

/// A key that keys of pairs are made of.
#[derive(Clone, Copy)]
pub struct Master<'a> {
    /// A pairwise master key; of a fast transition the key that the domain's are made of.
    pub key: &'a [u8],
    /// Whether it is made of a passphrase: only of a suite with a pre-shared key it can be the one.
    pub of_passphrase: bool,
}

/// What somebody who listens was given, or has heard.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// The keys.
    pub masters: &'a [Master<'a>],
    /// Names that the network may have: they go into the keys of a mobility domain.
    pub names: &'a [&'a [u8]],
}

/// Why a handshake gave no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The first or the third frame is missing, and with it the authenticator's nonce.
    NoAuthenticator,
    /// The second frame is missing, and with it the supplicant's nonce.
    NoSupplicant,
    /// How keys of its suite are made is not followed.
    NotFollowed,
    /// None of the keys given can be of its suite.
    NoMaster,
    /// It is of a mobility domain and does not say who holds the domain's keys.
    NoHolder,
    /// It is of a mobility domain, and the network's name is not known.
    NoName,
    /// Under none of the keys given its MIC is right.
    WrongMaster,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAuthenticator => "frames 1 and 3 are missing: the access point's nonce is not known",
            Self::NoSupplicant => "frame 2 is missing: the station's nonce is not known",
            Self::NotFollowed => "keys of this key management are not followed",
            Self::NoMaster => "no key of this key management was given",
            Self::NoHolder => "it does not name the holders of the mobility domain's keys",
            Self::NoName => "the network's name is not known",
            Self::WrongMaster => "its MIC is right under none of the keys given",
        })
    }
}

/// What a pair shows of how it makes its key.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) akm: Akm,
    /// Of a fast transition.
    pub(super) mobility: Option<&'a Mobility>,
    pub(super) brought: Brought<'a>,
    /// Lengths that the temporal key may have.
    pub(super) temporal_B: &'a [usize],
}

impl Shown<'_> {
    fn station(&self) -> Address {
        self.brought.addresses[1]
    }

    /// The pair's key, of the keys that are known: the one under which something is verified.
    pub(super) fn agreed(
        &self,
        known: &Known<'_>,
        mut verify: impl FnMut(&Ptk) -> Result<(), Error>,
    ) -> Result<Ptk, Why> {
        if !self.akm.is_followed() {
            return Err(Why::NotFollowed);
        }
        let mut right = |ptk: Result<Ptk, Error>| ptk.ok().filter(|ptk| verify(ptk).is_ok());
        let mut why = Why::NoMaster;
        for master in known.masters {
            let may_be = self.akm.takes_passphrase() || !master.of_passphrase;
            if !may_be || self.akm.keys(master.key.len()).is_none() {
                continue;
            }
            let mut try_all = |derive: &dyn Fn(usize) -> Result<Ptk, Error>| {
                self.temporal_B.iter().find_map(|temporal_B| right(derive(*temporal_B)))
            };
            let found = if self.akm.is_fast_transition() {
                let mobility = self.mobility.ok_or(Why::NoHolder)?;
                why = why.max(Why::NoName);
                known.names.iter().find_map(|name| {
                    let pmk = PmkR1::derive(self.akm, master.key, &mobility.holders(name, self.station())).ok()?;
                    why = Why::WrongMaster;
                    try_all(&|temporal_B| Ptk::derive_fast(self.akm, &pmk, &self.brought, temporal_B))
                })
            } else {
                why = Why::WrongMaster;
                try_all(&|temporal_B| Ptk::derive(self.akm, master.key, &self.brought, temporal_B))
            };
            if let Some(ptk) = found {
                return Ok(ptk);
            }
        }
        Err(why)
    }
}

/// A refusal as an error of a frame.
impl From<Why> for Error {
    fn from(why: Why) -> Self {
        match why {
            Why::NoHolder | Why::NotFollowed => Malformed::KeyFrame.into(),
            _ => Self::Mic,
        }
    }
}
