//! Botan's ciphers through its C interface.
//!
//! A message is one start with its IV and one update that ends it. A key setup gives a kept object a new key. ECB, which
//! Botan leaves to the caller, is its block cipher with the padding of this program.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::rc::Rc;

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, MAX_IV_B, Mode, Spec, Suite};

use super::libbotan::{Kind, Libbotan, Object, Pool};
use crate::adapter::functions::opened_once;
use crate::adapter::keeping::KeptKey;
use crate::adapter::mode_adapter::unpadded;
use crate::adapter::whole::{Messages, Whole};
use crate::adapter::{file, lengths};
use crate::library::Library;

/// Botan 2 or 3.
struct Botan;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Botan)]
}

impl Library for Botan {
    fn name(&self) -> &str {
        "botan"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.place())
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let suite = BotanSuite::of(library()?, spec)?;
        Ok(Box::new(Found::of_path(suite, None)))
    }
}

/// The versions of `libbotan-3.so` that are tried: Botan 3 counts one a minor version.
const NEWEST_MINOR: u32 = 20;

opened_once!(Libbotan, open);

fn open() -> Result<Libbotan, String> {
    let of_three = (0..=NEWEST_MINOR).rev().map(|minor| format!("libbotan-3.so.{minor}"));
    let names: Vec<_> = of_three
        .chain(["libbotan-2.so.19", "libbotan-3.so", "libbotan-2.so"].map(str::to_owned))
        .chain(["libbotan-3.dylib", "/opt/homebrew/lib/libbotan-3.dylib", "botan-3.dll"].map(str::to_owned))
        .collect();
    Libbotan::open(&names.iter().map(String::as_str).collect::<Vec<_>>()).map_err(|refusals| {
        let first = refusals.split("; ").next().unwrap_or_default();
        format!(
            "libbotan of Botan 2 or 3 can't be opened ({first}, and others); it is in the package libbotan-2-19 or \
             libbotan-3-7 (Debian, Ubuntu), botan2 or botan3 (Fedora), botan (Homebrew)"
        )
    })
}

