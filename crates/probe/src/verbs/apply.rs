//! `wattlock-probe apply`: standard input through a cipher to standard output, so that anybody can check it.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use data_encoding::HEXLOWER_PERMISSIVE;
use wattlock_ciphers::{Direction, Error, MAX_PADDING_B, Mode, Spec};
use wattlock_providers::library_file;
use wattlock_records::LibraryFile;
use wattlock_terminal::ciphers::{named, providers};
use wattlock_terminal::failure::{Failure, deliver};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe apply --cipher rc4-128 --operation encrypt --key-file key.hex < plain > sealed
  (cat key.hex; cat sealed) |
    wattlock-probe apply --cipher rc4-128 --operation decrypt --key-file - > plain

ECB and CBC pad by PKCS#7. The IV of CTR is the first counter block, big-endian over the whole block.
The message is held in memory, at most 1 GiB of it. Nothing is written where anything is wrong.
Seal gives the ciphertext followed by the tag; open takes both and writes nothing where the tag is wrong.
Encrypt does not authenticate: a changed ciphertext decrypts to a changed plaintext, often without an error.

Exit codes:
  2   usage
  3   an unknown cipher or provider
  4   a key or an IV of the wrong length, a wrong tag
  5   a ciphertext that can't be decrypted
  9   standard output that can't be written, is closed, or whose reader has gone
  10  an input that can't be read, or is too long, for this program or for the cipher";

/// The longest message.
const MOST_B: u64 = 1 << 30;
/// The longest key file, and the longest first line of standard input that may be a key.
const MOST_KEY_TEXT_B: u64 = 4096;

/// Encrypts, decrypts, seals or opens standard input to standard output, raw bytes.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("where the key is").required(true).args(["key", "key_file"]))]
pub struct Options {
    /// Which cipher; `wattlock-probe catalogue` lists them.
    #[arg(long, value_name = "ID")]
    cipher: String,
    /// What is done.
    #[arg(long, value_enum)]
    operation: Operation,
    /// The key in hex digits. Visible to others in the list of processes and in the shell's history: prefer --key-file.
    #[arg(long, value_name = "HEX")]
    key: Option<String>,
    /// A file that holds the key in hex digits; `-` takes it from the first line of standard input, the message follows.
    #[arg(long, value_name = "PATH")]
    key_file: Option<PathBuf>,
    /// The IV or nonce in hex digits, for ciphers that have one.
    #[arg(long, value_name = "HEX")]
    iv: Option<String>,
    /// Associated data in hex digits, for seal and open.
    #[arg(long, value_name = "HEX", default_value = "", conflicts_with = "aad_file")]
    aad: String,
    /// A file whose bytes are the associated data.
    #[arg(long, value_name = "PATH")]
    aad_file: Option<PathBuf>,
    /// Whose code; the first that is built in where none is named.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// A library of your own, by its file or under a name; CONTRIBUTING.md, "Weigh your own library", says what it needs.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = library_file)]
    library: Vec<LibraryFile>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Operation {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
    /// From plaintext to ciphertext and tag.
    Seal,
    /// From ciphertext and tag to plaintext.
    Open,
}

impl Operation {
    fn is_backward(self) -> bool {
        matches!(self, Self::Decrypt | Self::Open)
    }

    fn is_authenticated(self) -> bool {
        matches!(self, Self::Seal | Self::Open)
    }
}

/// Reads, applies, writes.
///
/// # Errors
/// As the exit codes in [`EXAMPLE`] say.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let spec = named(&options.cipher)?;
    fits(&spec, &options)?;
    let first = spec.card.codes.first().map(|code| code.provider);
    let provider = options.provider.as_deref().or(first).unwrap_or_default();
    let offer = providers(&options.library)?.find(provider, &spec);
    let code = offer.map_err(|error| Failure::new(3, error).hint("`wattlock-probe catalogue` lists all of them"))?.code;
    let aad = match &options.aad_file {
        Some(path) => of_file("--aad-file", path, MOST_B)?,
        None => from_hex("--aad", &options.aad)?,
    };
    let mut input = io::stdin().lock();
    let key = key(&options, &mut input)?;
    let iv = match &options.iv {
        Some(text) => from_hex("--iv", text)?,
        None if spec.iv_B() == 0 => Vec::new(),
        None => {
            let message = format!("{spec} needs an IV of {} bytes, none is given", spec.iv_B());
            return Err(Failure::new(4, message).hint(format!("--iv with {} hex digits", 2 * spec.iv_B())));
        }
    };
    let direction = if options.operation.is_backward() { Direction::Decrypt } else { Direction::Encrypt };
    // Refused before a message is waited for.
    let mut cipher = code.key_setup(&key, direction).map_err(|error| refused(&spec, error))?;
    iv_fits(&spec, &iv).map_err(|error| refused(&spec, error))?;
    let message = message(&mut input, MOST_B)?;
    let mut output = vec![0; message.len() + MAX_PADDING_B];
    let written = match options.operation {
        Operation::Encrypt => cipher.encrypt(&iv, &message, &mut output),
        Operation::Decrypt => cipher.decrypt(&iv, &message, &mut output),
        Operation::Seal => cipher.seal(&iv, &aad, &message, &mut output),
        Operation::Open => cipher.open(&iv, &aad, &message, &mut output),
    };
    deliver(&output[..written.map_err(|error| refused(&spec, error))?])?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses what the cipher does not do.
fn fits(spec: &Spec, options: &Options) -> Result<(), Failure> {
    let is_aead = spec.card.mode == Mode::Aead;
    if options.operation.is_authenticated() != is_aead {
        let right = if is_aead { "seal or open" } else { "encrypt or decrypt" };
        return Err(Failure::new(2, format!("{spec} has no such operation")).hint(format!("--operation {right}")));
    }
    if !is_aead && (!options.aad.is_empty() || options.aad_file.is_some()) {
        return Err(Failure::new(2, format!("{spec} has no associated data")).hint("leave --aad and --aad-file out"));
    }
    Ok(())
}

fn key(options: &Options, input: &mut impl BufRead) -> Result<Vec<u8>, Failure> {
    match (&options.key, &options.key_file) {
        (Some(text), _) => from_hex("--key", text),
        (None, Some(path)) if path == Path::new("-") => {
            let mut line = Vec::new();
            let read = input.by_ref().take(MOST_KEY_TEXT_B).read_until(b'\n', &mut line);
            read.map_err(unreadable)?;
            from_hex("the first line of standard input", &String::from_utf8_lossy(&line))
        }
        (None, Some(path)) => {
            let mut text = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MOST_KEY_TEXT_B).read_to_end(&mut text));
            read.map_err(|error| {
                Failure::new(10, format!("--key-file {}: {error}", path.display()))
                    .hint("a readable file that holds the key in hex digits, or - for standard input")
            })?;
            from_hex(&format!("--key-file {}", path.display()), &String::from_utf8_lossy(&text))
        }
        (None, None) => Err(Failure::new(2, "no key is given").hint("--key-file PATH, or --key HEX")),
    }
}

