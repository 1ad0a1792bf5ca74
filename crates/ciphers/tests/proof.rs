//! Every vector of every file is met, and a wrong one is noticed.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{HashMap, HashSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};
use wattlock_ciphers::proof::{self, Proof, ProofError};
use wattlock_ciphers::{Error, Mode, Spec, cards, listed};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// The proof of the first code, after that of all others.
fn prove(spec: &Spec) -> Result<Proof, ProofError> {
    spec.card
        .codes
        .iter()
        .rev()
        .map(|code| proof::prove(spec, code))
        .try_fold(None, |_, proof| proof.map(Some))
        .map(Option::unwrap)
}

fn prove_by(spec: &Spec, text: &str) -> Result<Proof, ProofError> {
    proof::prove_by(spec, &spec.card.codes[0], text)
}

/// The ids that a file's vectors name, with how many there are of each.
fn named(text: &str) -> HashMap<&str, u16> {
    let mut ids = HashMap::new();
    for id in text.lines().filter_map(|line| line.strip_prefix("cipher ")) {
        *ids.entry(id).or_default() += 1;
    }
    ids
}

#[test]
fn every_listed_id_is_proven_by_vectors_of_its_own_or_of_its_primitive() {
    for spec in listed() {
        let proof = prove(&spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        let ecb = spec.to_string().replace(&format!("-{}", spec.card.mode), "-ecb");
        let of_primitive = Spec::parse(&ecb).and_then(|ecb| prove(&ecb).map_err(|_| Error::UnknownCipher));
        let is_baseline = ["xor", "null"].contains(&spec.card.family);
        assert!(proof.vectors > 0 || spec.card.mode != Mode::Aead, "{spec}: {proof:?}");
        let composed = proof.composed && (is_baseline || of_primitive.is_ok_and(|primitive| primitive.vectors > 0));
        assert!(proof.vectors > 0 || composed, "{spec}: {proof:?}");
    }
}

#[test]
fn every_vector_of_every_file_is_reached_and_passes() {
    let mut files_of_vectors = 0;
    for path in files() {
        let text = read_to_string(&path).unwrap();
        for (id, count) in named(&text) {
            let spec = Spec::parse(id).unwrap_or_else(|error| panic!("{}: {id}: {error}", path.display()));
            assert_eq!(spec.to_string(), id, "an id is written in its shortest form");
            let proof = prove(&spec).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(proof.vectors, count, "{id} of {}", path.display());
            assert_eq!(prove_by(&spec, &text), Ok(proof));
        }
        files_of_vectors += 1;
    }
    assert!(files_of_vectors >= 18);
}

#[test]
fn every_family_has_a_published_vector() {
    let published: HashSet<_> = files()
        .iter()
        .flat_map(|path| named(&read_to_string(path).unwrap()).into_keys().map(str::to_owned).collect::<Vec<_>>())
        .map(|id| Spec::parse(&id).unwrap())
        .filter(|spec| prove(spec).unwrap().kind == "published")
        .map(|spec| spec.card.family)
        .collect();
    for card in cards().filter(|card| !["xor", "null"].contains(&card.family)) {
        assert!(published.contains(card.family), "{}", card.family);
    }
}

#[test]
fn an_id_without_vectors_is_proven_by_composition_alone() {
    for id in ["blowfish136-cbc", "rc2-48-ctr", "rc4-48"] {
        let proof = prove(&Spec::parse(id).unwrap()).unwrap();
        assert_eq!((proof.vectors, proof.composed, proof.kind), (0, true, "composition"), "{id}");
    }
}

#[test]
fn a_vector_with_one_bit_changed_fails_the_proof() {
    for path in files() {
        let text = read_to_string(&path).unwrap();
        for id in named(&text).into_keys() {
            let spec = Spec::parse(id).unwrap();
            for field in ["ciphertext ", "plaintext ", "iv "] {
                let Some(wrong) = with_one_bit_changed(&text, id, field) else {
                    assert!(field == "iv " && spec.iv_B() == 0 || field == "plaintext ", "{id}");
                    continue;
                };
                let verdict = prove_by(&spec, &wrong);
                assert!(matches!(verdict, Err(ProofError::Vector { .. })), "{id}: {field}: {verdict:?}");
            }
        }
    }
}

/// The text with the last bit of that line changed, in the first block that names `id`.
fn with_one_bit_changed(text: &str, id: &str, field: &str) -> Option<String> {
    let start = text.find(&format!("cipher {id}\n"))?;
    let block = text[start..].split("\n\n").next()?;
    let line = block.lines().find(|line| line.starts_with(field))?;
    let end = start + block.find(line)? + line.len();
    let last = u8::from_str_radix(&text[end - 1..end], 16).unwrap() ^ 1;
    Some(format!("{}{last:x}{}", &text[..end - 1], &text[end..]))
}

#[test]
fn a_damaged_text_is_refused_with_its_line() {
    let spec = Spec::parse("des-ecb").unwrap();
    let good = "# source: FIPS 81\n\ncipher des-ecb\nkey 0123456789abcdef\nplaintext 4e6f772069732074\nciphertext 3fa40e8a984d4815\n";
    assert_eq!(prove_by(&spec, good).unwrap().published, 1);
    for (from, to, line) in [
        ("key 01", "kee 01", 4),
        ("key 01", "key 0g", 3),
        ("plaintext 4e6f", "plaintext 4e6", 3),
        ("ciphertext 3fa40e8a984d4815", "", 3),
        ("cipher des-ecb\n", "", 3),
        ("# source: FIPS 81", "#", 3),
    ] {
        let verdict = prove_by(&spec, &good.replacen(from, to, 1));
        assert_eq!(verdict, Err(ProofError::Malformed { line }), "{from} -> {to}");
    }
    let short = good.replacen("key 0123", "key 01", 1);
    assert!(matches!(prove_by(&spec, &short), Err(ProofError::Refused(_))));
}
