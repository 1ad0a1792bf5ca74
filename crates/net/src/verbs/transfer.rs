//! `wattlock-net transfer`: files through a cipher to another machine, both sides measured.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use wattlock_meters as meters;
use wattlock_providers::library_file;
use wattlock_records::{Baseline, Encoding, EnergyPlan, LibraryFile};
use wattlock_terminal::ciphers::{known, named, providers};
use wattlock_terminal::failure::{Failure, print};
use wattlock_terminal::text::harmless;
use zeroize::Zeroizing;

use crate::SCHEMA;
use crate::transfer::datagrams::MOST_DATA_B;
use crate::transfer::folder::{Folder, abandon};
use crate::transfer::keys::Token;
use crate::transfer::receive::{self, Receiving, proven};
use crate::transfer::records::{TransferFailure, TransferLine, TransferRecord, TransferSide, Transport};
use crate::transfer::scale::Scale;
use crate::transfer::sealed::Sealer;
use crate::transfer::send::{self, Sending, Source};
use crate::transfer::{Reason, Refusal};

/// How it is called.
pub const EXAMPLE: &str = "Examples:
  wattlock-net transfer receive --into received
  wattlock-net transfer receive --bind 192.168.1.2:7400 --into received --max-size 100000000
  wattlock-net transfer send report.pdf --to 192.168.1.2:7400 --cipher aes128-cbc --encoding base64
  wattlock-net transfer send a b c --to 192.168.1.2:7400 --cipher rc4-128 --udp --token-file token.txt

`receive` prints a fresh token to standard error and takes the files of the one sender who holds
it. The token never travels: carry it by hand. Both sides print one JSON record a file to standard
output; `send` prints the receiver's too. A record has bytes, time, CPU time, and joules with
--meter; it names no file. Nothing is overwritten; what fails leaves no file.

Exit codes:
  2   usage
  3   an unknown cipher or provider
  4   a refusal, of this side or of the other: the record says which
  9   standard output that can't be written
  10  a file, a folder or a token that can't be read or written
  11  a meter that can't be read
  12  an address that can't be bound or reached";

/// The longest file, as of `apply`.
const MOST_B: u64 = 1 << 30;
/// The longest line that may hold a token.
const MOST_TOKEN_TEXT_B: u64 = 256;
/// So long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Sends files through a cipher and an encoding to another machine; both sides are measured.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    side: Way,
}

#[derive(clap::Subcommand)]
enum Way {
    /// Waits for one sender, decodes, decrypts and stores its files.
    #[command(after_help = EXAMPLE)]
    Receive(Receive),
    /// Encrypts, encodes and sends files.
    #[command(after_help = EXAMPLE)]
    Send(Send),
}

#[derive(clap::Args)]
struct Receive {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// The folder that files go to, made where there is none.
    #[arg(long, value_name = "DIR", default_value = "received")]
    into: PathBuf,
    /// Writes the token to this new file, for you alone to read, in place of standard error.
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// The most bytes of all files together, at most 1 GiB.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = clap::value_parser!(u64).range(..=MOST_B))]
    max_size: u64,
    /// The longest time of all, the wait for the sender included, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    max_time: u64,
    #[command(flatten)]
    both: Both,
}

#[derive(clap::Args)]
struct Send {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where `receive` listens.
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    /// Which cipher; `wattlock-probe catalogue` lists them.
    #[arg(long, value_name = "ID")]
    cipher: String,
    /// What is made of the ciphertext.
    #[arg(long, value_enum, default_value_t = Encoding::Raw)]
    encoding: Encoding,
    /// The data go in datagrams; what is lost is sent again.
    #[arg(long)]
    udp: bool,
    /// Bytes of data in a datagram; by default one frame of Ethernet or 802.11 holds it.
    #[arg(long = "datagram-B", value_name = "BYTES", default_value_t = 1440, requires = "udp", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DATA_B)))]
    datagram_B: u32,
    /// A file with the token that `receive` printed; `-` takes it from the first line of standard input.
    #[arg(long, value_name = "PATH", default_value = "-")]
    token_file: PathBuf,
    #[command(flatten)]
    both: Both,
}

