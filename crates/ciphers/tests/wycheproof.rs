//! The AEADs against the cases of Project Wycheproof: the good are opened, the bad refused.
#![allow(clippy::unwrap_used, clippy::panic)]

use wattlock_ciphers::{Cipher, Direction, Error, Mode, Spec, Suite, Visitor};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

struct WithKey<'k>(&'k [u8]);

impl Visitor for WithKey<'_> {
    type Output = Box<dyn Cipher>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        Box::new(suite.key_setup(self.0, Direction::Decrypt).unwrap())
    }
}

/// Holds every code of `ids` to the cases whose sizes are theirs; gives how many were good and bad.
fn hold(name: TestName, id_of: impl Fn(usize, usize) -> String) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    for group in TestSet::load(name).unwrap().test_groups {
        let Ok(spec) = Spec::parse(&id_of(group.key_size, group.tag_size)) else { continue };
        assert_eq!(spec.card.mode, Mode::Aead);
        if usize::from(spec.card.iv_bits) != group.nonce_size || usize::from(spec.card.tag_bits) != group.tag_size {
            continue;
        }
        for code in spec.card.codes {
            for case in &group.tests {
                let mut cipher = spec.visit(code, WithKey(&case.key));
                let sealed = [&case.ct[..], &case.tag[..]].concat();
                let mut output = vec![0; case.pt.len().max(sealed.len()) + 32];
                let opened = cipher.open(&case.nonce, &case.aad, &sealed, &mut output);
                if case.result == TestResult::Invalid {
                    assert_eq!(opened, Err(Error::Forged), "{spec} of {}, case {}", code.provider, case.tc_id);
                    bad += 1;
                    continue;
                }
                assert_eq!(opened, Ok(case.pt.len()), "{spec} of {}, case {}", code.provider, case.tc_id);
                assert!(output[..case.pt.len()] == case.pt[..], "{spec}, case {}", case.tc_id);
                let written = cipher.seal(&case.nonce, &case.aad, &case.pt, &mut output).unwrap();
                assert!(output[..written] == sealed[..], "{spec}, case {}", case.tc_id);
                good += 1;
            }
        }
    }
    (good, bad)
}

#[test]
fn every_good_case_is_opened_and_every_bad_one_refused() {
    for (name, id_of) in [
        (TestName::AesGcm, (|key, _| format!("aes{key}-gcm")) as fn(usize, usize) -> String),
        (TestName::AesCcm, |key, tag| format!("aes{key}-ccm{}", if tag == 64 { "8" } else { "" })),
        (TestName::AesEax, |key, _| format!("aes{key}-eax")),
        (TestName::AesGcmSiv, |key, _| format!("aes{key}-gcm-siv")),
        (TestName::ChaCha20Poly1305, |_, _| "chacha20-poly1305".to_owned()),
        (TestName::XChaCha20Poly1305, |_, _| "xchacha20-poly1305".to_owned()),
        (TestName::AsconAead128, |_, _| "ascon-aead128".to_owned()),
    ] {
        let (good, bad) = hold(name, id_of);
        println!("{name:?}: {good} good, {bad} bad");
        // There is no bad case of CCM with nonces of 13 bytes.
        assert!(good >= 12 && (bad > 10 || name == TestName::AesCcm), "{name:?}: {good} good, {bad} bad");
    }
}
