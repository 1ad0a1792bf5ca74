//! nettle's ciphers, from the library of the system.
//!
//! Its modes are functions that are given the cipher's; the IV is the caller's and goes on with each call. AES has a CBC
//! encryption of its own since 3.8. A context is memory of the caller's: no struct is declared here, its room is bounded
//! by the headers.

mod calls;
mod libnettle;

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::OnceLock;

use wattlock_bench::implementation::{About, Found, Implementation};
use wattlock_ciphers::{Direction, Error, MAX_IV_B, Spec, Suite};
use wattlock_records::CodePath;

use self::calls::{Calls, Chained, Keying, Nonce};
use self::libnettle::library;
use crate::adapter::keeping::{KeptKey, Room, room, three_keys};
use crate::adapter::mode_adapter::{self, Handle, Moded};
use crate::adapter::{child_process, file, lengths};
use crate::library::Library;

/// Room for a context, bytes. By the headers of 3.8, on 64 bits, those of Blowfish, Twofish and GCM have 4,168 to 4,400
/// bytes, and the next, Serpent's, 528.
fn room_B(family: &str) -> usize {
    if matches!(family, "blowfish" | "twofish" | "aes-gcm") { 8 * 1024 } else { 1024 }
}

/// nettle.
struct Nettle;

/// The provider of this file.
pub fn libraries() -> Vec<Box<dyn Library>> {
    vec![Box::new(Nettle)]
}

impl Library for Nettle {
    fn name(&self) -> &str {
        "nettle"
    }

    fn open(&self) -> Result<About, String> {
        Ok(About::of(library()?.version()))
    }

    fn file(&self) -> Option<PathBuf> {
        file::holding(library().ok()?.functions.nettle_cbc_encrypt as *const () as usize)
    }

    fn find(&self, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
        let calls = Calls::of(library()?, spec)?;
        let suite = NettleSuite { spec: *spec, calls, room_B: room_B(spec.card.family) };
        Ok(Box::new(Found::of_path(suite, path(spec))))
    }
}

/// What the library chose for AES on this processor; it does not tell of other ciphers.
///
/// * `said`: what it writes when it is loaded with `NETTLE_FAT_VERBOSE` set; empty where it was built for one processor.
fn chosen(said: &str) -> Option<CodePath> {
    if said.contains("libnettle: using aes instructions") {
        Some(CodePath::Aesni)
    } else if said.contains("enabling hardware accelerated AES") {
        Some(CodePath::Armv8)
    } else if said.contains("not using aes instructions") {
        Some(CodePath::Tables)
    } else {
        None
    }
}

fn path(spec: &Spec) -> Option<CodePath> {
    static CHOSEN: OnceLock<Option<CodePath>> = OnceLock::new();
    if !spec.card.family.starts_with("aes") {
        return None;
    }
    *CHOSEN.get_or_init(|| child_process::said("nettle", "NETTLE_FAT_VERBOSE").and_then(|said| chosen(&said)))
}

/// A cipher of the library, ready to take keys.
#[derive(Clone)]
struct NettleSuite {
    spec: Spec,
    calls: Calls,
    room_B: usize,
}

/// A context with this key.
///
/// # Safety
/// The function takes a key of this length, and its context has room.
#[inline]
unsafe fn keyed(keying: Keying, key: &[u8], room_B: usize) -> Room {
    let mut context = room(room_B);
    let pointer = context.as_mut_ptr().cast();
    // SAFETY: as the caller promises; the key is as long as said, or as the function takes it.
    unsafe {
        match keying {
            Keying::Fixed(set) => set(pointer, key.as_ptr()),
            Keying::TwoOfThree(set) => set(pointer, three_keys(key).as_ptr()),
            Keying::Sized(set) => set(pointer, key.len(), key.as_ptr()),
            Keying::Effective(set, bits) => set(pointer, key.len(), key.as_ptr(), bits),
        }
    }
    context
}

impl Suite for NettleSuite {
    type Cipher = Moded<Keyed>;

    #[inline]
    fn key_setup(&self, key: &[u8], direction: Direction) -> Result<Self::Cipher, Error> {
        lengths::key(&self.spec, key)?;
        let mut keyed = Keyed {
            calls: self.calls,
            key: KeptKey::of(key),
            room_B: self.room_B,
            contexts: [None, None],
            iv: [0; MAX_IV_B],
        };
        keyed.context(direction == Direction::Decrypt);
        Ok(Moded::new(&self.spec, keyed))
    }
}

/// A key with its contexts: that of the other direction is made when it is first used.
struct Keyed {
    calls: Calls,
    key: KeptKey,
    /// Bytes of a context.
    room_B: usize,
    contexts: [Option<Room>; 2],
    /// Where a message stands.
    iv: [u8; MAX_IV_B],
}

impl Keyed {
    /// Which of the contexts a direction works in: the first is the forward one.
    #[inline(always)]
    fn slot(&self, decrypts: bool) -> usize {
        usize::from(decrypts && matches!(self.calls, Calls::Blocks { forwards: false, .. }))
    }

