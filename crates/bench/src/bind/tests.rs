//! Cases of AEADs: what they are refused for, and that a forged message counts where, and only where, it is refused.
#![allow(clippy::unwrap_used)]

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;

use serde_json::json;
use wattlock_ciphers::proof::Message;
use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite};
use wattlock_engine::Case as _;
use wattlock_records::PlannedCase;

use super::bind;
use crate::implementation::{Implementation, built_in};

/// A case of AES-128-GCM with these factors changed.
fn plan(changed: serde_json::Value) -> PlannedCase {
    let mut plan = json!({
        "case": 0, "role": "study", "cipher": "aes128-gcm", "provider": "rustcrypto", "operation": "seal",
        "keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "payload_B": 100,
        "aad_B": 13, "data": "random",
    });
    plan.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    serde_json::from_value(plan).unwrap()
}

/// When an implementation that is no cipher at all takes a wrong tag for a right one.
#[derive(Debug, Clone, Copy)]
enum Takes {
    Never,
    Always,
    /// From the fourth forged message on.
    Later,
    /// It fails otherwise instead.
    Fails,
}

#[derive(Clone)]
struct Toy(Takes);

struct ToyCipher {
    takes: Takes,
    forged: u32,
}

const TAG: [u8; 16] = [3; 16];

impl Suite for Toy {
    type Cipher = ToyCipher;

    fn key_setup(&self, _: &[u8], _: Direction) -> Result<ToyCipher, Error> {
        Ok(ToyCipher { takes: self.0, forged: 0 })
    }
}

impl Cipher for ToyCipher {
    fn seal(&mut self, _: &[u8], _: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        output[..input.len()].copy_from_slice(input);
        output[input.len()..][..16].copy_from_slice(&TAG);
        Ok(input.len() + 16)
    }

    fn open(&mut self, _: &[u8], _: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (text, tag) = input.split_at(input.len() - 16);
        if tag != TAG {
            self.forged += 1;
            match self.takes {
                Takes::Never => return Err(Error::Forged),
                Takes::Later if self.forged < 4 => return Err(Error::Forged),
                Takes::Fails => return Err(Error::Library { function: "open" }),
                Takes::Always | Takes::Later => {}
            }
        }
        output[..text.len()].copy_from_slice(text);
        Ok(text.len())
    }
}

/// The first code of a cipher that is built in.
fn code(spec: &Spec) -> Box<dyn Implementation> {
    built_in(spec, &spec.card.codes[0])
}

/// What becomes of a case that is bound, carries out ten calls and is checked.
fn outcome(takes: Takes, plan: &PlannedCase) -> Result<(), String> {
    let mut case = bind(&Spec::parse("aes128-gcm").unwrap(), &Toy(takes), plan, None, 1, Rc::new(|_, _| Ok(None)))?;
    case.run(0, 10);
    case.check()
}

#[test]
fn a_forged_message_counts_only_where_it_is_refused_as_forged() {
    for keying in ["ready", "each"] {
        let forged = plan(json!({"operation": "open_forged", "keying": keying}));
        assert_eq!(outcome(Takes::Never, &forged), Ok(()));
        let taken = "took a wrong tag for a right one";
        assert!(outcome(Takes::Always, &forged).unwrap_err().contains(taken));
        assert_eq!(outcome(Takes::Fails, &forged).unwrap_err(), "the library's open failed");
    }
    let later = outcome(Takes::Later, &plan(json!({"operation": "open_forged"}))).unwrap_err();
    assert!(later.contains("inside a timed loop") && later.contains("took a wrong tag"), "{later}");
    for operation in ["seal", "open"] {
        assert_eq!(outcome(Takes::Always, &plan(json!({ "operation": operation }))), Ok(()));
    }
}

