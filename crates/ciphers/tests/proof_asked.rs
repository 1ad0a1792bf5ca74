//! What the proof asks of an implementation, call by call: a proof that asked less would pass more.
#![allow(clippy::unwrap_used, non_snake_case)]

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use wattlock_ciphers::proof::{ProofError, prove_by, prove_suite, sources};
use wattlock_ciphers::{Cipher, Direction, Error, Spec, Suite, Visitor};

/// One call of a cipher.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    operation: &'static str,
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
}

type Calls = Rc<RefCell<Vec<Call>>>;

/// A right implementation that keeps what it is asked.
#[derive(Clone)]
struct Recorder {
    id: &'static str,
    calls: Calls,
}

struct RecorderCipher {
    key: Vec<u8>,
    calls: Calls,
    sound: Box<dyn Cipher>,
}

struct WithKey<'k>(&'k [u8]);

impl Visitor for WithKey<'_> {
    type Output = Result<Box<dyn Cipher>, Error>;

    fn visit<S: Suite>(self, _: &Spec, suite: S) -> Self::Output {
        Ok(Box::new(suite.key_setup(self.0, Direction::Encrypt)?))
    }
}

fn sound(id: &str, key: &[u8]) -> Result<Box<dyn Cipher>, Error> {
    let spec = Spec::parse(id)?;
    spec.visit(&spec.card.codes[0], WithKey(key))
}

impl Suite for Recorder {
    type Cipher = RecorderCipher;

    fn key_setup(&self, key: &[u8], _: Direction) -> Result<RecorderCipher, Error> {
        Ok(RecorderCipher { key: key.to_vec(), calls: Rc::clone(&self.calls), sound: sound(self.id, key)? })
    }
}

impl RecorderCipher {
    fn note(&mut self, operation: &'static str, iv: &[u8], aad: &[u8], input: &[u8]) {
        let (key, iv, aad, input) = (self.key.clone(), iv.to_vec(), aad.to_vec(), input.to_vec());
        self.calls.borrow_mut().push(Call { operation, key, iv, aad, input });
    }
}

impl Cipher for RecorderCipher {
    fn encrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.note("encrypt", iv, &[], input);
        self.sound.encrypt(iv, input, output)
    }

    fn decrypt(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.note("decrypt", iv, &[], input);
        self.sound.decrypt(iv, input, output)
    }

    fn encrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.note("encrypt a part", iv, &[], input);
        self.sound.encrypt_part(iv, input, output)
    }

    fn decrypt_part(&mut self, iv: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.note("decrypt a part", iv, &[], input);
        self.sound.decrypt_part(iv, input, output)
    }

    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.note("seal", nonce, aad, input);
        self.sound.seal(nonce, aad, input, output)
    }

    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.note("open", nonce, aad, input);
        self.sound.open(nonce, aad, input, output)
    }
}

fn asked(id: &'static str) -> Vec<Call> {
    let calls = Calls::default();
    prove_suite(&Spec::parse(id).unwrap(), &Recorder { id, calls: Rc::clone(&calls) }).unwrap();
    calls.take()
}

/// Where two are apart, and by which bits.
fn changes(one: &[u8], other: &[u8]) -> Vec<(usize, u8)> {
    assert_eq!(one.len(), other.len());
    let differ = one.iter().zip(other).map(|(one, other)| one ^ other).enumerate();
    differ.filter(|(_, bits)| *bits != 0).collect()
}

fn assert_all_differ<'a>(what: &str, values: impl Iterator<Item = &'a [u8]>) {
    let values: Vec<_> = values.collect();
    let distinct: HashSet<_> = values.iter().collect();
    assert_eq!(distinct.len(), values.len(), "{what}");
}