    /// The context in which a direction works.
    #[inline(always)]
    fn context(&mut self, decrypts: bool) -> *mut c_void {
        let at = self.slot(decrypts);
        let Self { calls, key, room_B, contexts, .. } = self;
        let context = contexts[at].get_or_insert_with(|| {
            let keying = match calls {
                Calls::Blocks { keyings, .. } => keyings[at],
                Calls::Stream { keying, .. } | Calls::Aead { keying, .. } => *keying,
            };
            // SAFETY: the key is as long as the spec says, which is what the function of this cipher takes; the room is
            // that of its family.
            unsafe { keyed(keying, key.bytes(), *room_B) }
        });
        context.as_mut_ptr().cast()
    }
}

impl Handle for Keyed {
    #[inline(always)]
    fn start(&mut self, _decrypts: bool, iv: &[u8]) -> Result<(), Error> {
        if let Calls::Stream { nonce: Some(nonce), .. } = self.calls {
            let context = self.context(false);
            // SAFETY: the context has its key, and the nonce is as long as the spec says.
            unsafe { nonce(context, iv.as_ptr()) };
            return Ok(());
        }
        match <[u8; 16]>::try_from(iv) {
            Ok(iv) => self.iv[..16].copy_from_slice(&iv),
            Err(_) => self.iv[..iv.len()].copy_from_slice(iv),
        }
        Ok(())
    }

    #[inline(always)]
    fn run(&mut self, decrypts: bool, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let (slot, context) = (self.slot(decrypts), self.context(decrypts));
        let (to, from, length_B) = (output.as_mut_ptr(), input.as_ptr(), input.len());
        // SAFETY: the context has its key in this direction, both texts are as long as said, the IV is a block's.
        unsafe {
            match self.calls {
                Calls::Blocks { blocks, chains, block_B, .. } => match chains[usize::from(decrypts)] {
                    Chained::Not => blocks[slot](context, length_B, to, from),
                    Chained::ByAny(chain) => {
                        chain(context, blocks[slot], block_B, self.iv.as_mut_ptr(), length_B, to, from);
                    }
                    Chained::ByOwn(chain) => chain(context, self.iv.as_mut_ptr(), length_B, to, from),
                },
                Calls::Stream { run, .. } => run(context, length_B, to, from),
                Calls::Aead { .. } => return Err(Error::NoSuchOperation),
            }
        }
        Ok(())
    }

    #[inline]
    fn seal(&mut self, iv: &[u8], data: &[u8], input: &[u8], output: &mut [u8], out: &mut [u8]) -> Result<(), Error> {
        self.authenticated(false, iv, data, input, output, out)
    }

    #[inline]
    fn open(&mut self, iv: &[u8], data: &[u8], input: &[u8], output: &mut [u8], given: &[u8]) -> Result<(), Error> {
        let mut right = [0; MAX_IV_B];
        let right = &mut right[..given.len()];
        self.authenticated(true, iv, data, input, output, right)?;
        mode_adapter::same(right, given)
    }
}

impl Keyed {
    #[inline]
    fn authenticated(
        &mut self,
        decrypts: bool,
        iv: &[u8],
        data: &[u8],
        input: &[u8],
        output: &mut [u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let Calls::Aead { nonce, aad, runs, tag, .. } = self.calls else {
            return Err(Error::NoSuchOperation);
        };
        let context = self.context(false);
        // SAFETY: the context has its key; all lengths are as said; a fixed nonce is as long as the spec says.
        unsafe {
            match nonce {
                Nonce::Fixed(set) => set(context, iv.as_ptr()),
                Nonce::Sized(set) => set(context, iv.len(), iv.as_ptr()),
                Nonce::WithLengths(set) => set(context, iv.len(), iv.as_ptr(), data.len(), input.len(), out.len()),
            }
            aad(context, data.len(), data.as_ptr());
            runs[usize::from(decrypts)](context, input.len(), output.as_mut_ptr(), input.as_ptr());
            tag(context, out.len(), out.as_mut_ptr());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::agreement;

    #[test]
    fn every_cipher_that_nettle_has_passes_the_proof_of_its_card() {
        let ids = [
            "aes128-ecb",
            "aes256-cbc",
            "aes192-ctr",
            "aes128-cfb",
            "des-cbc",
            "3des-cbc",
            "rc2-128-e64-cbc",
            "rc4-128",
            "blowfish128-cbc",
            "cast128-cfb",
            "3des2-ctr",
            "camellia128-cbc",
            "camellia192-ecb",
            "camellia256-ctr",
            "twofish256-cbc",
            "serpent192-cbc",
            "chacha20",
            "salsa20",
            "aes128-gcm",
            "aes128-ccm",
            "aes256-ccm8",
            "aes128-eax",
            "chacha20-poly1305",
        ];
        agreement::proves_all(&Nettle, &ids);
    }

    #[test]
    fn the_path_of_aes_is_what_the_library_says_that_it_chose() {
        let begun = "libnettle: fat library initialization.\nlibnettle: cpu features: vendor:amd,aesni\n";
        assert_eq!(chosen(&format!("{begun}libnettle: using aes instructions.\n")), Some(CodePath::Aesni));
        assert_eq!(chosen(&format!("{begun}libnettle: not using aes instructions.\n")), Some(CodePath::Tables));
        assert_eq!(
            chosen(&format!("{begun}libnettle: enabling hardware accelerated AES encrypt/decrypt code.\n")),
            Some(CodePath::Armv8)
        );
        assert_eq!(chosen(""), None);
    }

    #[test]
    fn nettle_agrees_with_the_built_in_ciphers_on_random_keys_ivs_and_lengths() {
        agreement::agrees_with_what_is_built_in(&Nettle);
    }
}
