//! Schemes of key establishment, by those that carry out their operations.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use wattlock_records::PlannedCase;

use crate::establish::{self, Provider, SCHEMES, Scheme, Timed, proof};
use crate::implementation::About;
use crate::prepared::Prepared;
use crate::subject::{Description, Kind, Payloads, Proven, Sources, Subject, Variant};

/// All schemes.
pub struct Schemes;

impl Kind for Schemes {
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(SCHEMES.iter().map(|scheme| scheme.id))
    }

    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        match establish::scheme(id) {
            Some(scheme) => Ok(Box::new(scheme)),
            None => Err("no such scheme".to_owned()),
        }
    }

    fn encrypts_no_message(&self) -> Option<[&'static str; 2]> {
        Some([
            "it establishes keys or signs, it encrypts no message of any length",
            "a study measures it: operation = [\"agree\"] and so on",
        ])
    }
}

impl Subject for &'static Scheme {
    fn description(&self) -> Description {
        Description {
            id: self.id.to_owned(),
            card: self.id,
            family: self.id,
            mode: "establish".to_owned(),
            key_bits: self.key_bits,
            effective_bits: self.key_bits,
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: 0,
            source: self.source,
            has_payload: false,
            operations: Some(self.operations),
            public_key_B: Some(self.public_key_B),
            message_B: Some(self.message_B),
        }
    }

    fn providers(&self, sources: &dyn Sources) -> Vec<String> {
        sources.exchanges().iter().map(|provider| provider.name().to_owned()).collect()
    }

    fn proof(&self, provider: &str, sources: &dyn Sources) -> String {
        let all = sources.exchanges();
        let provider = all.iter().find(|one| one.name() == provider);
        provider.map_or_else(String::new, |provider| proof::how(*provider, self))
    }

    fn variant(&self, provider: &str, sources: &dyn Sources) -> Result<Box<dyn Variant>, String> {
        let all = sources.exchanges();
        let provider = establish::named(&all, provider, self)?;
        Ok(Box::new(Exchanged { scheme: self, version: provider.version(self)?, provider, all }))
    }
}

/// A scheme by one provider.
struct Exchanged {
    scheme: &'static Scheme,
    provider: Provider,
    version: String,
    /// Against whom it is proven.
    all: Vec<Provider>,
}

impl Variant for Exchanged {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn about(&self) -> Option<About> {
        self.provider.about()
    }

    fn prove(&self) -> Result<Proven, String> {
        proof::prove(self.provider, self.scheme, &self.all).map(Proven::by)
    }

    fn prepare(&self, planned: &PlannedCase, _payloads: &dyn Payloads, seed: u64) -> Result<Box<dyn Prepared>, String> {
        let step = establish::prepare(self.provider, self.scheme, planned.operation, planned.keying, seed)?;
        Ok(Box::new(Timed::of(step)))
    }
}