#[test]
fn every_factor_goes_with_every_operation_of_an_aead() {
    for id in ["aes128-ccm8", "ascon-aead128", "xchacha20-poly1305"] {
        let spec = Spec::parse(id).unwrap();
        let code = code(&spec);
        for operation in ["seal", "open", "open_forged"] {
            for (keying, encoding, placement, pattern, payload_B, aad_B) in [
                ("ready", "raw", "hot", "independent", 0, 0),
                ("each", "raw", "hot", "independent", 14, 13),
                ("ready", "base64", "hot", "independent", 100, 0),
                ("each", "hex", "L2", "independent", 100, 13),
                ("ready", "raw", "hot", "chained", 100, 13),
                ("ready", "raw", "hot", "chained", 0, 0),
            ] {
                if pattern == "chained" && operation != "seal" {
                    continue;
                }
                let plan = plan(json!({
                    "cipher": id, "operation": operation, "keying": keying, "encoding": encoding,
                    "placement": placement, "pattern": pattern, "payload_B": payload_B, "aad_B": aad_B,
                }));
                let mut case =
                    code.bind(&spec, &plan, None, 1).unwrap_or_else(|error| unreachable!("{plan:?}: {error}"));
                assert!(!case.cut(16), "a tag is of the whole message");
                case.settle(2);
                case.run(0, 5);
                assert_eq!(case.check(), Ok(()), "{plan:?}");
            }
        }
    }
}

#[test]
fn an_operation_that_the_cipher_has_not_is_refused_with_those_that_it_has() {
    let refused = |id: &str, changed| {
        let spec = Spec::parse(id).unwrap();
        let plan = plan(changed);
        code(&spec).bind(&spec, &plan, None, 1).err().unwrap()
    };
    for (id, changed, words) in [
        ("aes128-gcm", json!({"operation": "encrypt"}), "seal, open or open_forged"),
        ("aes128-gcm", json!({"operation": "decrypt", "aad_B": 0}), "seal, open or open_forged"),
        ("aes128-cbc", json!({"operation": "seal"}), "encrypt or decrypt"),
        ("aes128-cbc", json!({"operation": "open_forged"}), "encrypt or decrypt"),
        ("aes128-cbc", json!({"operation": "encrypt"}), "only seal, open and open_forged have associated data"),
        ("aes128-gcm", json!({"operation": "key_setup"}), "only seal, open and open_forged have associated data"),
        ("aes128-gcm", json!({"operation": "open", "pattern": "chained"}), "no chained pattern"),
        ("aes128-gcm", json!({"aad_B": 65_537}), "associated data of 65537 B, the limit is 64 KiB"),
        ("aes128-ccm", json!({"payload_B": 65_536}), "65536 bytes, at most 65535"),
        ("aes128-ccm", json!({"payload_B": 65_536, "operation": "open"}), "65536 bytes, at most 65535"),
    ] {
        let error = refused(id, changed.clone());
        assert!(error.contains(words), "{id} {changed}: {error}");
    }
}

#[test]
fn a_key_setup_of_every_kind_of_cipher_is_a_case() {
    for id in ["aes128-gcm", "chacha20-poly1305", "ascon-aead128", "aes128-cbc", "aes128-ctr", "rc4-128", "xor"] {
        let spec = Spec::parse(id).unwrap();
        let changed = json!({"cipher": id, "operation": "key_setup", "payload_B": 0, "aad_B": 0, "data": "none"});
        let code = code(&spec);
        let mut case = code.bind(&spec, &plan(changed), None, 1).unwrap_or_else(|error| unreachable!("{id}: {error}"));
        case.settle(2);
        case.run(0, 5);
        assert_eq!(case.check(), Ok(()), "{id}");
    }
}

#[test]
fn an_output_that_another_implementation_does_not_give_is_no_case() {
    let spec = Spec::parse("aes128-gcm").unwrap();
    for (operation, told) in [("seal", "the output of seal 100 B is not what another"), ("open", "")] {
        let other = |message: Message<'_>, output: &mut [u8]| {
            output[..message.text.len()].copy_from_slice(message.text);
            output[message.text.len()..][..16].copy_from_slice(&[4; 16]);
            Ok(Some(message.text.len() + 16))
        };
        let plan = plan(json!({ "operation": operation }));
        let refused = bind(&spec, &Toy(Takes::Never), &plan, None, 1, Rc::new(other)).err().unwrap();
        assert!(refused.contains(told), "{refused}");
        assert!(bind(&spec, &Toy(Takes::Never), &plan, None, 1, Rc::new(|_, _| Ok(None))).is_ok());
    }
}