/// Botan's name of a cipher, once for messages and once for parts without padding.
///
/// # Errors
/// Why there is none.
fn names(spec: &Spec) -> Result<[String; 2], String> {
    let (family, key_bits, tag_B) = (spec.card.family, spec.key_bits, spec.tag_B());
    let both = |name: String| Ok([name.clone(), name]);
    let block_cipher = match family {
        "aes" | "camellia" => &*format!("{}-{key_bits}", if family == "aes" { "AES" } else { "Camellia" }),
        "des" => "DES",
        "3des" | "3des2" => "TripleDES",
        "blowfish" => "Blowfish",
        "cast" | "cast128" => "CAST-128",
        "idea" => "IDEA",
        "twofish" => "Twofish",
        "serpent" => "Serpent",
        "sm4" => "SM4",
        "xtea" => "XTEA",
        "rc4" => return both("RC4".to_owned()),
        "chacha20" => return both("ChaCha(20)".to_owned()),
        "salsa20" => return both("Salsa20".to_owned()),
        "chacha20-poly1305" | "xchacha20-poly1305" => return both("ChaCha20Poly1305".to_owned()),
        "ascon-aead128" => return both("Ascon-AEAD128".to_owned()),
        "aes-gcm" => return both(format!("AES-{key_bits}/GCM({tag_B})")),
        "aes-ccm" | "aes-ccm8" => {
            return both(format!("AES-{key_bits}/CCM({tag_B},{})", 15_usize.saturating_sub(spec.iv_B())));
        }
        "aes-ocb3" | "aes-ocb" => return both(format!("AES-{key_bits}/OCB({tag_B})")),
        "aes-eax" => return both(format!("AES-{key_bits}/EAX({tag_B})")),
        _ => return Err("Botan has no cipher of this family".to_owned()),
    };
    match spec.card.mode {
        Mode::Ecb => both(block_cipher.to_owned()),
        Mode::Cbc => Ok([format!("{block_cipher}/CBC/PKCS7"), format!("{block_cipher}/CBC/NoPadding")]),
        Mode::Ctr => both(format!("CTR-BE({block_cipher})")),
        Mode::Cfb => both(format!("{block_cipher}/CFB")),
        Mode::Ofb => both(format!("OFB({block_cipher})")),
        mode => Err(format!("Botan has no {block_cipher} as {mode}")),
    }
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct BotanSuite {
    spec: Spec,
    /// Messages and parts without padding, encrypted and decrypted; the same where it is the same to the library.
    pools: [Rc<Pool>; 4],
}

impl BotanSuite {
    fn of(library: &'static Libbotan, spec: &Spec) -> Result<Self, String> {
        let [message, part] = names(spec)?;
        let has_directions = matches!(spec.card.mode, Mode::Cbc | Mode::Cfb | Mode::Aead);
        let kind = |decrypts| if spec.card.mode == Mode::Ecb { Kind::Block } else { Kind::Mode { decrypts } };
        let encrypts = Rc::new(library.pool(&message, kind(false))?);
        let pool = |name: &str, decrypts| {
            let is_same = name == message && !(decrypts && has_directions);
            if is_same { Ok(Rc::clone(&encrypts)) } else { library.pool(name, kind(decrypts)).map(Rc::new) }
        };
        let decrypts = pool(&message, true)?;
        let decrypts_part = if part == message { Rc::clone(&decrypts) } else { pool(&part, true)? };
        let suite = Self { spec: *spec, pools: [encrypts.clone(), decrypts, pool(&part, false)?, decrypts_part] };
        let right_B = if spec.card.mode == Mode::Ecb { spec.block_B() } else { spec.tag_B() };
        let size_B = encrypts.size_B().map_err(|error| error.to_string())?;
        if size_B != right_B {
            return Err(format!("Botan's {message} has blocks or a tag of {size_B} bytes, not {right_B}"));
        }
        if spec.iv_B() > 0 && !encrypts.takes_nonce(spec.iv_B()) {
            return Err(format!("Botan's {message} takes no IV of {} bytes", spec.iv_B()));
        }
        suite
            .key_setup(&vec![1; spec.key_B()], Direction::Encrypt)
            .map_err(|_| format!("Botan's {message} takes no key of {} bits", spec.key_bits))?;
        Ok(suite)
    }

    /// Which of the pools a call is for.
    #[inline]
    fn slot(&self, is_part: bool, decrypts: bool) -> usize {
        match self.spec.card.mode {
            Mode::Cbc => 2 * usize::from(is_part) + usize::from(decrypts),
            Mode::Cfb | Mode::Aead => usize::from(decrypts),
            _ => 0,
        }
    }
}

impl Suite for BotanSuite {
    type Cipher = Whole<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let mut objects = [const { None }; 4];
        let slot = self.slot(false, direction == Direction::Decrypt);
        objects[slot] = Some(self.pools[slot].keyed(key)?);
        Ok(Whole::new(Keyed { suite: self.clone(), key: KeptKey::of(key), objects }))
    }
}

/// A cipher with its key: an object for the direction of the key setup, others when they are first used.
struct Keyed {
    suite: BotanSuite,
    key: KeptKey,
    objects: [Option<Object>; 4],
}

impl Keyed {
    #[inline]
    fn object(&mut self, is_part: bool, decrypts: bool) -> Result<&mut Object, Error> {
        let slot = self.suite.slot(is_part, decrypts);
        match &mut self.objects[slot] {
            Some(object) => Ok(object),
            none => Ok(none.insert(self.suite.pools[slot].keyed(self.key.bytes())?)),
        }
    }

    /// A message by the block cipher, padded here.
    #[inline]
    fn padded(&mut self, block_B: usize, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let object = self.object(false, false)?;
        let (whole, rest) = input.split_at(input.len() / block_B * block_B);
        if !whole.is_empty() {
            object.blocks(block_B, false, whole, output)?;
        }
        // PKCS#7: each byte of the padding is their number, which is at most a block's.
        let mut last = [u8::try_from(block_B - rest.len()).unwrap_or(0); MAX_IV_B];
        last[..rest.len()].copy_from_slice(rest);
        object.blocks(block_B, false, &last[..block_B], &mut output[whole.len()..])?;
        Ok(whole.len() + block_B)
    }
}