#[test]
fn an_aead_is_asked_to_refuse_every_single_change_and_to_go_on_as_if_there_had_been_none() {
    for id in ["chacha20-poly1305", "aes128-gcm"] {
        let calls = asked(id);
        // A vector is sealed and opened; a message of the laws is opened with changes too, and opened and sealed again.
        let trials: Vec<&[Call]> =
            calls.chunk_by(|one, next| one.key == next.key).filter(|trial| trial.len() > 8).collect();
        let sizes: Vec<_> = trials.iter().map(|trial| (trial[0].input.len(), trial[0].aad.len())).collect();
        let on_both_sides_of_a_block = [(0, 0), (0, 5), (1, 0), (15, 1), (16, 16), (17, 15), (31, 33), (32, 0)];
        assert_eq!(sizes[..8], on_both_sides_of_a_block, "{id}");
        assert_eq!(sizes[8..], [(64, 12), (65, 40), (255, 20), (1100, 13)], "{id}");
        assert_all_differ("keys", trials.iter().map(|trial| &trial[0].key[..]));
        assert_all_differ("nonces", trials.iter().map(|trial| &trial[0].iv[..]));
        let with_data = || trials.iter().filter(|trial| trial[0].aad.len() > 4);
        assert_all_differ("associated data", with_data().map(|trial| &trial[0].aad[..5]));
        let long = || trials.iter().filter(|trial| trial[0].input.len() > 14);
        assert_all_differ("messages", long().map(|trial| &trial[0].input[..15]));
        let drawn = |of: &Call| [&of.key[..5], &of.iv[..5], &of.aad[..5], &of.input[..5]].map(<[u8]>::to_vec);
        for trial in long().filter(|trial| trial[0].aad.len() > 4) {
            assert_all_differ("what is drawn for a message", drawn(&trial[0]).iter().map(|bytes| &bytes[..]));
        }
        for trial in trials {
            let (first, right) = (&trial[0], &trial[1]);
            assert_eq!((first.operation, right.operation), ("seal", "open"));
            // A byte of plaintext that is left in an output of 0xa5, or of zeros, is seen.
            assert!(first.input.iter().all(|byte| ![0, 0xa5].contains(byte)));
            let (again, last) = (&trial[trial.len() - 2], &trial[trial.len() - 1]);
            assert_eq!((again, last), (right, first), "{id}: after forgeries");
            let (length_B, sealed_B) = (first.input.len(), right.input.len());
            let bit = 1 << (length_B % 8);
            let mut forgeries = trial[2..trial.len() - 2].iter();
            for place in [length_B / 2, length_B, sealed_B - 1].into_iter().skip(usize::from(length_B == 0)) {
                let forged = forgeries.next().unwrap();
                assert_eq!(changes(&forged.input, &right.input), [(place, bit)], "{id}: {length_B} bytes");
                assert_eq!((&forged.iv, &forged.aad), (&right.iv, &right.aad));
            }
            let forged = forgeries.next().unwrap();
            assert_eq!(changes(&forged.iv, &right.iv), [(length_B % right.iv.len(), bit)], "{id}: {length_B} bytes");
            assert_eq!((&forged.input, &forged.aad), (&right.input, &right.aad));
            let forged = forgeries.next().unwrap();
            if right.aad.is_empty() {
                assert_eq!(forged.aad, [bit]);
            } else {
                assert_eq!(changes(&forged.aad, &right.aad), [(right.aad.len() / 2, bit)], "{id}: {length_B} bytes");
            }
            assert_eq!((&forged.input, &forged.iv), (&right.input, &right.iv));
            for cut_B in [sealed_B - 1, sealed_B - length_B - 1] {
                let forged = forgeries.next().unwrap();
                assert_eq!(forged, &Call { input: right.input[..cut_B].to_vec(), ..right.clone() });
            }
            assert_eq!(forgeries.next(), None);
        }
    }
}

#[test]
fn a_mode_is_asked_for_more_blocks_than_any_path_takes_at_once_and_for_lengths_around_each_block() {
    for (id, block_B, cut_B) in [("aes128-ctr", 16, 3), ("des-cbc", 8, 0), ("aes128-ecb", 16, 0), ("des-ofb", 8, 3)] {
        let calls = asked(id);
        let composed_B = 70 * block_B - cut_B;
        let composed = |call: &&Call| call.input.len() == composed_B;
        let at = calls.iter().position(|call| composed(&call)).unwrap();
        let operations: Vec<_> = calls[at..at + 4].iter().map(|call| call.operation).collect();
        assert_eq!(operations, ["encrypt a part", "decrypt a part", "encrypt", "decrypt"], "{id}");
        let Call { key, iv, input, .. } = &calls[at];
        // The counter runs over its end after five blocks.
        if let Some((last, before)) = iv.split_last() {
            assert!(*last == 0xfb && before.iter().all(|byte| *byte == 0xff), "{id}: {iv:02x?}");
        }
        assert_all_differ("key and blocks", input.chunks_exact(block_B).chain([&key[..block_B]]));

        // Then whole messages under keys of their own, until padding is looked at.
        let whole: Vec<_> = calls[at + 4..].iter().filter(|call| call.operation == "encrypt").collect();
        let lengths_B: Vec<_> = whole.iter().map(|call| call.input.len()).collect();
        let right_B = [0, 1, 7, 8, 9, 14, 15, 16, 17, 24, 31, 32, 33, 64, 129, 255, 1000, 2240];
        assert_eq!(lengths_B, right_B, "{id}");
        assert_all_differ("keys", whole.iter().map(|call| &call.key[..]));
        if !iv.is_empty() {
            assert_all_differ("ivs", whole.iter().map(|call| &call.iv[..]));
        }
        assert_all_differ("messages", whole[5..].iter().map(|call| &call.input[..8]));
        for call in &whole[5..] {
            let drawn = [&call.key[..8], &call.input[..8], call.iv.get(..8).unwrap_or(&[])];
            assert_all_differ("what is drawn for a message", drawn.into_iter());
        }
    }
}

