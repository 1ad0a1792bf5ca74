//! What a cipher of nettle is made of: which functions, and in which shape each takes its key and its nonce.

use std::ffi::{c_uint, c_void};

use wattlock_ciphers::{Mode, Spec};

use super::libnettle::{Block, Libnettle};

/// A mode around it: context, function, block size, IV, length, destination, source.
pub type Chain = unsafe extern "C" fn(*const c_void, Block, usize, *mut u8, usize, *mut u8, *const u8);
/// `cbc_aes..._encrypt(ctx, IV, length, destination, source)`.
pub type OwnChain = unsafe extern "C" fn(*const c_void, *mut u8, usize, *mut u8, *const u8);
/// `..._set_key(ctx, key)`.
pub type SetKey = unsafe extern "C" fn(*mut c_void, *const u8);
/// `..._set_key(ctx, length, key)`; what it returns (a weak key, nothing) is not looked at.
pub type SetSizedKey = unsafe extern "C" fn(*mut c_void, usize, *const u8);
/// `nettle_arctwo_set_key_ekb(ctx, length, key, effective bits)`.
pub type SetEffectiveKey = unsafe extern "C" fn(*mut c_void, usize, *const u8, c_uint);
/// `..._crypt(ctx, length, destination, source)` of what changes its context, and `..._update`, `..._digest`.
pub type Stream = unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8);
pub type Take = unsafe extern "C" fn(*mut c_void, usize, *const u8);
pub type Give = unsafe extern "C" fn(*mut c_void, usize, *mut u8);
/// `ccm_..._set_nonce(ctx, length, nonce, lengths of data, message and tag)`.
pub type SetNonceAndLengths = unsafe extern "C" fn(*mut c_void, usize, *const u8, usize, usize, usize);

/// How a key is given.
#[derive(Clone, Copy)]
pub enum Keying {
    Fixed(SetKey),
    /// Keying option 2 of Triple DES: the third key is the first.
    TwoOfThree(SetKey),
    Sized(SetSizedKey),
    Effective(SetEffectiveKey, c_uint),
}

/// What a cipher of nettle is made of.
#[derive(Clone, Copy)]
pub enum Calls {
    /// Key schedules and block functions either way, and the mode's functions.
    /// `forwards`: the mode needs the block cipher in one direction only.
    Blocks { keyings: [Keying; 2], blocks: [Block; 2], chains: [Chained; 2], forwards: bool, block_B: usize },
    /// A key stream; with a nonce where there is one.
    Stream { keying: Keying, nonce: Option<SetKey>, run: Stream },
    /// An AEAD: nonce, associated data, text either way, tag.
    Aead { keying: Keying, nonce: Nonce, aad: Take, runs: [Stream; 2], tag: Give },
}

/// How blocks become a message.
#[derive(Clone, Copy)]
pub enum Chained {
    /// Each by itself.
    Not,
    /// By a function for any cipher.
    ByAny(Chain),
    /// By one for this cipher.
    ByOwn(OwnChain),
}

/// How the nonce of an AEAD is given.
#[derive(Clone, Copy)]
pub enum Nonce {
    Fixed(SetKey),
    Sized(Take),
    /// CCM's wants the lengths of all that follows.
    WithLengths(SetNonceAndLengths),
}

/// How a block cipher's keys are given and its blocks go through, either way.
struct Blocks {
    keyings: [Keying; 2],
    blocks: [Block; 2],
}

impl Calls {
    /// What nettle has for `spec`.
    ///
    /// # Errors
    /// Why it has none.
    pub fn of(library: &'static Libnettle, spec: &Spec) -> Result<Self, String> {
        match spec.card.mode {
            Mode::Stream => Self::stream(library, spec),
            Mode::Aead => Self::authenticated(library, spec),
            _ => Self::chained(library, spec),
        }
    }

    fn stream(library: &Libnettle, spec: &Spec) -> Result<Self, String> {
        // SAFETY: of each branch: the types are those of the functions of these names in nettle's headers.
        unsafe {
            let (keying, nonce, run) = match spec.card.family {
                "rc4" => {
                    let keying = Keying::Sized(library.function("nettle_arcfour_set_key")?);
                    (keying, None, library.function("nettle_arcfour_crypt")?)
                }
                "chacha20" => {
                    let keying = Keying::Fixed(library.function("nettle_chacha_set_key")?);
                    let nonce = library.function("nettle_chacha_set_nonce96")?;
                    (keying, Some(nonce), library.function("nettle_chacha_crypt32")?)
                }
                "salsa20" => {
                    let keying = Keying::Fixed(library.function("nettle_salsa20_256_set_key")?);
                    let nonce = library.function("nettle_salsa20_set_nonce")?;
                    (keying, Some(nonce), library.function("nettle_salsa20_crypt")?)
                }
                _ => return Err(lacks(spec)),
            };
            Ok(Self::Stream { keying, nonce, run })
        }
    }

