//! Ciphers of the catalogue, by the codes that are built in and by libraries.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use wattlock_ciphers::{Mode, Spec, Timing, cards, proof};
use wattlock_records::{CodePath, PlannedCase};

use crate::implementation::{About, Offer};
use crate::prepared::Prepared;
use crate::subject::{Description, Kind, Payloads, Proven, Sources, Subject, Variant};

/// All ciphers.
pub struct Ciphers;

impl Kind for Ciphers {
    fn ids(&self) -> Box<dyn Iterator<Item = &'static str>> {
        Box::new(cards().flat_map(|card| card.listed.iter().copied()))
    }

    fn find(&self, id: &str) -> Result<Box<dyn Subject>, String> {
        Spec::parse(id).map(|spec| -> Box<dyn Subject> { Box::new(spec) }).map_err(|error| error.to_string())
    }
}

impl Subject for Spec {
    fn description(&self) -> Description {
        Description {
            id: self.to_string(),
            card: self.card.id,
            family: self.card.family,
            mode: self.card.mode.to_string(),
            key_bits: self.key_bits,
            effective_bits: self.effective_bits,
            block_bits: self.card.block_bits,
            rounds: self.rounds,
            iv_B: self.iv_B(),
            tag_bits: self.card.tag_bits,
            source: self.card.source,
            has_payload: true,
            operations: None,
            public_key_B: None,
            message_B: None,
        }
    }

    fn providers(&self, sources: &dyn Sources) -> Vec<String> {
        sources.cipher_providers(self)
    }

    /// The sources of its vectors, and what stands beside them.
    fn proof(&self, _provider: &str, _sources: &dyn Sources) -> String {
        let mut sources: Vec<&str> = Vec::new();
        for source in proof::sources(self) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        if self.card.mode != Mode::Aead {
            sources.push("compared block by block with its definition");
        }
        sources.join("; ")
    }

    fn variant(&self, provider: &str, sources: &dyn Sources) -> Result<Box<dyn Variant>, String> {
        Ok(Box::new(Cipher { spec: *self, offer: sources.cipher(provider, self)? }))
    }
}

/// A cipher by one provider.
struct Cipher {
    spec: Spec,
    offer: Offer,
}

impl Variant for Cipher {
    fn version(&self) -> String {
        self.offer.version.clone()
    }

    fn path(&self) -> Option<CodePath> {
        self.offer.code.path()
    }

    fn of(&self) -> Option<String> {
        self.offer.code.of().map(str::to_owned)
    }

    fn about(&self) -> Option<About> {
        self.offer.about.clone()
    }

    fn timing(&self) -> Option<Timing> {
        self.offer.code.timing()
    }

    fn prove(&self) -> Result<Proven, String> {
        let proof = self.offer.code.prove(&self.spec).map_err(|error| error.to_string())?;
        let (vectors, published) = (proof.vectors, proof.published);
        Ok(Proven { kind: proof.kind, vectors, published, composed: proof.composed })
    }

    fn prepare(&self, planned: &PlannedCase, payloads: &dyn Payloads, seed: u64) -> Result<Box<dyn Prepared>, String> {
        let payload = match planned.data.as_str() {
            "random" | "none" => None,
            label => Some(payloads.bytes(label).ok_or_else(|| format!("the plan has no data line for {label:?}"))?),
        };
        self.offer.code.bind(&self.spec, planned, payload, seed)
    }
}
