//! Schemes against the cases of Project Wycheproof, each from bytes to bytes: the good give their answer, the bad none.
#![allow(clippy::unwrap_used, clippy::panic)]

use wattlock_bench::establish::{
    BuiltIn, Octets, Provider, SCHEMES, Scheme, carry_out, given, pair, prepare, proof, scheme,
};
use wattlock_engine::SplitMix64;
use wattlock_records::{Keying, Operation};
use wycheproof::TestResult;

use super::OpenSsl;

const ALL: [Provider; 2] = [&BuiltIn, &OpenSsl];

/// The providers that have the scheme here; OpenSSL is not on every machine.
fn providers(scheme: &Scheme) -> Vec<Provider> {
    ALL.into_iter().filter(|provider| provider.version(scheme).is_ok()).collect()
}

/// Holds every provider of a scheme to one case; `expected` is what has to come out of a good one.
fn hold(id: &str, operation: Operation, given: &Octets, result: TestResult, case: usize, expected: &Octets) {
    let scheme = scheme(id).unwrap();
    for provider in providers(scheme) {
        match (carry_out(provider, scheme, operation, given), result) {
            (Ok(made), TestResult::Invalid) => {
                panic!("{id} {operation:?} of {provider}, case {case}: took it, {made:?}")
            }
            (Ok(made), _) => {
                assert!(made == *expected, "{id} {operation:?} of {provider}, case {case}: another answer")
            }
            (Err(error), TestResult::Valid) => panic!("{id} {operation:?} of {provider}, case {case}: {error}"),
            (Err(_), _) => {}
        }
    }
}

fn octets(bytes: Option<&wycheproof::ByteString>) -> Vec<u8> {
    bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
}

fn sent(sent: &[u8]) -> Octets {
    Octets { sent: sent.to_vec(), ..Octets::default() }
}

fn shared(shared: &[u8]) -> Octets {
    Octets { shared: shared.to_vec(), ..Octets::default() }
}

/// A secret number of P-256 as 32 octets; the cases write it as short as it is, or with a zero before.
fn padded(number: &[u8]) -> Vec<u8> {
    let digits = &number[number.len().saturating_sub(32)..];
    [vec![0; 32 - digits.len()], digits.to_vec()].concat()
}

#[test]
fn every_scheme_is_proven_by_published_answers_in_every_provider() {
    for scheme in SCHEMES {
        for provider in providers(scheme) {
            let kind = proof::prove(provider, scheme, &ALL);
            assert!(matches!(kind, Ok("published" | "agreement")), "{} of {provider}: {kind:?}", scheme.id);
            assert!(proof::how(provider, scheme).starts_with("published answers ("), "{} of {provider}", scheme.id);
        }
    }
}

#[test]
fn a_prepared_key_and_one_from_its_bytes_do_the_same() {
    for scheme in SCHEMES {
        for provider in providers(scheme) {
            let mut random = SplitMix64::new(3);
            let own = pair(provider, scheme, &mut random).unwrap();
            for operation in [Operation::Agree, Operation::Decapsulate, Operation::Decrypt] {
                if scheme.operations.contains(&operation) {
                    let given = given(provider, scheme, operation, &own, &mut random).unwrap();
                    let mut keyed = provider.load(scheme, operation, &given).unwrap();
                    let each = carry_out(provider, scheme, operation, &given);
                    assert_eq!(keyed(&given), each, "{} {operation:?} of {provider}", scheme.id);
                    assert_eq!(keyed(&given), each, "{} {operation:?} of {provider}, once more", scheme.id);
                }
            }
            // A key pair of RSA takes its time, and 3072 bits go the way of 2048.
            for operation in scheme.operations.iter().filter(|_| scheme.id != "rsa3072-oaep") {
                for keying in [Keying::Ready, Keying::Each] {
                    prepare(provider, scheme, *operation, keying, 5).unwrap()().unwrap();
                }
            }
        }
    }
}

#[test]
fn what_goes_over_the_wire_is_as_long_as_the_scheme_says() {
    for scheme in SCHEMES {
        for provider in providers(scheme) {
            let mut random = SplitMix64::new(4);
            let own = pair(provider, scheme, &mut random).unwrap();
            let is_rsa = scheme.id.starts_with("rsa");
            assert!(is_rsa || own.public.len() == usize::from(scheme.public_key_B), "{} of {provider}", scheme.id);
            for operation in [Operation::Verify, Operation::Decapsulate, Operation::Decrypt] {
                if scheme.operations.contains(&operation) {
                    let sent = given(provider, scheme, operation, &own, &mut random).unwrap().sent;
                    assert_eq!(sent.len(), usize::from(scheme.message_B), "{} of {provider}", scheme.id);
                }
            }
        }
    }
}