/// What is wrong with a key setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    Right,
    /// All keys are the first one.
    Remembers,
    /// It fails in the fiftieth to the sixtieth call.
    FailsForAWhile,
}

/// An implementation whose key is the first octet of one, and whose outputs are written until the fifth under a key.
#[derive(Clone)]
struct Keyed {
    setup: Setup,
    calls: Rc<core::cell::Cell<u32>>,
    first: Rc<core::cell::Cell<Option<u8>>>,
    is_lazy: bool,
}

struct KeyedCipher {
    octet: u8,
    is_lazy: bool,
    calls: u32,
}

impl Suite for Keyed {
    type Cipher = KeyedCipher;

    fn key_setup(&self, key: &[u8], _: Direction) -> Result<KeyedCipher, Error> {
        self.calls.set(self.calls.get() + 1);
        if self.setup == Setup::FailsForAWhile && (50..60).contains(&self.calls.get()) {
            return Err(Error::Library { function: "key setup" });
        }
        let first = self.first.get().unwrap_or(key[0]);
        self.first.set(Some(first));
        let octet = if self.setup == Setup::Remembers { first } else { key[0] };
        Ok(KeyedCipher { octet, is_lazy: self.is_lazy, calls: 0 })
    }
}

fn keyed(octet: u8, text: &[u8], output: &mut [u8]) -> usize {
    output[..text.len()].iter_mut().zip(text).for_each(|(to, from)| *to = from ^ octet);
    output[text.len()..][..16].copy_from_slice(&TAG);
    text.len() + 16
}

impl Cipher for KeyedCipher {
    fn seal(&mut self, _: &[u8], _: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.calls += 1;
        let writes = !self.is_lazy || self.calls < 5;
        Ok(if writes { keyed(self.octet, input, output) } else { input.len() + 16 })
    }

    fn open(&mut self, _: &[u8], _: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let text = &input[..input.len() - 16];
        output[..text.len()].iter_mut().zip(text).for_each(|(to, from)| *to = from ^ self.octet);
        Ok(text.len())
    }
}

fn bound(setup: Setup, is_lazy: bool, changed: serde_json::Value) -> Result<Box<dyn super::Prepared>, String> {
    let suite = Keyed { setup, calls: Rc::default(), first: Rc::default(), is_lazy };
    let right = |message: Message<'_>, output: &mut [u8]| Ok(Some(keyed(message.key[0], message.text, output)));
    bind(&Spec::parse("aes128-gcm").unwrap(), &suite, &plan(changed), None, 1, Rc::new(right))
}

#[test]
fn an_output_that_no_timed_call_wrote_is_not_the_right_one() {
    for is_lazy in [false, true] {
        let mut case = bound(Setup::Right, is_lazy, json!({})).unwrap();
        for seed in 0..3 {
            case.settle(seed);
            case.run(0, 10);
        }
        let checked = case.check();
        assert_eq!(checked.is_err(), is_lazy, "{checked:?}");
        assert_eq!(bound(Setup::Right, is_lazy, json!({})).unwrap().prove_often(&mut || 0, 1).is_err(), is_lazy);
    }
}

#[test]
fn a_key_setup_is_shown_by_two_keys_and_may_fail_in_no_call() {
    let sets_up = || json!({"operation": "key_setup", "payload_B": 0, "aad_B": 0, "data": "none"});
    let mut right = bound(Setup::Right, false, sets_up()).unwrap();
    right.run(0, 100);
    assert_eq!(right.check(), Ok(()));
    let error = bound(Setup::Remembers, false, sets_up()).err().unwrap();
    assert!(error.contains("is not what another") || error.contains("give the plaintext back"), "{error}");
    let mut fails = bound(Setup::FailsForAWhile, false, sets_up()).unwrap();
    fails.run(0, 100);
    assert!(fails.check().unwrap_err().contains("inside a timed loop"));
}