/// The bytes of a file.
fn of_file(option: &str, path: &Path, most_B: u64) -> Result<Vec<u8>, Failure> {
    let refused = |why: String| Failure::new(10, format!("{option} {}: {why}", path.display()));
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most_B + 1).read_to_end(&mut bytes));
    read.map_err(|error| refused(error.to_string()).hint("a file that can be read"))?;
    if bytes.len() as u64 > most_B {
        return Err(refused(format!("more than {most_B} bytes")).hint("a smaller file"));
    }
    Ok(bytes)
}

/// The bytes that hex digits stand for; what they are is not repeated in the error, they may be a key.
fn from_hex(place: &str, text: &str) -> Result<Vec<u8>, Failure> {
    let text = text.trim();
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|error| {
        let wrong = match text.chars().position(|letter| !letter.is_ascii_hexdigit()) {
            Some(at) => format!("character {} is no hex digit", at + 1),
            None if text.len() % 2 == 1 => format!("{} hex digits are no whole number of bytes", text.len()),
            None => error.to_string(),
        };
        Failure::new(2, format!("{place}: {wrong}")).hint("two hex digits a byte, as in 00ff10")
    })
}

/// The rest of the input.
fn message(input: &mut impl Read, most_B: u64) -> Result<Vec<u8>, Failure> {
    let mut message = Vec::new();
    let read = input.take(most_B + 1).read_to_end(&mut message);
    read.map_err(unreadable)?;
    if message.len() as u64 > most_B {
        return Err(Failure::new(10, format!("standard input: more than {most_B} bytes")).hint("a smaller message"));
    }
    Ok(message)
}

fn unreadable(error: io::Error) -> Failure {
    Failure::new(10, format!("standard input: {error}")).hint("give it a file or a pipe, as in `< message`")
}

fn iv_fits(spec: &Spec, iv: &[u8]) -> Result<(), Error> {
    let right_B = spec.iv_B();
    if iv.len() == right_B { Ok(()) } else { Err(Error::WrongIvLength { given_B: iv.len(), right_B }) }
}

fn refused(spec: &Spec, error: Error) -> Failure {
    let message = format!("{spec}: {error}");
    match error {
        Error::WrongKeyLength { right_bits, .. } => {
            Failure::new(4, message).hint(format!("the key in {} hex digits", right_bits / 4))
        }
        Error::WrongIvLength { right_B: 0, .. } => Failure::new(4, message).hint("leave --iv out"),
        Error::WrongIvLength { right_B, .. } => {
            Failure::new(4, message).hint(format!("--iv with {} hex digits", 2 * right_B))
        }
        Error::NotWholeBlocks { .. } => Failure::new(5, message).hint("the ciphertext is cut, or of another cipher"),
        Error::Forged => {
            Failure::new(4, message).hint("nothing of it is written: the key, nonce and associated data of the sender")
        }
        Error::TooLong { .. } => Failure::new(10, message).hint("several messages, each under a nonce of its own"),
        Error::BadPadding => Failure::new(5, message).hint("the key and the IV with which it was encrypted"),
        _ => Failure::new(5, message),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_limit_is_taken_and_one_byte_more_is_refused() {
        assert_eq!(message(&mut &[7; 100][..], 100).unwrap(), [7; 100]);
        assert_eq!(message(&mut &[7; 101][..], 100).unwrap_err().code, 10);
    }

    #[test]
    fn a_key_with_a_wrong_letter_is_refused_without_being_repeated() {
        let error = from_hex("--key", "00ffzz").unwrap_err();
        assert_eq!(error.message, "--key: character 5 is no hex digit");
        assert_eq!(from_hex("--key", " 00FF\r\n").unwrap(), [0, 255]);
        assert_eq!(from_hex("--key", "00f").unwrap_err().message, "--key: 3 hex digits are no whole number of bytes");
    }
}
