//! What an open libcrypto has for a spec: its cipher's name, its suite, the path that it takes.

use wattlock_bench::implementation::{Found, Implementation};
use wattlock_ciphers::{Mode, Spec};
use wattlock_records::CodePath;

use super::keyed::{AeadSuite, CHACHA20_IV_B, EvpSuite};
use crate::adapter::functions::opened_once;
use crate::libraries::libcrypto::{Aead, Evp, FILES, Libcrypto};

opened_once!(pub Libcrypto, || Libcrypto::open(FILES));

/// The code for `spec` of an open library.
///
/// # Errors
/// Why it has none.
pub fn find(library: &'static Libcrypto, spec: &Spec) -> Result<Box<dyn Implementation>, String> {
    let evp = library.fetch(&name(spec)?)?;
    let (path, of) = (path(library, spec), Some(evp.provider().to_owned()));
    Ok(match spec.card.mode {
        Mode::Aead => Box::new(Found { suite: aead_suite(spec, evp), path, of }),
        _ => Box::new(Found { suite: suite(spec, evp)?, path, of }),
    })
}

/// OpenSSL's name of a cipher.
///
/// # Errors
/// Why there is none.
pub fn name(spec: &Spec) -> Result<String, String> {
    let (family, key_bits) = (spec.card.family, spec.key_bits);
    let block_cipher = match family {
        "aes" | "camellia" => &*format!("{}-{key_bits}", family.to_uppercase()),
        "des" => "DES",
        "3des" => "DES-EDE3",
        "3des2" => "DES-EDE",
        "rc2" => "RC2",
        "blowfish" => "BF",
        "cast" | "cast128" => "CAST5",
        "idea" => "IDEA",
        "sm4" => "SM4",
        "rc4" => return Ok("RC4".to_owned()),
        "chacha20" => return Ok("ChaCha20".to_owned()),
        "chacha20-poly1305" => return Ok("ChaCha20-Poly1305".to_owned()),
        "aes-gcm" => return Ok(format!("AES-{key_bits}-GCM")),
        "aes-ccm" | "aes-ccm8" => return Ok(format!("AES-{key_bits}-CCM")),
        "aes-ocb3" | "aes-ocb" => return Ok(format!("AES-{key_bits}-OCB")),
        _ => return Err("OpenSSL 3 has no cipher of this family".to_owned()),
    };
    let mode = match spec.card.mode {
        Mode::Ecb if family.starts_with("3des") => return Ok(block_cipher.to_owned()),
        Mode::Ecb => "ECB",
        Mode::Cbc => "CBC",
        Mode::Ctr if spec.card.block_bits == 64 => {
            return Err("OpenSSL has no CTR mode for blocks of 64 bits".to_owned());
        }
        Mode::Ctr => "CTR",
        Mode::Cfb => "CFB",
        Mode::Ofb => "OFB",
        mode => return Err(format!("OpenSSL 3 has no {block_cipher} as {mode}")),
    };
    Ok(format!("{block_cipher}-{mode}"))
}

pub fn suite(spec: &Spec, evp: &'static Evp) -> Result<EvpSuite, String> {
    let chains = matches!(spec.card.mode, Mode::Ecb | Mode::Cbc);
    let iv_B = if spec.card.family == "chacha20" { CHACHA20_IV_B } else { spec.iv_B() };
    let right = (if chains { spec.block_B() } else { 1 }, iv_B);
    let (block_B, iv_B) = evp.sizes();
    if (block_B, iv_B) == right {
        return Ok(EvpSuite { spec: *spec, evp });
    }
    Err(format!("OpenSSL's has blocks of {block_B} and an IV of {iv_B} bytes, not {} and {}", right.0, right.1))
}

fn aead_suite(spec: &Spec, evp: &'static Evp) -> AeadSuite {
    let is_ccm = spec.card.family.starts_with("aes-ccm");
    let sets_tag_length = is_ccm || spec.card.family.starts_with("aes-ocb");
    let aead = Aead { evp, nonce_B: spec.iv_B(), tag_B: spec.tag_B(), is_ccm, sets_tag_length };
    AeadSuite { spec: *spec, aead }
}

/// Which way the library goes on this processor: for AES by the features that it found, of others it does not say.
fn path(library: &Libcrypto, spec: &Spec) -> Option<CodePath> {
    let is_aes = spec.card.family == "aes" || spec.card.family.starts_with("aes-");
    if is_aes { aes_path(&library.cpu_settings()) } else { None }
}

/// What `OPENSSL_ia32cap` or `OPENSSL_armcap` means for AES.
///
/// * Returns `None` where the settings say nothing of it.
///
/// # Source
/// OPENSSL_ia32cap(3): bit 57 is AES-NI, bit 41 SSSE3; `arm_arch.h` of OpenSSL 3.0: bit 2 is `ARMV8_AES`.
pub fn aes_path(settings: &str) -> Option<CodePath> {
    let capabilities = |name: &str| {
        let (_, after) = settings.split_once(name)?;
        let digits = after.split(|letter: char| !letter.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok()
    };
    if let Some(x86) = capabilities("OPENSSL_ia32cap=0x") {
        return Some(match (x86 >> 57 & 1, x86 >> 41 & 1) {
            (1, _) => CodePath::Aesni,
            (_, 1) => CodePath::Ssse3,
            _ => CodePath::Tables,
        });
    }
    let arm = capabilities("OPENSSL_armcap=0x")?;
    (arm >> 2 & 1 == 1).then_some(CodePath::Armv8)
}
