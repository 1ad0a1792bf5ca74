//! `wattlock-probe catalogue`: the ciphers that this program can measure.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use serde::Serialize;
use wattlock_bench::establish::{self, Provider, Scheme};
use wattlock_bench::frames as cases;
use wattlock_bench::implementation::Offer;
use wattlock_ciphers::{Mode, Spec, listed, proof};
use wattlock_frames::Protocol;
use wattlock_providers::{Providers, library_file};
use wattlock_records::{CodePath, LibraryFile, Operation};
use wattlock_terminal::ciphers::{known, meant, named_or_listed, providers};
use wattlock_terminal::failure::Failure;
use wattlock_terminal::table::{Format, print_rows};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-probe catalogue
  wattlock-probe catalogue --provider openssl --missing
  wattlock-probe catalogue --cipher aes128-cbc rc5-32-12-128-ctr --format json

A row is a cipher of one provider. JSON and CSV hold the rows that are missing too, each with its reason; in JSON an
unknown id is a row with its error, not a failure.

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

/// One cipher of one provider.
#[derive(Serialize)]
struct Row {
    id: String,
    card: &'static str,
    family: &'static str,
    mode: String,
    provider: String,
    available: bool,
    /// Why it is not available.
    reason: Option<String>,
    /// A library of the user's own lists it, and it can't be used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    broken: bool,
    version: Option<String>,
    path: Option<CodePath>,
    of: Option<String>,
    /// File of the library and its hash.
    file: Option<String>,
    file_sha256: Option<String>,
    key_bits: u16,
    effective_bits: u16,
    block_bits: u16,
    rounds: Option<u8>,
    iv_B: usize,
    tag_bits: u16,
    timing: Option<String>,
    proof: String,
    source: &'static str,
    /// Of key establishment: what can be done, and bytes on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<Operation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_B: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_B: Option<u16>,
}

/// A program that asks for many ids wants to hear of all of them.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonRow {
    Known(Box<Row>),
    Unknown { id: String, error: String, nearest: Option<String> },
}

fn known_and_unknown(ids: &[String]) -> (Vec<Spec>, Vec<JsonRow>) {
    if ids.is_empty() {
        return (listed().collect(), Vec::new());
    }
    let (mut specs, mut unknown) = (Vec::new(), Vec::new());
    for id in ids {
        match Spec::parse(id) {
            Ok(spec) => specs.push(spec),
            Err(error) => unknown.push(JsonRow::Unknown {
                id: id.clone(),
                error: error.to_string(),
                nearest: meant(id).map(str::to_owned),
            }),
        }
    }
    (specs, unknown)
}

impl Row {
    fn of(spec: &Spec, provider: String, offer: Result<Offer, String>) -> Self {
        let card = spec.card;
        let (offer, reason) = match offer {
            Ok(offer) => (Some(offer), None),
            Err(reason) => (None, Some(reason)),
        };
        let about = offer.as_ref().and_then(|offer| offer.about.clone());
        Self {
            id: spec.to_string(),
            card: card.id,
            family: card.family,
            mode: card.mode.to_string(),
            provider,
            available: reason.is_none(),
            reason,
            broken: false,
            version: offer.as_ref().map(|offer| offer.version.clone()),
            path: offer.as_ref().and_then(|offer| offer.code.path()),
            of: offer.as_ref().and_then(|offer| offer.code.of().map(str::to_owned)),
            file: about.as_ref().and_then(|about| about.file.clone()),
            file_sha256: about.and_then(|about| about.file_sha256),
            key_bits: spec.key_bits,
            effective_bits: spec.effective_bits,
            block_bits: card.block_bits,
            rounds: spec.rounds,
            iv_B: spec.iv_B(),
            tag_bits: card.tag_bits,
            timing: offer.and_then(|offer| offer.code.timing()).map(|timing| timing.to_string()),
            proof: proven_by(spec),
            source: card.source,
            operations: None,
            public_key_B: None,
            message_B: None,
        }
    }

