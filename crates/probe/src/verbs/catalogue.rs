//! `wattlock-probe catalogue`: the ciphers that this program can measure.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wattlock_bench::catalogue::{JsonRow, Row};
use wattlock_bench::subjects::REGISTRY;
use wattlock_providers::{Providers, library_file};
use wattlock_records::LibraryFile;
use wattlock_terminal::ciphers::{known, providers, unknown};
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe catalogue
  wattlock-probe catalogue --provider openssl --missing
  wattlock-probe catalogue --cipher aes128-cbc rc5-32-12-128-ctr --format json

A row is a cipher of one provider. JSON and CSV hold the rows that are missing too, each with its
reason; in JSON an unknown id is a row with its error, not a failure.

Exit codes: 1 where a library of your own can't be used, 3 for an unknown cipher or provider.";

const COLUMNS: &[&str] =
    &["id", "provider", "version", "path", "of", "key_bits", "block_bits", "iv_B", "tag_bits", "rounds", "timing"];
const MISSING_COLUMNS: &[&str] = &["id", "provider", "reason"];

/// Lists the ciphers that can be measured, by every provider that has them.
#[derive(clap::Args)]
pub struct Options {
    /// Only these ids; parameters beyond the listed ones are allowed.
    #[arg(long, value_name = "ID", num_args = 1..)]
    cipher: Vec<String>,
    /// Only of these providers.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    provider: Vec<String>,
    /// The rows that are missing, with the reason, in place of those that are there.
    #[arg(long)]
    missing: bool,
    /// A library of your own, by its file or under a name; CONTRIBUTING.md, "Weigh your own library", says what it needs.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = library_file)]
    library: Vec<LibraryFile>,
    /// How the rows are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Prints the rows.
///
/// # Errors
/// An unknown cipher or provider (3), a library of the user's own that can't be used (1), standard output that can't be
/// written.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let providers = providers(&options.library)?;
    known(&providers, &options.provider)?;
    let (subjects, strangers) = REGISTRY.chosen(&options.cipher);
    if let (false, Some((id, reason))) = (options.format == Format::Json, strangers.first()) {
        return Err(unknown(id, reason));
    }
    let mut rows = Vec::new();
    for subject in subjects {
        let names = subject.providers(&providers).into_iter();
        let names = names.filter(|name| options.provider.is_empty() || options.provider.contains(name));
        rows.extend(names.map(|name| Row::of(&*subject, name, &providers)));
    }
    for own in &options.library {
        let listed = providers.listed_by(&own.name);
        let lost = |row: &&mut Row| row.provider == own.name && !row.available && listed.contains(&row.id);
        rows.iter_mut().filter(lost).for_each(|row| row.broken = true);
    }
    if options.format == Format::Json {
        let known = rows.into_iter().map(|row| JsonRow::Known(Box::new(row)));
        let rows: Vec<_> = known.chain(strangers.into_iter().map(JsonRow::stranger)).collect();
        print_rows(&rows, COLUMNS, Format::Json)?;
        return usable(&providers, &options.library);
    }
    if options.format == Format::Table {
        rows.retain(|row| row.available != options.missing);
    }
    print_rows(&rows, if options.missing { MISSING_COLUMNS } else { COLUMNS }, options.format)?;
    usable(&providers, &options.library)
}

/// Refuses, behind the rows, a library of the user's own that can't be used.
fn usable(providers: &Providers, own: &[LibraryFile]) -> Result<ExitCode, Failure> {
    match own.iter().find_map(|library| providers.absence(&library.name).map(|reason| (library, reason))) {
        Some((library, reason)) => {
            let hint = "CONTRIBUTING.md, \"Weigh your own library\", says what it needs";
            Err(Failure::new(1, format!("library {}: {reason}", library.name)).hint(hint))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}
