//! `wattlock-probe selftest`: every cipher against its proof.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use serde::Serialize;
use wattlock_ciphers::{Spec, listed, proof};

use super::table::{Format, print_rows};
use super::{Failure, named};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe selftest
  wattlock-probe selftest --cipher aes128-cbc --format json

Exit codes: 1 where a cipher is not proven, 3 for an unknown cipher.";

const COLUMNS: &[&str] =
    &["cipher", "provider", "version", "backend", "proof", "vectors", "composed", "result", "detail"];

/// Proves every cipher by its published vectors and by composition.
#[derive(clap::Args)]
pub struct Options {
    /// Only these ids.
    #[arg(long, value_name = "ID", num_args = 1..)]
    cipher: Vec<String>,
    /// How the rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What came of one cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It computes what it should.
    Right,
    /// It does not.
    Wrong,
    /// Nothing was there to compare it with.
    Unproven,
}

#[derive(Serialize)]
struct Row {
    cipher: String,
    provider: &'static str,
    version: &'static str,
    backend: &'static str,
    /// `published`, `computed` or `composition`: the strongest of its proofs; null where it failed.
    proof: Option<&'static str>,
    /// Vectors that passed; of them were published.
    vectors: u16,
    published: u16,
    composed: bool,
    result: Outcome,
    detail: Option<String>,
}

impl Row {
    fn of(spec: &Spec) -> Self {
        let mut row = Self {
            cipher: spec.to_string(),
            provider: spec.card.provider,
            version: spec.card.version,
            backend: spec.backend(),
            proof: None,
            vectors: 0,
            published: 0,
            composed: false,
            result: Outcome::Wrong,
            detail: None,
        };
        match proof::prove(spec) {
            Err(error) => row.detail = Some(error.to_string()),
            Ok(proof) if proof.vectors == 0 && !proof.composed => {
                row.result = Outcome::Unproven;
                row.detail = Some("no vector and no composition to compare with".to_owned());
            }
            Ok(proof) => {
                row.result = Outcome::Right;
                row.proof = Some(proof.kind);
                (row.vectors, row.published, row.composed) = (proof.vectors, proof.published, proof.composed);
            }
        }
        row
    }
}

/// Prints a row a cipher; gives 1 where one is not right.
///
/// # Errors
/// An unknown cipher (3), standard output that can't be written.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let specs: Vec<_> = if options.cipher.is_empty() {
        listed().collect()
    } else {
        options.cipher.iter().map(|id| named(id)).collect::<Result<_, _>>()?
    };
    let rows: Vec<_> = specs.iter().map(Row::of).collect();
    print_rows(&rows, COLUMNS, options.format)?;
    let all_right = rows.iter().all(|row| row.result == Outcome::Right);
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