    fn of_scheme(scheme: &'static Scheme, provider: Provider) -> Self {
        let version = provider.version(scheme);
        let about = provider.about().filter(|_| version.is_ok());
        Self {
            id: scheme.id.to_owned(),
            card: scheme.id,
            family: scheme.id,
            mode: "establish".to_owned(),
            provider: provider.name().to_owned(),
            available: version.is_ok(),
            reason: version.clone().err(),
            broken: false,
            version: version.clone().ok(),
            path: None,
            of: None,
            file: about.as_ref().and_then(|about| about.file.clone()),
            file_sha256: about.and_then(|about| about.file_sha256),
            key_bits: scheme.key_bits,
            effective_bits: scheme.key_bits,
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: 0,
            timing: None,
            proof: establish::proof::how(provider, scheme),
            source: scheme.source,
            operations: Some(scheme.operations.to_vec()),
            public_key_B: Some(scheme.public_key_B),
            message_B: Some(scheme.message_B),
        }
    }

    fn of_protocol(protocol: Protocol) -> Self {
        Self {
            id: protocol.id().to_owned(),
            card: protocol.id(),
            family: protocol.id(),
            mode: "frame".to_owned(),
            provider: cases::PROVIDER.to_owned(),
            available: true,
            reason: None,
            broken: false,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            path: None,
            of: None,
            file: None,
            file_sha256: None,
            key_bits: cases::key_bits(protocol),
            effective_bits: cases::key_bits(protocol),
            block_bits: 0,
            rounds: None,
            iv_B: 0,
            tag_bits: cases::tag_bits(protocol),
            timing: None,
            proof: "the frames of the standard's annex J where it has some, a round trip, changed bits refused"
                .to_owned(),
            source: cases::SOURCE,
            operations: Some(cases::OPERATIONS.to_vec()),
            public_key_B: None,
            message_B: None,
        }
    }
}

/// The rows of frame protection among `ids`, or all where it names none.
fn frames(ids: &[String], providers: &[String]) -> Vec<Row> {
    let has_provider = providers.is_empty() || providers.iter().any(|name| name == cases::PROVIDER);
    let named = |protocol: &Protocol| has_provider && (ids.is_empty() || ids.iter().any(|id| id == protocol.id()));
    Protocol::ALL.into_iter().filter(named).map(Row::of_protocol).collect()
}

/// The rows of key establishment among `ids`, or all where it names none.
fn exchanges(all: &[Provider], ids: &[String], providers: &[String]) -> Vec<Row> {
    let named = |scheme: &&'static Scheme| ids.is_empty() || ids.iter().any(|id| id == scheme.id);
    let wanted = |one: &&Provider| providers.is_empty() || providers.iter().any(|provider| provider == one.name());
    let of = |scheme| all.iter().filter(wanted).map(move |provider| Row::of_scheme(scheme, *provider));
    establish::SCHEMES.iter().filter(named).flat_map(of).collect()
}

/// The sources of its vectors, and what stands beside them.
fn proven_by(spec: &Spec) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for source in proof::sources(spec) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    if spec.card.mode != Mode::Aead {
        sources.push("compared block by block with its definition");
    }
    sources.join("; ")
}

/// Prints the rows.
///
/// # Errors
/// An unknown cipher or provider (3), a library of the user's own that can't be used (1), standard output that can't be
/// written.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let providers = providers(&options.library)?;
    known(&providers, &options.provider)?;
    let mut rows = Vec::new();
    let ciphers: Vec<String> = options
        .cipher
        .iter()
        .filter(|id| establish::scheme(id).is_none() && cases::protocol(id).is_none())
        .cloned()
        .collect();
    let (specs, unknown) = match options.format {
        _ if ciphers.is_empty() && !options.cipher.is_empty() => (Vec::new(), Vec::new()),
        Format::Json => known_and_unknown(&ciphers),
        _ => (named_or_listed(&ciphers)?, Vec::new()),
    };
    for spec in specs {
        let offers = providers.offers(&spec).into_iter();
        let offers = offers.filter(|(name, _)| options.provider.is_empty() || options.provider.contains(name));
        rows.extend(offers.map(|(name, offer)| Row::of(&spec, name, offer)));
    }
    for own in &options.library {
        let listed = providers.listed_by(&own.name);
        let lost = |row: &&mut Row| row.provider == own.name && !row.available && listed.contains(&row.id);
        rows.iter_mut().filter(lost).for_each(|row| row.broken = true);
    }
    rows.extend(exchanges(&providers.exchanges(), &options.cipher, &options.provider));
    rows.extend(frames(&options.cipher, &options.provider));
    if options.format == Format::Json {
        let rows: Vec<_> = rows.into_iter().map(|row| JsonRow::Known(Box::new(row))).chain(unknown).collect();
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
