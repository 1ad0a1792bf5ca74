//! The cases of a plan, as an image takes them.

use wattlock_bench::establish::{self, BuiltIn, Exchange as _};
use wattlock_bench::subject::{Description, Variant as _};
use wattlock_bench::subjects::{REGISTRY, protection};
use wattlock_ciphers::Spec;
use wattlock_frames::{MAX_BODY_B, Protocol};
use wattlock_records::{Case, CodePath, Encoding, Keying, Operation, Pattern, Placement, PlannedCase, Readiness, Role};

use super::adapter::Adapters;
use super::images::{Held, feature_of, feature_of_protocol, feature_of_scheme};

/// A case that an image can carry out.
#[derive(Clone)]
pub struct BoardCase<'p> {
    /// As planned.
    pub planned: &'p PlannedCase,
    /// What is known of the cipher, the scheme or the protocol.
    description: Description,
    held: Held<'p>,
    version: String,
}

impl<'p> BoardCase<'p> {
    /// A planned case, bound to what an image holds.
    ///
    /// * `adapters`: code of others, by the names of its providers.
    ///
    /// # Errors
    /// Why no image carries it out.
    pub fn of(planned: &'p PlannedCase, adapters: &'p Adapters) -> Result<Self, String> {
        if let Some(reason) = refused(planned) {
            return Err(reason.to_owned());
        }
        let PlannedCase { cipher, .. } = planned;
        let description = REGISTRY.find(cipher).map_err(|error| format!("cipher {cipher}: {error}"))?.description();
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.id() == cipher);
        let (held, version) = match (Spec::parse(cipher), establish::scheme(cipher), protocol) {
            (Ok(spec), ..) => of_cipher(planned, spec, adapters)?,
            (_, Some(scheme), _) => {
                let version = named_built_in(planned, BuiltIn.name()).and_then(|()| BuiltIn.version(scheme))?;
                (Held { feature: feature_of_scheme(scheme), adapted: None }, version)
            }
            (_, _, Some(protocol)) => of_protocol(planned, protocol)?,
            _ => return Err(format!("no image holds {cipher}: images have ciphers, key establishment and frames")),
        };
        Ok(Self { planned, description, held, version })
    }

    /// What the image holds that carries it out.
    pub fn held(&self) -> Held<'p> {
        self.held
    }

    /// The line that the image reads.
    ///
    /// * `seed`: of the process. `stack_B`: what the counted call gets, 0 for all that there is.
    pub fn line(&self, seed: u64, stack_B: u32) -> String {
        let PlannedCase { case, cipher, provider, operation, keying, payload_B, aad_B, .. } = self.planned;
        let keying = if *keying == Keying::Each { "each" } else { "ready" };
        let operation = operation_name(*operation);
        format!("{case} {cipher} {provider} {operation} {keying} {payload_B} {aad_B} {seed} {stack_B}\n")
    }

    /// The case as a header has it.
    ///
    /// * `path`: the way that the code takes in the image.
    pub fn record(&self, path: &str) -> Case {
        let Self { planned, description, held, version } = self;
        let path = match held.adapted {
            Some((adapter, _)) => adapter.path(),
            None => CodePath::named(path),
        };
        Case {
            planned: (*planned).clone(),
            family: description.family.to_owned(),
            mode: description.mode.clone(),
            path,
            of: None,
            version: version.clone(),
            key_bits: description.key_bits.into(),
            block_bits: description.block_bits.into(),
            rounds: description.rounds.map(u32::from),
            tag_bits: (description.tag_bits > 0).then(|| description.tag_bits.into()),
            calls: 1,
            segments: 1,
            segment_B: None,
            core_class: None,
        }
    }
}

/// What carries out a case of a cipher, and the version of its code.
fn of_cipher<'p>(planned: &'p PlannedCase, spec: Spec, adapters: &'p Adapters) -> Result<(Held<'p>, String), String> {
    let provider = &planned.provider;
    let feature = feature_of(&spec);
    match (adapters.get(provider), spec.code(provider)) {
        (Some(Err(why)), _) => Err(why.hint.iter().fold(why.message.clone(), |all, hint| all + "; " + hint)),
        (Some(Ok(adapter)), _) if adapter.has(&spec) => {
            Ok((Held { feature, adapted: Some((adapter, spec)) }, adapter.version().to_owned()))
        }
        (Some(_), _) => Err(format!("library {provider} has no {spec}: its adapter.toml names what it has")),
        (None, Some(code)) => Ok((Held { feature, adapted: None }, code.version.to_owned())),
        (None, None) => Err(no_such_provider(provider)),
    }
}