#[test]
fn ml_kem_keeps_to_wycheproof() {
    use wycheproof::mlkem::{TestName, TestSet};
    let id = "ml-kem-768";
    let names = [
        TestName::MlKem768,
        TestName::MlKem768Encaps,
        TestName::MlKem768KeyGenSeed,
        TestName::MlKem768SemiExpandedDecaps,
    ];
    for name in names {
        for case in TestSet::load(name).unwrap().test_groups.into_iter().flat_map(|group| group.tests) {
            let shared = Octets { shared: octets(case.shared_secret.as_ref()), ..Octets::default() };
            let sent = octets(case.ct.as_ref());
            let secret = match (&case.seed, &case.decaps_key) {
                (Some(seed), _) => {
                    let drawn = Octets { drawn: seed.to_vec(), ..Octets::default() };
                    let made = carry_out(&BuiltIn, scheme(id).unwrap(), Operation::Generate, &drawn);
                    // A seed of another length is refused before there is a key.
                    let Ok(made) = made else {
                        assert_eq!(case.result, TestResult::Invalid, "{name:?}, case {}: {made:?}", case.tc_id);
                        continue;
                    };
                    if case.result == TestResult::Valid {
                        assert_eq!(made.public, octets(case.encaps_key.as_ref()), "{name:?}, case {}", case.tc_id);
                    }
                    made.secret
                }
                (None, key) => octets(key.as_ref()),
            };
            if let Some(drawn) = &case.msg {
                let given =
                    Octets { public: octets(case.encaps_key.as_ref()), drawn: drawn.to_vec(), ..Octets::default() };
                let expected = Octets { sent, ..shared };
                hold(id, Operation::Encapsulate, &given, case.result, case.tc_id, &expected);
            } else if case.ct.is_some() {
                let given = Octets { secret, sent, ..Octets::default() };
                hold(id, Operation::Decapsulate, &given, case.result, case.tc_id, &shared);
            }
        }
    }
}

#[test]
fn ml_dsa_keeps_to_wycheproof() {
    use wycheproof::{mldsa_sign, mldsa_verify};
    let id = "ml-dsa-65";
    for group in mldsa_verify::TestSet::load(mldsa_verify::TestName::MlDsa65Verify).unwrap().test_groups {
        for case in group.tests.iter().filter(|case| case.ctx.is_none()) {
            let given = Octets {
                public: group.pubkey.to_vec(),
                message: case.msg.to_vec(),
                sent: case.sig.to_vec(),
                ..Octets::default()
            };
            hold(id, Operation::Verify, &given, case.result, case.tc_id, &Octets::default());
        }
    }
    use mldsa_sign::TestFlag::{Internal, InvalidPrivateKey, Randomized};
    for group in mldsa_sign::TestSet::load(mldsa_sign::TestName::MlDsa65SignNoSeed).unwrap().test_groups {
        // A context, the hash in place of the message, chance, and a key that was made to be out of range: not ours.
        let ours = |case: &&mldsa_sign::Test| {
            let others = [Internal, Randomized, InvalidPrivateKey];
            case.ctx.is_none() && case.msg.is_some() && !case.flags.iter().any(|flag| others.contains(flag))
        };
        for case in group.tests.iter().filter(ours) {
            let secret = octets(group.privkey.as_ref());
            let given = Octets { secret, message: octets(case.msg.as_ref()), ..Octets::default() };
            hold(id, Operation::Sign, &given, case.result, case.tc_id, &sent(&case.sig));
        }
    }
}

#[test]
fn rsa_oaep_keeps_to_wycheproof() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    for (id, name) in
        [("rsa2048-oaep", TestName::Rsa2048Sha256Mgf1Sha256), ("rsa3072-oaep", TestName::Rsa3072Sha256Mgf1Sha256)]
    {
        for group in TestSet::load(name).unwrap().test_groups {
            for case in group.tests.iter().filter(|case| case.label.is_empty()) {
                let given = Octets { secret: group.pkcs8.to_vec(), sent: case.ct.to_vec(), ..Octets::default() };
                let expected = Octets { message: case.pt.to_vec(), ..Octets::default() };
                hold(id, Operation::Decrypt, &given, case.result, case.tc_id, &expected);
            }
        }
    }
}

#[test]
fn agreements_keep_to_wycheproof() {
    for group in wycheproof::xdh::TestSet::load(wycheproof::xdh::TestName::X25519).unwrap().test_groups {
        for case in group.tests {
            let (secret, public) = (case.private_key.to_vec(), case.public_key.to_vec());
            let given = Octets { secret, public, ..Octets::default() };
            hold("x25519", Operation::Agree, &given, case.result, case.tc_id, &shared(&case.shared_secret));
        }
    }
    use wycheproof::ecdh::{TestName, TestSet};
    for case in
        TestSet::load(TestName::EcdhSecp256r1Ecpoint).unwrap().test_groups.into_iter().flat_map(|group| group.tests)
    {
        let given = Octets { secret: padded(&case.private_key), public: case.public_key.to_vec(), ..Octets::default() };
        hold("ecdh-p256", Operation::Agree, &given, case.result, case.tc_id, &shared(&case.shared_secret));
    }
}

#[test]
fn signatures_keep_to_wycheproof() {
    use wycheproof::{ecdsa, eddsa};
    for group in eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups {
        for case in group.tests {
            let (message, sent) = (case.msg.to_vec(), case.sig.to_vec());
            let given = Octets { public: group.key.pk.to_vec(), message, sent, ..Octets::default() };
            hold("ed25519", Operation::Verify, &given, case.result, case.tc_id, &Octets::default());
        }
    }
    for group in ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap().test_groups {
        for case in group.tests {
            let (message, sent) = (case.msg.to_vec(), case.sig.to_vec());
            let given = Octets { public: group.key.key.to_vec(), message, sent, ..Octets::default() };
            hold("ecdsa-p256", Operation::Verify, &given, case.result, case.tc_id, &Octets::default());
        }
    }
}
