//! The keys that a command line gives.

use data_encoding::HEXLOWER_PERMISSIVE;
use wattlock_frames::handshake::psk;
use wattlock_terminal::failure::Failure;
use zeroize::Zeroizing;

use crate::frames::observer::Masters;

/// The keys that keys of pairs are made of.
pub fn masters(passphrases: &[String], pmks: &[String], ssids: &[String]) -> Result<Masters, Failure> {
    if !passphrases.is_empty() && ssids.len() != 1 && ssids.len() != passphrases.len() {
        let message = format!("{} times --passphrase and {} times --ssid", passphrases.len(), ssids.len());
        return Err(Failure::new(2, message).hint("one --ssid for all, or one for each --passphrase"));
    }
    if let Some(wrong) = ssids.iter().find(|ssid| ssid.is_empty() || ssid.len() > 32) {
        return Err(Failure::new(4, format!("--ssid has {} bytes", wrong.len())).hint("an SSID has 1 to 32 bytes"));
    }
    let of_passphrases =
        passphrases.iter().zip(ssids.iter().cycle()).map(|(passphrase, ssid)| match passphrase.len() {
            8..=63 => Ok(Zeroizing::new(psk(passphrase.as_bytes(), ssid.as_bytes()).to_vec())),
            64 => from_hex("--passphrase", passphrase).map(Zeroizing::new),
            given => {
                let message = format!("--passphrase has {given} characters");
                Err(Failure::new(4, message).hint("a passphrase has 8 to 63, a PSK 64 hex digits"))
            }
        });
    Ok(Masters {
        of_passphrases: of_passphrases.collect::<Result<_, _>>()?,
        given: keys("--pmk", pmks, &PMKS_B)?.into_iter().map(Zeroizing::new).collect(),
        names: ssids.iter().map(|ssid| ssid.as_bytes().to_vec()).collect(),
    })
}

pub fn keys(name: &str, texts: &[String], right_B: &[usize]) -> Result<Vec<Vec<u8>>, Failure> {
    let key = |text: &String| {
        let bytes = from_hex(name, text)?;
        if right_B.contains(&bytes.len()) { Ok(bytes) } else { Err(wrong_length(name, bytes.len(), right_B)) }
    };
    texts.iter().map(key).collect()
}

/// Octets of a key of WEP.
pub const WEP_B: [usize; 2] = [5, 13];
/// Octets of a master key: of SHA-1 and SHA-256, of SHA-384, and of OWE with SHA-512.
const PMKS_B: [usize; 3] = [32, 48, 64];

pub fn wrong_length(name: &str, given_B: usize, right_B: &[usize]) -> Failure {
    let each = |of_byte: usize| right_B.iter().map(|B| (of_byte * B).to_string()).collect::<Vec<_>>().join(" or ");
    let message = format!("{name}: the key has {} hex digits, not {}", 2 * given_B, each(2));
    Failure::new(4, message).hint(format!("a key of {} bits", each(8)))
}

pub fn from_hex(name: &str, text: &str) -> Result<Vec<u8>, Failure> {
    let text = text.trim();
    let hint = "an even number of hex digits, without spaces or colons";
    // The key itself is not repeated: words are kept longer than keys.
    let wrong = || match text.chars().position(|digit| !digit.is_ascii_hexdigit()) {
        Some(at) => format!("{name}: character {} is no hex digit", at + 1),
        None => format!("{name}: {} hex digits, an odd number", text.len()),
    };
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| Failure::new(4, wrong()).hint(hint))
}