#[derive(clap::Args)]
struct Both {
    /// Whose code; the first that is built in where none is named.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// A library of your own, by its file or under a name; CONTRIBUTING.md, "Weigh your own library", says what it needs.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = library_file)]
    library: Vec<LibraryFile>,
    /// The longest silence of the other side, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The energy meter of this side; `wattlock-probe meters` lists them.
    #[arg(long, value_name = "NAME")]
    meter: Option<String>,
    /// What stands for `/sys`: a copied or made-up tree.
    #[arg(long, value_name = "DIR", requires = "meter")]
    sys_root: Option<String>,
    /// The serial device or the recording that the meter's bytes come from.
    #[arg(long, value_name = "PATH", requires = "meter")]
    stream: Option<String>,
    /// The reading end of a pipe, by its number: the program ends when whoever holds the other end has.
    #[arg(long, value_name = "FD", hide = true)]
    lifeline: Option<u16>,
}

/// Receives or sends.
///
/// # Errors
/// As the exit codes in [`EXAMPLE`] say.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    let (Way::Receive(Receive { both, .. }) | Way::Send(Send { both, .. })) = &options.side;
    both.lifeline.map_or(Ok(()), end_with_parent)?;
    match options.side {
        Way::Receive(options) => receive(&options),
        Way::Send(options) => send(&options),
    }
}

fn receive(options: &Receive) -> Result<ExitCode, Failure> {
    let providers = providers(&options.both.library)?;
    if let Some(provider) = &options.both.provider {
        known(&providers, std::slice::from_ref(provider))?;
    }
    let folder = Folder::open(&options.into).map_err(|error| {
        Failure::new(10, format!("--into {}: {error}", options.into.display())).hint("a folder that can be written to")
    })?;
    let mut scale = options.both.scale()?;
    let token = Token::fresh().map_err(|refusal| failed(&refusal))?;
    let bind = |error: io::Error| {
        Failure::new(12, format!("--bind {}: {error}", options.bind)).hint("an address of this machine, a free port")
    };
    let listener = TcpListener::bind(options.bind).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let token_line = match &options.token_file {
        None => format!("token: {}", *token.shown()),
        Some(path) => {
            keep_token(path, &token)?;
            format!("token: in {}", path.display())
        }
    };
    say(&format!("listening on {address}\n{token_line}"));
    let receiving = Receiving {
        folder,
        providers: &providers,
        provider: options.both.provider.as_deref(),
        max_size_B: options.max_size,
        silence: options.both.silence(),
        end: Instant::now() + Duration::from_secs(options.max_time),
    };
    let done = receive::serve(
        listener,
        &token,
        &receiving,
        &mut scale,
        &mut |record| line(&TransferLine::Transfer(Box::new(record.clone()))),
        &mut |stranger| say(&format!("turned away: {stranger}")),
    );
    conclude(done, TransferSide::Receive)
}

fn send(options: &Send) -> Result<ExitCode, Failure> {
    let spec = named(&options.cipher)?;
    let providers = providers(&options.both.library)?;
    let (_, code) = proven(&providers, options.both.provider.as_deref(), &spec.to_string())
        .map_err(|refusal| Failure::new(3, refusal.what).hint("`wattlock-probe catalogue` lists all of them"))?;
    let mut sources = Vec::new();
    for path in &options.files {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            Failure::new(10, format!("{}: no name of a file in UTF-8", path.display())).hint("rename it")
        })?;
        crate::transfer::names::plain(name).map_err(|refusal| failed(&refusal))?;
        readable(path)?;
        sources.push(Source { name: name.to_owned(), read: Box::new(move || content(path)) });
    }
    let mut scale = options.both.scale()?;
    let token = token(&options.token_file)?;
    let stream = connect(&options.to)?;
    let sending = Sending {
        sealer: Sealer { spec: &spec, code: &code, encoding: options.encoding },
        transport: if options.udp { Transport::Udp } else { Transport::Tcp },
        datagram_B: options.datagram_B,
        silence: options.both.silence(),
    };
    let mut take = |record: TransferRecord| line(&TransferLine::Transfer(Box::new(record)));
    let done = send::session(stream, &token, &sending, &sources, &mut scale, &mut take);
    conclude(done, TransferSide::Send)
}