/// What carries out a case of a protocol, and the version of its code.
fn of_protocol<'p>(planned: &PlannedCase, protocol: Protocol) -> Result<(Held<'p>, String), String> {
    named_built_in(planned, protection::PROVIDER)?;
    if !matches!(planned.operation, Operation::Protect | Operation::Unprotect) {
        let operation = operation_name(planned.operation);
        return Err(format!("{protocol} has no operation {operation}: it has protect and unprotect"));
    }
    if planned.payload_B > MAX_BODY_B as u64 {
        return Err(format!("a frame carries at most {MAX_BODY_B} bytes, not {}", planned.payload_B));
    }
    Ok((Held { feature: Some(feature_of_protocol(protocol)), adapted: None }, protocol.version()))
}

/// Refuses every provider but the one that is built in.
fn named_built_in(planned: &PlannedCase, built_in: &str) -> Result<(), String> {
    if planned.provider == built_in { Ok(()) } else { Err(no_such_provider(&planned.provider)) }
}

fn no_such_provider(provider: &str) -> String {
    format!("no image holds {provider}: only what is built in runs there")
}

fn operation_name(operation: Operation) -> String {
    serde_json::to_value(operation).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Why a combination of factors is none for an image; `None` where it is one.
fn refused(planned: &PlannedCase) -> Option<&'static str> {
    let PlannedCase { role, operation, keying, encoding, placement, pattern, data, readiness, .. } = planned;
    if !matches!(role, Role::Study | Role::Reference) {
        Some("instructions need no self-check: only the study's own cases are counted")
    } else if *operation == Operation::KeySetup && *keying == Keying::Each {
        Some("a key setup with a key setup in every packet is no case")
    } else if *encoding != Encoding::Raw {
        Some("an image has no encoder: encoding raw")
    } else if *placement != Placement::Hot {
        Some("an image has one packet: placement hot")
    } else if *pattern != Pattern::Independent {
        Some("an image has one packet: pattern independent")
    } else if *readiness != Readiness::Steady {
        Some("an image counts calls one after another: readiness steady")
    } else if !["random", "none"].contains(&data.as_str()) {
        Some("an image has no room for files: data random")
    } else {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn planned(change: &str) -> PlannedCase {
        let mut fields = serde_json::json!({
            "case": 3, "role": "study", "cipher": "aes128-ctr", "provider": "rustcrypto", "operation": "encrypt",
            "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "payload_B": 64,
            "data": "random",
        });
        if let Some((key, value)) = change.split_once('=') {
            fields[key] = value.into();
        }
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn a_case_is_one_line_of_the_images_plan() {
        let (planned, none) = (planned(""), Adapters::new());
        let case = BoardCase::of(&planned, &none).unwrap();
        assert_eq!(case.line(7, 0), "3 aes128-ctr rustcrypto encrypt ready 64 0 7 0\n");
        assert_eq!(case.held().feature, Some("aes"));
        assert_eq!(case.record("fixsliced").path, Some(CodePath::Fixsliced));
    }

    #[test]
    fn a_frame_is_held_by_the_image_of_its_protocol_and_has_no_other_operations() {
        let (mut planned, none) = (planned("cipher=wep104"), Adapters::new());
        planned.provider = "wattlock".to_owned();
        let refusal = BoardCase::of(&planned, &none).map(|_| ()).unwrap_err();
        assert_eq!(refusal, "wep104 has no operation encrypt: it has protect and unprotect");
        planned.operation = Operation::Protect;
        let case = BoardCase::of(&planned, &none).unwrap();
        assert_eq!((case.held().feature, case.record("-").mode.as_str()), (Some("wep"), "frame"));
    }

    #[test]
    fn what_an_image_can_not_carry_out_is_refused_with_the_reason() {
        for (change, reason) in [
            ("provider=openssl", "only what is built in"),
            ("cipher=ccmp128", "only what is built in"),
            ("cipher=no-such", "no-such"),
            ("cipher=rsa2048-oaep", "advisory"),
            ("cipher=aes129-ctr", "129"),
            ("encoding=hex", "raw"),
            ("placement=L2", "hot"),
            ("pattern=chained", "independent"),
            ("data=file", "random"),
            ("role=empty", "self-check"),
        ] {
            let (planned, none) = (planned(change), Adapters::new());
            let refusal = BoardCase::of(&planned, &none).map(|_| ()).unwrap_err();
            assert!(refusal.contains(reason), "{change}: {refusal}");
        }
    }
}