impl Messages for Keyed {
    #[inline]
    fn spec(&self) -> &Spec {
        &self.suite.spec
    }

    #[inline]
    fn message(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let block_B = self.suite.spec.block_B();
        match self.suite.spec.card.mode {
            Mode::Ecb if decrypts => {
                self.object(false, true)?.blocks(block_B, true, input, output)?;
                unpadded(output, block_B)
            }
            Mode::Ecb => self.padded(block_B, input, output),
            Mode::Cbc if decrypts => {
                self.object(false, true)?.message(iv, input, output).map_err(|_| Error::BadPadding)
            }
            _ => self.object(false, decrypts)?.message(iv, input, output),
        }
    }

    #[inline]
    fn part(&mut self, decrypts: bool, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let spec = self.suite.spec;
        let object = self.object(true, decrypts)?;
        match spec.card.mode {
            Mode::Ecb => object.blocks(spec.block_B(), decrypts, input, output),
            _ => object.message(iv, input, output).map(drop),
        }
    }

    #[inline]
    fn seal(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let object = self.object(false, false)?;
        object.associate(aad)?;
        object.message(nonce, input, output).map(drop)
    }

    #[inline]
    fn open(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let object = self.object(false, true)?;
        object.associate(aad)?;
        object.message(nonce, input, output).map(drop)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_botan_has_passes_the_proof_of_its_card() {
        let ids = [
            "aes128-ecb",
            "aes128-cbc",
            "aes256-ctr",
            "aes128-cfb",
            "aes192-ofb",
            "des-cbc",
            "des-ctr",
            "3des-cbc",
            "3des2-ecb",
            "blowfish128-cbc",
            "cast128-cbc",
            "idea-cbc",
            "camellia256-ctr",
            "twofish256-cbc",
            "serpent256-cbc",
            "sm4-cbc",
            "rc4-128",
            "chacha20",
            "salsa20",
            "aes128-gcm",
            "aes128-ccm",
            "aes256-ccm8",
            "aes128-ocb3",
            "aes128-eax",
            "chacha20-poly1305",
            "xchacha20-poly1305",
        ];
        agreement::proves_all(&Botan, &ids);
    }

    #[test]
    fn botan_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Botan);
    }

    #[test]
    fn padding_that_is_none_is_refused() {
        assert_eq!(unpadded(&[7, 7, 2, 2], 4), Ok(2));
        assert_eq!(unpadded(&[4, 4, 4, 4], 4), Ok(0));
        for wrong in [&[1, 1, 1, 0][..], &[1, 1, 1, 2], &[5, 5, 5, 5], &[1, 1, 1, 5], &[]] {
            assert_eq!(unpadded(wrong, 4), Err(Error::BadPadding), "{wrong:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_before_the_library_sees_it() {
        let find = |id: &str| Botan.find(&Spec::parse(id).unwrap());
        let Ok(cbc) = find("aes128-cbc") else { return wattlock_test_tools::missing("Botan") };
        let mut output = [0; 32];
        let mut cipher = cbc.key_setup(&[1; 16], Direction::Encrypt).unwrap();
        assert_eq!(cipher.encrypt(&[0; 15], &[], &mut output), Err(Error::WrongIvLength { given_B: 15, right_B: 16 }));
        let small = Err(Error::OutputTooSmall { given_B: 31, needed_B: 32 });
        assert_eq!(cipher.encrypt(&[0; 16], &[0; 16], &mut output[..31]), small);
        assert_eq!(cipher.decrypt(&[0; 16], &[0; 32], &mut output), Err(Error::BadPadding));
        assert_eq!(cipher.decrypt(&[0; 16], &[], &mut output), Err(Error::BadPadding));
        assert_eq!(cipher.encrypt(&[0; 16], &[0; 16], &mut output), Ok(32));
        assert!(cbc.key_setup(&[1; 15], Direction::Encrypt).is_err());
        assert!(find("rc6-20-128-cbc").err().unwrap().contains("no cipher of this family"));
    }
}
