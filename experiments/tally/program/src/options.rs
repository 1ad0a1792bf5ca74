//! The command line.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use wattlock_tally::{Hint, Pair, Parameters};
use wattlock_terminal::failure::{Failure, deliver};
use zeroize::Zeroizing;

use crate::numbers::{Numbers, Side};
use crate::proxy::Rules;
use crate::records::TallyLine;
use crate::{GatewayEnd, SensorEnd, datagrams, trace};

/// The program.
pub const NAME: &str = "tally";
/// How it is called.
pub const EXAMPLE: &str = "Examples:
  (umask 077; openssl rand -hex 32 > key)
  tally receive --key-file key --state gateway --new --bind 127.0.0.1:7500
  tally proxy --bind 127.0.0.1:7501 --to 127.0.0.1:7500 --loss 0.1 --burst 3 --seed 1
  tally send --key-file key --state sensor --new --to 127.0.0.1:7501 --messages 1000
  tally send --key-file key --state sensor --to 127.0.0.1:7501 --trace traffic.jsonl

tally is an experiment that nobody outside has reviewed, and no product's security yet. Each end
keeps a file with the number of its next resumption, which is stored before it is used. Don't put an
old copy of it back: then only 4 random octets beside each number keep a start from being repeated,
by which messages could be read and forged. --new makes it, once for a key. JSON Lines go to standard output; `tally schema` describes them:
  {\"kind\":\"sent\"}         sensor: a message, its counter below the root, its octets
  {\"kind\":\"provisional\"}  gateway: a message that may be a forgery has so many bits by now
  {\"kind\":\"verified\"}     gateway: a message is verified
  {\"kind\":\"lost\"}         gateway: a message that came will never be verified, and why
  {\"kind\":\"datagram\"}     proxy: its octets and what became of it
and opening, root, downlink, received, rescue, rescued, refused.

Exit codes:
  2   usage
  4   a gateway that does not answer
  9   standard output that can't be written
  10  a key, a state or a trace that can't be read or written
  12  an address that can't be bound or reached";

const SECRET_HEX_B: usize = 64;
/// A key file is not longer.
const MOST_KEY_B: u64 = 256;
const KEY_HINT: &str = "64 hex digits; (umask 077; openssl rand -hex 32 > FILE) makes a file of them";

/// Runs the ends of tally, an experimental link whose short tags add up, and a lossy proxy between them.
#[derive(clap::Parser)]
#[command(name = NAME, version, after_help = EXAMPLE)]
pub struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(clap::Subcommand)]
enum Part {
    /// The sensor's end: sends messages.
    #[command(after_help = EXAMPLE)]
    Send(Send),
    /// The gateway's end: receives, reports, verifies.
    #[command(after_help = EXAMPLE)]
    Receive(Receive),
    /// Passes datagrams on between the ends, and loses, doubles and delays some.
    #[command(after_help = EXAMPLE)]
    Proxy(Proxy),
    /// Prints the JSON Schema of the lines.
    Schema,
}

#[derive(clap::Args)]
struct Send {
    /// The gateway, or the proxy before it.
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// Messages to send.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,
    /// Octets of each message.
    #[arg(long = "payload-B", value_name = "OCTETS", default_value_t = 16, value_parser = clap::value_parser!(u16).range(0..=1024))]
    payload_B: u16,
    /// Time from a message to the next, in which the sensor listens.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    interval_ms: u64,
    /// Messages as a file says: JSON Lines with time_ns and size_B, as `capture --packets` prints them.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["messages", "payload_B", "interval_ms"])]
    trace: Option<PathBuf>,
    /// How long the gateway may take to answer an opening, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    #[command(flatten)]
    both: Both,
}

#[derive(clap::Args)]
struct Receive {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// End where nothing of the sensor came for so long, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    #[command(flatten)]
    both: Both,
}

#[derive(clap::Args)]
struct Both {
    /// The pair's secret: a file with 64 hex digits that nobody else may read.
    #[arg(long, value_name = "PATH", required_unless_present = "key")]
    key_file: Option<PathBuf>,
    /// The pair's secret: 64 hex digits, which other users of this machine see in its list of processes.
    #[arg(long, value_name = "HEX", conflicts_with = "key_file")]
    key: Option<String>,
    /// The file with the number of the next resumption.
    #[arg(long, value_name = "PATH")]
    state: PathBuf,
    /// Make that file: only for a key that this end never used.
    #[arg(long)]
    new: bool,
    /// The link's number: four characters.
    #[arg(long, value_name = "NAME", default_value = "0001", value_parser = link)]
    link: [u8; 4],
    /// Octets of a short tag.
    #[arg(long = "tag-B", value_name = "OCTETS", default_value_t = 4, value_parser = clap::value_parser!(u8).range(4..=8))]
    tag_B: u8,
    /// Messages after which a report is due.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=32))]
    report_every: u32,
}

#[derive(clap::Args)]
struct Proxy {
    /// Where to listen for the sensor; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// The gateway.
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// Share of datagrams that are lost, each way.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    loss: f64,
    /// Mean datagrams of a burst of losses (Gilbert's channel); each is lost for itself without.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    burst: Option<u32>,
    /// Share of datagrams that go on twice.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    duplicate: f64,
    /// Share of datagrams that go on behind 1 to 8 later ones.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    reorder: f64,
    /// Random seed: the same datagrams are lost, counted each way from the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// End where nothing came for so long, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

/// Runs one part.
///
/// # Errors
/// As the exit codes in [`EXAMPLE`] say.
pub fn run(options: Options) -> Result<ExitCode, Failure> {
    match options.part {
        Part::Send(options) => send(&options),
        Part::Receive(options) => receive(&options),
        Part::Proxy(options) => proxy(&options),
        Part::Schema => deliver(format!("{:#}\n", schemars::schema_for!(TallyLine).to_value()).as_bytes()),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn send(options: &Send) -> Result<(), Failure> {
    let messages = match &options.trace {
        None => {
            let interval = Duration::from_millis(options.interval_ms);
            trace::steady(options.messages as usize, options.payload_B.into(), interval)
        }
        Some(path) => trace::read(path).map_err(|error| {
            let hint = "JSON Lines with time_ns and size_B: `wattlock-net capture --packets` prints them";
            Failure::new(10, format!("--trace {}: {error}", path.display())).hint(hint)
        })?,
    };
    let (pair, parameters, numbers) = options.both.opened(Side::Sensor)?;
    let socket = connected(options.to)?;
    let mut end = SensorEnd::new(pair, parameters, numbers).map_err(datagrams::kept)?;
    datagrams::send(&socket, &mut end, &messages, Duration::from_secs(options.timeout), &mut line)
}

fn receive(options: &Receive) -> Result<(), Failure> {
    let (pair, parameters, numbers) = options.both.opened(Side::Gateway)?;
    let socket = bound(options.bind)?;
    let mut end = GatewayEnd::new(pair, parameters, numbers);
    datagrams::receive(&socket, &mut end, Duration::from_secs(options.timeout), &mut line)
}

fn proxy(options: &Proxy) -> Result<(), Failure> {
    let Proxy { loss, duplicate, reorder, seed, .. } = *options;
    let rules = Rules { loss, burst: options.burst.map(f64::from), duplicate, reorder, seed };
    if let Some(wrong) = rules.wrong() {
        return Err(Failure::new(2, format!("--burst {wrong}")).hint("longer bursts, less loss, or no --burst"));
    }
    let gateway = connected(options.to)?;
    let sensors = bound(options.bind)?;
    datagrams::pass_on(&sensors, &gateway, rules, Duration::from_secs(options.timeout), &line)
}

impl Both {
    fn opened(&self, side: Side) -> Result<(Pair, Parameters, Numbers), Failure> {
        let secret = match (&self.key, &self.key_file) {
            (Some(text), _) => secret_of(text).ok_or_else(|| Failure::new(2, "--key: no 64 hex digits").hint(KEY_HINT)),
            (None, Some(path)) => secret_in(path),
            (None, None) => Err(Failure::new(2, "no key is given").hint("--key-file PATH names a file with one")),
        }?;
        let pair = Pair { secret: *secret, link: self.link };
        let parameters = Parameters::new(Hint::Octet).short_tag(self.tag_B);
        let parameters = parameters.and_then(|parameters| parameters.report_every(self.report_every));
        let parameters = parameters.map_err(|error| Failure::new(2, error.to_string()).hint("leave out --tag-B"))?;
        let numbers = Numbers::open(&self.state, side, &pair, self.new)
            .map_err(|error| unopened(&self.state, &error, self.new))?;
        Ok((pair, parameters, numbers))
    }
}

fn unopened(path: &Path, error: &io::Error, new: bool) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if !new => {
            "--new makes it, for a key that this end never used; for a key in use take a new one"
        }
        io::ErrorKind::AlreadyExists => "leave out --new: it goes on where it stands",
        io::ErrorKind::Other => "name the state of this end and this key; if it is lost, take a new key at both ends",
        _ => "a file in a folder that can be written to",
    };
    Failure::new(10, format!("--state {}: {error}", path.display())).hint(hint)
}

/// The secret of a file that is for its owner alone.
fn secret_in(path: &Path) -> Result<Zeroizing<[u8; 32]>, Failure> {
    let wrong =
        |what: String, hint: &str| Failure::new(10, format!("--key-file {}: {what}", path.display())).hint(hint);
    let unread = |error: io::Error| wrong(error.to_string(), KEY_HINT);
    let file = File::open(path).map_err(unread)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().map_err(unread)?.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            let hint = format!("chmod 600 {}", path.display());
            return Err(wrong(format!("others may read or write it (mode {mode:o})"), &hint));
        }
    }
    let mut text = Zeroizing::new(String::new());
    file.take(MOST_KEY_B).read_to_string(&mut text).map_err(unread)?;
    secret_of(&text).ok_or_else(|| wrong("no 64 hex digits".into(), KEY_HINT))
}

fn secret_of(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let (text, mut secret) = (text.trim(), Zeroizing::new([0; 32]));
    if text.len() != SECRET_HEX_B {
        return None;
    }
    data_encoding::HEXLOWER_PERMISSIVE.decode_mut(text.as_bytes(), &mut secret[..]).ok()?;
    Some(secret)
}

fn link(text: &str) -> Result<[u8; 4], String> {
    text.as_bytes().try_into().map_err(|_| format!("{} octets, not 4", text.len()))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=0.95).contains(share));
    share.ok_or_else(|| "no share from 0 to 0.95".to_owned())
}

fn bound(address: SocketAddr) -> Result<UdpSocket, Failure> {
    let bound = UdpSocket::bind(address).and_then(|socket| Ok((socket.local_addr()?, socket)));
    let (address, socket) = bound.map_err(|error| {
        Failure::new(12, format!("--bind {address}: {error}")).hint("an address of this machine, a free port")
    })?;
    // Nothing is left to tell anybody where standard error is closed.
    let _ = writeln!(io::stderr(), "listening on {address}");
    Ok(socket)
}

fn connected(to: SocketAddr) -> Result<UdpSocket, Failure> {
    let any: SocketAddr = if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0; 16], 0).into() };
    UdpSocket::bind(any).and_then(|socket| socket.connect(to).map(|()| socket)).map_err(|error| {
        Failure::new(12, format!("--to {to}: {error}")).hint("ADDRESS:PORT as `receive` or `proxy` printed it")
    })
}

fn line(line: &TallyLine) -> Result<(), Failure> {
    let text = serde_json::to_string(line).map_err(|error| Failure::new(9, error.to_string()))?;
    deliver(format!("{text}\n").as_bytes())
}
