//! `wattlock-probe selftest`: every cipher of every provider against its proof.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use serde::Serialize;
use wattlock_bench::subject::Variant;
use wattlock_bench::subjects::REGISTRY;
use wattlock_providers::{Providers, library_file};
use wattlock_records::{CodePath, LibraryFile};
use wattlock_terminal::ciphers::{known, providers, unknown};
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe selftest
  wattlock-probe selftest --provider openssl
  wattlock-probe selftest --cipher aes128-cbc --format json

A library of the system that is absent is a row that says why, and no failure; one of your own is.

Exit codes: 1 where a cipher is not proven or a library of your own can't be used, 3 for an unknown cipher or provider.";

const COLUMNS: &[&str] = &["cipher", "provider", "version", "path", "proof", "vectors", "composed", "result", "detail"];

/// Proves every cipher of every provider: by published vectors, by composition, against the built-in implementation.
#[derive(clap::Args)]
pub struct Options {
    /// Only these ids.
    #[arg(long, value_name = "ID", num_args = 1..)]
    cipher: Vec<String>,
    /// Only of these providers.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    provider: Vec<String>,
    /// A library of your own, by its file or under a name; CONTRIBUTING.md, "Weigh your own library", says what it needs.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = library_file)]
    library: Vec<LibraryFile>,
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
    /// The library is not on this machine.
    Absent,
}

#[derive(Serialize)]
struct Row {
    /// Empty in the row of an absent library.
    cipher: String,
    provider: String,
    version: Option<String>,
    path: Option<CodePath>,
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
    fn absent(provider: String, reason: String) -> Self {
        Self {
            cipher: String::new(),
            provider,
            version: None,
            path: None,
            proof: None,
            vectors: 0,
            published: 0,
            composed: false,
            result: Outcome::Absent,
            detail: Some(reason),
        }
    }

    fn of(id: String, provider: String, variant: &dyn Variant) -> Self {
        let mut row = Self::absent(provider, String::new());
        row.cipher = id;
        row.version = Some(variant.version());
        row.path = variant.path();
        match variant.prove() {
            Err(error) => (row.result, row.detail) = (Outcome::Wrong, Some(error)),
            Ok(proof) => {
                (row.result, row.detail, row.proof) = (Outcome::Right, None, Some(proof.kind));
                (row.vectors, row.published, row.composed) = (proof.vectors, proof.published, proof.composed);
            }
        }
        row
    }
}

/// What a library of the user's own lists and no row tells of: ids that nobody knows, ciphers that can't be used.
fn unproven(providers: &Providers, own: &LibraryFile, ids: &[String], rows: &[Row]) -> Vec<Row> {
    let is_told = |id: &String| rows.iter().any(|row| row.provider == own.name && row.cipher == *id);
    let listed = providers.listed_by(&own.name).into_iter();
    let missing = listed.filter(|id| (ids.is_empty() || ids.contains(id)) && !is_told(id));
    let row = |id: String| {
        let found = REGISTRY.find(&id).and_then(|subject| subject.variant(&own.name, providers));
        match found.map(|variant| Row::of(id.clone(), own.name.clone(), &*variant)) {
            Ok(row) => row,
            Err(error) => {
                let absent = Row::absent(own.name.clone(), error);
                Row { cipher: id, result: Outcome::Wrong, ..absent }
            }
        }
    };
    missing.map(row).collect()
}

/// Prints a row a cipher and provider; gives 1 where one is not right.
///
/// # Errors
/// An unknown cipher or provider (3), standard output that can't be written.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let providers = providers(&options.library)?;
    known(&providers, &options.provider)?;
    let wanted = |name: &String| options.provider.is_empty() || options.provider.contains(name);
    let (subjects, strangers) = REGISTRY.chosen(&options.cipher);
    if let Some((id, reason)) = strangers.first() {
        return Err(unknown(id, reason));
    }
    let mut rows = Vec::new();
    for subject in subjects {
        let row = |name: String| {
            let variant = subject.variant(&name, &providers).ok()?;
            Some(Row::of(subject.description().id, name, &*variant))
        };
        rows.extend(subject.providers(&providers).into_iter().filter(wanted).filter_map(row));
    }
    let absent = providers.names().into_iter().filter(wanted);
    rows.extend(absent.filter_map(|name| providers.absence(&name).map(|reason| Row::absent(name, reason))));
    for own in options.library.iter().filter(|own| wanted(&own.name)) {
        rows.extend(unproven(&providers, own, &options.cipher, &rows));
    }
    print_rows(&rows, COLUMNS, options.format)?;
    let is_own = |row: &Row| options.library.iter().any(|own| own.name == row.provider);
    let wrong = rows.iter().any(|row| row.result == Outcome::Wrong || (row.result == Outcome::Absent && is_own(row)));
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