#[test]
fn bad_padding_of_every_kind_is_asked_for_at_the_end_of_one_block_of_two_and_of_five() {
    for (id, block_B) in [("aes128-cbc", 16), ("des-ecb", 8), ("rijndael256-128-cbc", 32)] {
        let calls = asked(id);
        let bad = &calls[calls.len() - 19..];
        assert!(bad.iter().all(|call| call.operation == "decrypt" && call.key == bad[0].key), "{id}");
        assert_eq!(bad[18].input, [], "{id}: a message without its padding");
        for (at, call) in bad[..18].iter().enumerate() {
            assert_eq!(call.input.len(), [1, 2, 5][at / 6] * block_B, "{id}");
            let (mut clear, mut chain) = (vec![0; call.input.len()], call.iv.clone());
            sound(id, &call.key).unwrap().decrypt_part(&mut chain, &call.input, &mut clear).unwrap();
            let last = &clear[clear.len() - block_B..];
            let size = u8::try_from(block_B).unwrap();
            let right = |count: u8| [&last[..block_B - usize::from(count)], &vec![count; usize::from(count)]].concat();
            match at % 6 {
                0 => assert_eq!(last[block_B - 1], 0, "{id}"),
                1 => assert_eq!(last, vec![size + 1; block_B], "{id}"),
                2 => assert_eq!(last, vec![255; block_B], "{id}"),
                3 => assert_eq!(changes(last, &right(size)), [(0, 0x40)], "{id}"),
                4 => assert_eq!(changes(last, &right(size - 1)), [(block_B / 2, 0x40)], "{id}"),
                _ => assert_eq!(changes(last, &right(2)), [(block_B - 2, 0x40)], "{id}"),
            }
            let before = &clear[..clear.len() - block_B];
            assert_all_differ("blocks", before.chunks_exact(block_B));
        }
    }
}

#[test]
fn a_proof_is_of_the_kind_of_its_strongest_vector_and_names_where_each_is_from() {
    let vectors = "cipher des-ecb\nkey 0123456789abcdef\nplaintext 4e6f772069732074\nciphertext 3fa40e8a984d4815\n";
    let spec = Spec::parse("des-ecb").unwrap();
    let proven = |text: &str| {
        let proof = prove_by(&spec, &spec.card.codes[0], text).unwrap();
        (proof.vectors, proof.published, proof.composed, proof.kind)
    };
    let (published, computed) =
        (format!("# source: FIPS 81\n\n{vectors}"), format!("# source: computed with X\n\n{vectors}"));
    assert_eq!(proven(&published), (1, 1, true, "published"));
    assert_eq!(proven(&computed), (1, 0, true, "computed"));
    assert_eq!(proven(&format!("{computed}\n{published}")), (2, 1, true, "published"));
    assert_eq!(proven(&published.replace("des-ecb", "des-cbc")), (0, 0, true, "composition"));

    let (of_spec, file): (Vec<_>, _) = (sources(&spec).collect(), include_str!("../vectors/des.txt"));
    assert_eq!(of_spec.len(), usize::from(proven(file).0));
    assert!(of_spec.iter().all(|source| file.contains(&format!("# source: {source}\n"))), "{of_spec:?}");
    assert_eq!(sources(&Spec::parse("des-ofb").unwrap()).filter(|source| of_spec.contains(source)).count(), 0);
}

#[test]
fn a_vector_that_reaches_further_than_is_read_is_malformed() {
    let spec = Spec::parse("chacha20").unwrap();
    let text = |offset_B: usize| {
        let (key, iv) = ("00".repeat(32), "00".repeat(12));
        format!(
            "# source: X\n\ncipher chacha20\nkey {key}\niv {iv}\noffset {offset_B}\nplaintext 0000\nciphertext 0000\n"
        )
    };
    let verdict = |offset_B| prove_by(&spec, &spec.card.codes[0], &text(offset_B));
    assert!(matches!(verdict(510), Err(ProofError::Vector { line: 3, .. })), "{:?}", verdict(510));
    assert_eq!(verdict(511), Err(ProofError::Malformed { line: 3 }));
    assert_eq!(verdict(usize::MAX), Err(ProofError::Malformed { line: 3 }));
}
