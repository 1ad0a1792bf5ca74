//! `wattlock-probe catalogue`: the ciphers that this program can measure.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use wattlock_ciphers::{Spec, listed, nearest};

use super::Failure;
use super::table::{Format, print_rows};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe catalogue
  wattlock-probe catalogue --cipher aes128-cbc rc5-32-12-128-ctr --format json";

const COLUMNS: &[&str] =
    &["id", "key_bits", "block_bits", "iv_B", "rounds", "provider", "backend", "version", "timing", "proof"];

/// Lists the ciphers that can be measured, and how each is proven.
#[derive(clap::Args)]
pub struct Options {
    /// Only these ids; parameters beyond the listed ones are allowed, an unknown id gives a row with its error.
    #[arg(long, value_name = "ID", num_args = 1..)]
    cipher: Vec<String>,
    /// How the rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// One cipher, or why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum Row {
    Known(Box<Known>),
    Unknown { id: String, error: String, nearest: Option<String> },
}

/// One cipher with its parameters.
#[derive(Serialize)]
struct Known {
    id: String,
    card: &'static str,
    family: &'static str,
    mode: String,
    provider: &'static str,
    backend: &'static str,
    version: &'static str,
    key_bits: u16,
    effective_bits: u16,
    block_bits: u16,
    rounds: Option<u8>,
    iv_B: usize,
    timing: String,
    proof: &'static str,
    source: &'static str,
}

impl Row {
    fn of_id(id: &str) -> Self {
        match Spec::parse(id) {
            Ok(spec) => Self::of(&spec),
            Err(error) => Self::Unknown {
                id: id.to_owned(),
                error: error.to_string(),
                nearest: nearest(id).map(|spec| spec.to_string()),
            },
        }
    }

    fn of(spec: &Spec) -> Self {
        let card = spec.card;
        Self::Known(Box::new(Known {
            id: spec.to_string(),
            card: card.id,
            family: card.family,
            mode: card.mode.to_string(),
            provider: card.provider,
            backend: spec.backend(),
            version: card.version,
            key_bits: spec.key_bits,
            effective_bits: spec.effective_bits,
            block_bits: card.block_bits,
            rounds: spec.rounds,
            iv_B: spec.iv_B(),
            timing: card.timing.to_string(),
            proof: card.proof,
            source: card.source,
        }))
    }
}

/// Prints the rows; an unknown id is a row, not a failure.
///
/// # Errors
/// Standard output that can't be written.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let rows: Vec<_> = if options.cipher.is_empty() {
        listed().map(|spec| Row::of(&spec)).collect()
    } else {
        options.cipher.iter().map(|id| Row::of_id(id)).collect()
    };
    if options.format == Format::Json {
        print_rows(&rows, COLUMNS, Format::Json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (known, unknown): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| matches!(row, Row::Known(_)));
    print_rows(&known, COLUMNS, options.format)?;
    for row in unknown {
        let Row::Unknown { id, error, nearest } = row else { continue };
        let meant = nearest.map(|nearest| format!("; did you mean {nearest:?}?")).unwrap_or_default();
        // Words that nobody reads are no reason to fail.
        let _ = writeln!(io::stderr(), "warning: {id:?}: {error}{meant}");
    }
    Ok(ExitCode::SUCCESS)
}