impl Both {
    fn silence(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    fn scale(&self) -> Result<Scale, Failure> {
        let opened = self.meter.as_ref().map(|name| {
            let plan = EnergyPlan {
                meter: name.clone(),
                sys_root: self.sys_root.clone(),
                stream: self.stream.clone(),
                block_ns: 0,
                superblocks: 0,
                baseline: Baseline::Idle,
            };
            meters::open(&plan, None).map_err(|missing| Failure::new(11, missing.why).hint(missing.hint))
        });
        let measured = Scale::new(opened.transpose()?);
        measured.map_err(|refusal| Failure::new(11, refusal.what).hint(meters::LIST))
    }
}

/// Sees to it that this program ends with the one that started it: it would go on waiting for its peer on its own.
///
/// * `lifeline`: the reading end of a pipe. However the parent ends, the system closes the other end.
fn end_with_parent(lifeline: u16) -> Result<(), Failure> {
    match File::open(format!("/dev/fd/{lifeline}")) {
        Ok(mut pipe) => {
            thread::spawn(move || {
                let _ = io::copy(&mut pipe, &mut io::sink());
                abandon();
                std::process::exit(4);
            });
            Ok(())
        }
        // There is no /dev/fd where nobody mounted it: Linux knows another way.
        #[cfg(target_os = "linux")]
        Err(_) => nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM)
            .map_err(|error| Failure::new(10, format!("--lifeline {lifeline}: {error}"))),
        #[cfg(not(target_os = "linux"))]
        Err(error) => Err(Failure::new(10, format!("--lifeline {lifeline}: {error}"))),
    }
}

/// A record line.
fn line(record: &TransferLine) -> Result<(), Refusal> {
    let text = serde_json::to_string(record).map_err(|error| Refusal::new(Reason::System, error.to_string()))?;
    print(format!("{text}\n").as_bytes()).map_err(|failure| Refusal::new(Reason::System, failure.message))
}

/// The program's end: a refusal is a record and an error.
fn conclude(done: Result<(), Refusal>, side: TransferSide) -> Result<ExitCode, Failure> {
    let Err(refusal) = done else { return Ok(ExitCode::SUCCESS) };
    let record = TransferFailure {
        schema: SCHEMA,
        side,
        file: refusal.file,
        reason: refusal.reason,
        by_peer: refusal.is_peers,
        error: refusal.what.clone(),
    };
    // Where standard output can't be written, the error below still says why.
    let _ = line(&TransferLine::Failure(record));
    Err(failed(&refusal))
}

fn failed(refusal: &Refusal) -> Failure {
    Failure::new(4, refusal.what.clone()).hint(refusal.hint())
}

/// Words for people.
fn say(words: &str) {
    // Nothing is left to tell anybody where standard error is closed.
    let _ = writeln!(io::stderr(), "{}", harmless(words));
}

fn connect(to: &str) -> Result<TcpStream, Failure> {
    let hint = "HOST:PORT as `receive` printed it; it listens on loopback unless --bind says otherwise";
    let addresses = to.to_socket_addrs().map_err(|error| Failure::new(12, format!("--to {to}: {error}")).hint(hint))?;
    let mut last = Failure::new(12, format!("--to {to}: no address")).hint(hint);
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Failure::new(12, format!("--to {to}: {error}")).hint(hint),
        }
    }
    Err(last)
}

/// Writes the token to a new file, on Unix for its owner alone.
fn keep_token(path: &Path, token: &Token) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| writeln!(file, "{}", *token.shown()));
    written.map_err(|error| {
        Failure::new(10, format!("--token-file {}: {error}", path.display())).hint("a file that does not exist yet")
    })
}

/// The token of a file or of a line of standard input; what is wrong with it is told without repeating it.
fn token(path: &Path) -> Result<Token, Failure> {
    let mut text = Zeroizing::new(String::new());
    let read = if path == Path::new("-") {
        if io::stdin().is_terminal() {
            say("the token that `receive` printed:");
        }
        io::stdin().lock().take(MOST_TOKEN_TEXT_B).read_line(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(MOST_TOKEN_TEXT_B).read_to_string(&mut text))
    };
    let place = format!("--token-file {}", path.display());
    let hint = "a file with the 32 hex digits that `receive` printed, or - for standard input";
    read.map_err(|error| Failure::new(10, format!("{place}: {error}")).hint(hint))?;
    Token::read(&text).ok_or_else(|| Failure::new(10, format!("{place}: no token of 32 hex digits")).hint(hint))
}

/// Refuses a file that can't be sent before anybody is called.
fn readable(path: &Path) -> Result<(), Failure> {
    let refused = |why: String| Failure::new(10, format!("{}: {why}", path.display())).hint("a readable file");
    let about = File::open(path).and_then(|file| file.metadata()).map_err(|error| refused(error.to_string()))?;
    match (about.is_file(), about.len()) {
        (false, _) => Err(refused("it is no file".to_owned())),
        (true, size_B) if size_B > MOST_B => Err(refused(format!("{size_B} B, {MOST_B} B are the most"))),
        _ => Ok(()),
    }
}

fn content(path: &Path) -> Result<Vec<u8>, Refusal> {
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_B).read_to_end(&mut content));
    read.map_err(|error| Refusal::new(Reason::System, format!("{}: {error}", path.display())))?;
    Ok(content)
}
