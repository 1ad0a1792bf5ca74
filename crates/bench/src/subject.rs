//! What can be measured: a row of the catalogue, by one provider or several, each proven and made ready for the clock.
//!
//! A [`Kind`] lists and finds its [`Subject`]s; a subject by one provider is a [`Variant`]. Whoever measures, lists or
//! proves asks the [`Registry`] and knows no kind by name.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use wattlock_ciphers::{Spec, Timing};
use wattlock_records::{CodePath, Operation, PlannedCase};

use crate::establish::Provider;
use crate::implementation::{About, Offer};
use crate::prepared::Prepared;

/// What is known of a subject, whoever's code it is.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its id: `aes128-cbc`, `x25519`, `ccmp128`.
    pub id: String,
    /// The card that it is of, its parameters left out.
    pub card: &'static str,
    /// Family of the cipher, or the scheme or protocol itself.
    pub family: &'static str,
    /// Mode of operation; `establish` and `frame` of what is no cipher.
    pub mode: String,
    /// Bits of the key given.
    pub key_bits: u16,
    /// Bits of it that count.
    pub effective_bits: u16,
    /// Bits of a block; 8 of a stream cipher, 0 where there is none.
    pub block_bits: u16,
    /// Rounds, where they are a parameter.
    pub rounds: Option<u8>,
    /// Bytes of an IV or a nonce.
    pub iv_B: usize,
    /// Bits of the tag; 0 without one.
    pub tag_bits: u16,
    /// Where it is defined.
    pub source: &'static str,
    /// Whether a call has a payload.
    pub has_payload: bool,
    /// What can be done, where that is not what any cipher can.
    pub operations: Option<&'static [Operation]>,
    /// Of key establishment: bytes of the public key on the wire.
    pub public_key_B: Option<u16>,
    /// Of key establishment: bytes of what is sent beside it.
    pub message_B: Option<u16>,
}

/// By what something was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    /// The strongest of its proofs: `published`, `computed`, `composition`, `agreement`, `round trip`.
    pub kind: &'static str,
    /// Vectors that passed.
    pub vectors: u16,
    /// Those of them that somebody published.
    pub published: u16,
    /// Whether the mode was compared with a plain loop over its primitive.
    pub composed: bool,
}

impl Proven {
    /// Proven by this alone.
    #[must_use]
    pub fn by(kind: &'static str) -> Self {
        Self { kind, vectors: 0, published: 0, composed: false }
    }
}

/// Where code comes from that is not the subject's own: what is built in and libraries.
pub trait Sources {
    /// The names of those that may have a cipher.
    fn cipher_providers(&self, spec: &Spec) -> Vec<String>;

    /// A provider's code for a cipher.
    ///
    /// # Errors
    /// Why it has none.
    fn cipher(&self, provider: &str, spec: &Spec) -> Result<Offer, String>;

    /// Those that carry out the operations of key establishment.
    fn exchanges(&self) -> Vec<Provider>;
}

/// The payloads that a plan names.
pub trait Payloads {
    /// The bytes under this label.
    fn bytes(&self, label: &str) -> Option<Rc<[u8]>>;
}

/// A group of subjects that are found, proven and prepared alike.
pub trait Kind {
    /// The ids that are listed.
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>>;

    /// The subject of this id, listed or not.
    ///
    /// # Errors
    /// Why there is none.
    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String>;

    /// Why nothing of this kind encrypts a message of any length, and what does what it does; `None` of ciphers.
    fn encrypts_no_message(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// One thing that can be measured.
pub trait Subject {
    /// What is known of it.
    fn description(&self) -> Description;

    /// The names of those that may have it.
    fn providers(&self, sources: &dyn Sources) -> Vec<String>;

    /// How a provider's code for it is proven, in words.
    fn proof(&self, provider: &str, sources: &dyn Sources) -> String;

    /// It, by one provider.
    ///
    /// # Errors
    /// Why that provider has none.
    fn variant(&self, provider: &str, sources: &dyn Sources) -> Result<Box<dyn Variant>, String>;
}

/// A subject by one provider.
pub trait Variant {
    /// Version of the code.
    fn version(&self) -> String;

    /// The path that the code takes on this processor; `None` where it is not known.
    fn path(&self) -> Option<CodePath> {
        None
    }

    /// Which part of the provider it is of; `None` where it has none.
    fn of(&self) -> Option<String> {
        None
    }

    /// The library and its file; `None` of what is built in.
    fn about(&self) -> Option<About> {
        None
    }

    /// What the time of the code depends on, where that is known.
    fn timing(&self) -> Option<Timing> {
        None
    }

    /// Proves it: nothing is timed before.
    ///
    /// # Errors
    /// The first difference.
    fn prove(&self) -> Result<Proven, String>;

    /// Makes a planned case of it ready for the clock.
    ///
    /// # Errors
    /// Why this combination of factors makes no case; what went wrong at the very length that is timed.
    fn prepare(&self, planned: &PlannedCase, payloads: &dyn Payloads, seed: u64) -> Result<Box<dyn Prepared>, String>;
}

/// What of some ids can be measured, and the ids that nobody knows, each with the reason.
pub type Chosen = (Vec<Box<dyn Subject>>, Vec<(String, String)>);

/// All that can be measured.
#[derive(Clone, Copy)]
pub struct Registry<'k>(&'k [&'k dyn Kind]);

impl<'k> Registry<'k> {
    /// What these kinds list; the first one says why there is no subject of an id that nobody knows.
    #[must_use]
    pub const fn of(kinds: &'k [&'k dyn Kind]) -> Self {
        Self(kinds)
    }

    /// The ids that are listed, in the kinds' order.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> + use<'k> {
        self.0.iter().flat_map(|kind| kind.ids())
    }

    /// The subject of an id.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        let mut found = self.0.iter().map(|kind| kind.find(id));
        let first = found.next().unwrap_or_else(|| Err("nothing can be measured".to_string()));
        first.or_else(|reason| found.find_map(Result::ok).ok_or(reason))
    }

    /// The kind of an id.
    #[must_use]
    pub fn kind(&self, id: &str) -> Option<&'k dyn Kind> {
        self.0.iter().copied().find(|kind| kind.find(id).is_ok())
    }

    /// The subjects of `ids`, kind by kind; all that are listed where it names none.
    #[must_use]
    pub fn chosen(&self, ids: &[String]) -> Chosen {
        if ids.is_empty() {
            return (self.ids().filter_map(|id| self.find(id).ok()).collect(), Vec::new());
        }
        let subjects = self.0.iter().flat_map(|kind| ids.iter().filter_map(|id| kind.find(id).ok())).collect();
        let unknown = ids.iter().filter_map(|id| Some((id.clone(), self.find(id).err()?))).collect();
        (subjects, unknown)
    }
}
