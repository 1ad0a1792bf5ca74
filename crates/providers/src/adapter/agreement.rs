//! What the tests of every library ask: the proof of each of its ciphers, and agreement with the code that is built in.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]

use wattlock_bench::implementation::{Implementation, built_in};
use wattlock_bench::keys::bytes;
use wattlock_ciphers::{Cipher, Direction, Error, MAX_PADDING_B, Mode, Spec, listed};
use wattlock_engine::SplitMix64;
use wattlock_test_tools as tools;

use crate::library::Library;

/// Drawn for each cipher: keys, IVs, lengths.
const DRAWS: u32 = 30;

/// The listed ciphers that the library has; none where it is absent, which is said.
pub fn shared(library: &dyn Library) -> Vec<(Spec, Box<dyn Implementation>)> {
    match library.open() {
        Ok(about) => println!("{} {}: {:?}", library.name(), about.version, library.file()),
        Err(error) => {
            tools::missing(&error.to_string());
            return Vec::new();
        }
    }
    listed().filter_map(|spec| library.find(&spec).ok().map(|code| (spec, code))).collect()
}

/// Proves every listed cipher that the library has, and sees that each that `ids` names is among them.
pub fn proves_all(library: &dyn Library, ids: &[&str]) {
    let shared = shared(library);
    for (spec, code) in &shared {
        let proof = code.prove(spec).unwrap_or_else(|error| panic!("{} {spec}: {error}", library.name()));
        println!("{} {spec}: {:?}, {}", library.name(), code.path(), proof.kind);
    }
    let is_there = |id: &&str| shared.iter().any(|(spec, _)| spec.to_string() == **id);
    let lacks: Vec<_> = ids.iter().filter(|id| !is_there(id) && Spec::parse(id).is_ok()).collect();
    assert!(shared.is_empty() || lacks.is_empty(), "{} lacks {lacks:?}", library.name());
}

/// Holds random messages of many lengths against the built-in code, keyed for either direction.
pub fn agrees_with_what_is_built_in(library: &dyn Library) {
    let mut random = SplitMix64::new(3);
    for (spec, code) in shared(library) {
        let built_in = built_in(&spec, &spec.card.codes[0]);
        for draw in 0..DRAWS {
            let (key, iv) = (bytes(&mut random, spec.key_B()), bytes(&mut random, spec.iv_B()));
            let length = if draw < 20 { draw } else { random.below(5_000) };
            let message = bytes(&mut random, usize::try_from(length).unwrap());
            let aad_B = random.below(40);
            let aad = bytes(&mut random, usize::try_from(aad_B).unwrap());
            let outcome = |code: &dyn Implementation, direction| {
                let fresh = || code.key_setup(&key, direction).unwrap();
                if spec.card.mode == Mode::Aead {
                    authenticated(&spec, &fresh, &iv, &aad, &message)
                } else {
                    chained(&spec, &fresh, &iv, &message)
                }
            };
            let right = outcome(&*built_in, Direction::Encrypt);
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let ours = outcome(&*code, direction);
                assert_eq!(ours[..2], right[..2], "{} {spec}, {length} bytes", library.name());
                if ours.len() == right.len() {
                    assert_eq!(ours, right, "{} {spec}, {length} bytes in parts", library.name());
                }
            }
            assert_eq!(right[1], message, "{spec}");
        }
    }
}

/// A message sealed and opened; then under one key a forged one, and the right one again.
fn authenticated(
    spec: &Spec,
    fresh: &dyn Fn() -> Box<dyn Cipher>,
    nonce: &[u8],
    aad: &[u8],
    message: &[u8],
) -> Vec<Vec<u8>> {
    let mut sealed = vec![0; message.len() + MAX_PADDING_B];
    let written = fresh().seal(nonce, aad, message, &mut sealed).unwrap();
    sealed.truncate(written);
    let mut opened = vec![0x55; message.len() + MAX_PADDING_B];
    let mut cipher = fresh();
    let mut forged = sealed.clone();
    forged[message.len() / 2] ^= 4;
    assert_eq!(cipher.open(nonce, aad, &forged, &mut opened), Err(Error::Forged));
    assert!(opened[..message.len()].iter().all(|byte| [0, 0x55].contains(byte)), "plaintext of a forged message");
    assert_eq!(cipher.open(nonce, aad, &sealed[..sealed.len().min(3)], &mut opened), Err(Error::Forged));
    let length = cipher.open(nonce, aad, &sealed, &mut opened).unwrap();
    opened.truncate(length);
    let mut again = vec![0; sealed.len()];
    cipher.seal(nonce, aad, message, &mut again).unwrap();
    assert_eq!(again, sealed, "{spec} sealed once more under the same key");
    vec![sealed, opened]
}

/// A message encrypted whole and decrypted; where the cipher can, in two parts, with the IV behind each.
fn chained(spec: &Spec, fresh: &dyn Fn() -> Box<dyn Cipher>, iv: &[u8], message: &[u8]) -> Vec<Vec<u8>> {
    let room = message.len() + MAX_PADDING_B;
    let [mut sealed, mut opened, mut parts, mut back] = [(); 4].map(|()| vec![0; room + MAX_PADDING_B]);
    let written = fresh().encrypt(iv, message, &mut sealed[..room]).unwrap();
    sealed.truncate(written);
    let length = fresh().decrypt(iv, &sealed, &mut opened).unwrap();
    opened.truncate(length);

    let whole = message.len() / spec.block_B() * spec.block_B();
    let cut = whole / 2 / spec.block_B() * spec.block_B();
    let (mut cipher, mut chain) = (fresh(), iv.to_vec());
    if cipher.encrypt_part(&mut chain, &message[..cut], &mut parts) == Err(Error::NoSuchOperation) {
        return vec![sealed, opened];
    }
    let behind = chain.clone();
    cipher.encrypt_part(&mut chain, &message[cut..whole], &mut parts[cut..]).unwrap();
    parts.truncate(whole);
    let (mut cipher, mut chain) = (fresh(), iv.to_vec());
    cipher.decrypt_part(&mut chain, &parts[..cut], &mut back).unwrap();
    assert_eq!(chain, behind, "{spec}: the IV behind a decrypted part");
    cipher.decrypt_part(&mut chain, &parts[cut..], &mut back[cut..]).unwrap();
    assert_eq!(back[..whole], message[..whole], "{spec}");
    vec![sealed, opened, parts, behind, chain]
}