    fn authenticated(library: &Libnettle, spec: &Spec) -> Result<Self, String> {
        let bits = spec.key_bits;
        let of = match spec.card.family {
            "chacha20-poly1305" => "nettle_chacha_poly1305".to_owned(),
            "aes-gcm" => format!("nettle_gcm_aes{bits}"),
            "aes-ccm" | "aes-ccm8" => format!("nettle_ccm_aes{bits}"),
            "aes-eax" if bits == 128 => "nettle_eax_aes128".to_owned(),
            "aes-eax" => return Err("nettle declares EAX for AES-128 only".to_owned()),
            _ => return Err(lacks(spec)),
        };
        // SAFETY: the types are those of the functions of these names in nettle's headers: the same of all its AEADs,
        // but for how a nonce is given.
        unsafe {
            let nonce = match spec.card.family {
                "chacha20-poly1305" => Nonce::Fixed(library.function(&format!("{of}_set_nonce"))?),
                "aes-gcm" => Nonce::Sized(library.function(&format!("{of}_set_iv"))?),
                "aes-eax" => Nonce::Sized(library.function(&format!("{of}_set_nonce"))?),
                _ => Nonce::WithLengths(library.function(&format!("{of}_set_nonce"))?),
            };
            Ok(Self::Aead {
                keying: Keying::Fixed(library.function(&format!("{of}_set_key"))?),
                nonce,
                aad: library.function(&format!("{of}_update"))?,
                runs: [library.function(&format!("{of}_encrypt"))?, library.function(&format!("{of}_decrypt"))?],
                tag: library.function(&format!("{of}_digest"))?,
            })
        }
    }

    fn chained(library: &Libnettle, spec: &Spec) -> Result<Self, String> {
        let Blocks { keyings, blocks } = Blocks::of(library, spec)?;
        let (functions, family) = (&library.functions, spec.card.family);
        let chains = match spec.card.mode {
            Mode::Ecb => [Chained::Not; 2],
            Mode::Cbc => {
                // SAFETY: the type is that of the functions of such names in nettle's headers.
                let own = unsafe { library.function(&format!("nettle_cbc_{family}{}_encrypt", spec.key_bits)) };
                let any = Chained::ByAny(functions.nettle_cbc_encrypt);
                [own.map_or(any, Chained::ByOwn), Chained::ByAny(functions.nettle_cbc_decrypt)]
            }
            Mode::Cfb => [functions.nettle_cfb_encrypt, functions.nettle_cfb_decrypt].map(Chained::ByAny),
            Mode::Ctr => [Chained::ByAny(functions.nettle_ctr_crypt); 2],
            _ => return Err(format!("nettle has no mode {}", spec.card.mode)),
        };
        let forwards = !matches!(spec.card.mode, Mode::Ecb | Mode::Cbc);
        Ok(Self::Blocks { keyings, blocks, chains, forwards, block_B: spec.block_B() })
    }
}

impl Blocks {
    fn of(library: &Libnettle, spec: &Spec) -> Result<Self, String> {
        let (family, bits) = (spec.card.family, spec.key_bits);
        // SAFETY: of each branch: the types are those of the functions of these names in nettle's headers.
        unsafe {
            let fixed = |name: &str| library.function::<SetKey>(name).map(Keying::Fixed);
            let both = |of: &str| {
                let blocks = [library.function(&format!("{of}_encrypt"))?, library.function(&format!("{of}_decrypt"))?];
                Ok::<_, String>(blocks)
            };
            let (keyings, blocks) = match family {
                "aes" => {
                    let of = format!("nettle_aes{bits}");
                    let keyings = [fixed(&format!("{of}_set_encrypt_key"))?, fixed(&format!("{of}_set_decrypt_key"))?];
                    (keyings, both(&of)?)
                }
                "camellia" => {
                    // So the header names the first, without the key's length.
                    let length = if bits == 128 { String::new() } else { bits.to_string() };
                    let keyings = [
                        fixed(&format!("nettle_camellia{bits}_set_encrypt_key"))?,
                        fixed(&format!("nettle_camellia{length}_set_decrypt_key"))?,
                    ];
                    let crypt = if bits == 128 { "nettle_camellia128_crypt" } else { "nettle_camellia256_crypt" };
                    (keyings, [library.function(crypt)?; 2])
                }
                "rc2" => {
                    let set = library.function("nettle_arctwo_set_key_ekb")?;
                    ([Keying::Effective(set, spec.effective_bits.into()); 2], both("nettle_arctwo")?)
                }
                "des" => ([fixed("nettle_des_set_key")?; 2], both("nettle_des")?),
                "3des" => ([fixed("nettle_des3_set_key")?; 2], both("nettle_des3")?),
                "3des2" => {
                    let set = library.function("nettle_des3_set_key")?;
                    ([Keying::TwoOfThree(set); 2], both("nettle_des3")?)
                }
                "sm4" => {
                    let keyings = [fixed("nettle_sm4_set_encrypt_key")?, fixed("nettle_sm4_set_decrypt_key")?];
                    (keyings, [library.function("nettle_sm4_crypt")?; 2])
                }
                "blowfish" if bits < 64 => return Err("nettle's Blowfish takes keys of 64 bits and more".to_owned()),
                "blowfish" | "cast" | "serpent" | "twofish" => {
                    let set = if family == "cast" { "cast5" } else { family };
                    let of = if family == "cast" { "cast128" } else { family };
                    let set = library.function(&format!("nettle_{set}_set_key"))?;
                    ([Keying::Sized(set); 2], both(&format!("nettle_{of}"))?)
                }
                _ => return Err(lacks(spec)),
            };
            Ok(Self { keyings, blocks })
        }
    }
}

fn lacks(spec: &Spec) -> String {
    format!("nettle has no {spec}")
}
