//! The side with the files.

use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::SCHEMA;
use data_encoding::HEXLOWER;

use super::control::{Channel, Message, Offer, Patience, out_of_turn};
use super::keys::{Side, Token};
use super::names::plain;
use super::scale::{Moved, Scale, Watch};
use super::sealed::{Processed, Sealer, changed, sha256};
use super::{Reason, Refusal, datagrams, throughput};
use crate::transfer::records::{TransferRecord, TransferSide, Transport};

/// A sender is there to be stopped by its user; the receiver's limit is the one that counts.
const LONGEST: Duration = Duration::from_secs(604_800);

/// How the files go.
pub struct Sending<'a> {
    /// The cipher and the encoding.
    pub sealer: Sealer<'a>,
    /// What carries the data.
    pub transport: Transport,
    /// Bytes of data in a datagram.
    pub datagram_B: u32,
    /// The longest silence of the receiver.
    pub silence: Duration,
}

/// A file to be sent: its name and how to read it, when it is its turn.
pub struct Source<'a> {
    /// The name it is offered under.
    pub name: String,
    /// Gives its bytes.
    pub read: Box<dyn Fn() -> Result<Vec<u8>, Refusal> + 'a>,
}

/// Sends the files over a connection to a receiver.
///
/// * `take`: is given two records for each file, this side's and the receiver's.
///
/// # Errors
/// The first refusal, of either side; files before it have arrived.
pub fn session(
    stream: TcpStream,
    token: &Token,
    sending: &Sending<'_>,
    sources: &[Source<'_>],
    scale: &mut Scale,
    take: &mut dyn FnMut(TransferRecord) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let patience = Patience { silence: sending.silence, end: Instant::now() + LONGEST };
    let mut channel = Channel::open(stream, Side::Sender, token, patience)?;
    let mut files = 0;
    for source in sources {
        let sent = one(&mut channel, files, source, sending, scale, take);
        sent.map_err(|refusal| channel.ended(refusal).at(files))?;
        files += 1;
    }
    channel.say(&Message::End { files })
}

fn one(
    channel: &mut Channel,
    file: u32,
    source: &Source<'_>,
    sending: &Sending<'_>,
    scale: &mut Scale,
    take: &mut dyn FnMut(TransferRecord) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    plain(&source.name)?;
    let content = (source.read)()?;
    let Processed { output, sealed_B, cipher, encode, energy } =
        channel.at_work(|data| sending.sealer.seal(data, file, &content, scale))?;
    let encoded_B = output.len() as u64;
    let control_before_B = channel.control_B;
    channel.say(&Message::Offer(Offer {
        file,
        name: source.name.clone(),
        cipher: sending.sealer.spec.to_string(),
        encoding: sending.sealer.encoding,
        transport: sending.transport,
        plain_B: content.len() as u64,
        sealed_B,
        encoded_B,
        datagram_B: sending.datagram_B,
    }))?;
    let Message::Accept { udp_port } = channel.hear()? else { return Err(out_of_turn("answer to an offer")) };
    let socket = match (sending.transport, udp_port) {
        (Transport::Tcp, _) => None,
        (Transport::Udp, Some(port)) => Some(towards(channel, port)?),
        (Transport::Udp, None) => return Err(out_of_turn("port for datagrams")),
    };
    let (moved, transfer_energy) =
        scale.weigh(|watch| carry(channel, watch, &output, socket.as_ref(), sending.datagram_B));
    let Moved { span, datagrams, wire_B } = moved?;
    let control_B = channel.control_B - control_before_B;

    let plain_tag = HEXLOWER.encode(&channel.data.plaintext(file)?.tag(&[&content]));
    let theirs = settle(channel, file, &output, plain_tag)?;
    take(TransferRecord {
        schema: SCHEMA,
        side: TransferSide::Send,
        session: HEXLOWER.encode(&channel.session),
        file,
        plain_sha256: sha256(&content),
        cipher: sending.sealer.spec.to_string(),
        provider: sending.sealer.code.provider.clone(),
        path: sending.sealer.code.code.path(),
        of: sending.sealer.code.code.of().map(str::to_owned),
        version: sending.sealer.code.version.clone(),
        encoding: sending.sealer.encoding,
        transport: sending.transport,
        plain_B: content.len() as u64,
        sealed_B,
        encoded_B,
        wire_B,
        control_B,
        cipher_ns: cipher.wall_ns,
        encode_ns: encode.wall_ns,
        process_cpu_ns: cipher.cpu_with(&encode),
        transfer_ns: span.wall_ns,
        transfer_cpu_ns: span.cpu_ns,
        throughput_MB_s: throughput(encoded_B, span.wall_ns),
        datagrams,
        energy: scale.energy(energy, transfer_energy),
    })?;
    take(*theirs)
}

/// Sends what was offered, timed until the receiver has all of it.
fn carry(
    channel: &mut Channel,
    watch: &mut Watch,
    encoded: &[u8],
    socket: Option<&UdpSocket>,
    datagram_B: u32,
) -> Result<Moved, Refusal> {
    let begun = watch.start();
    channel.say(&Message::Start)?;
    let encoded_B = encoded.len() as u64;
    let (datagrams, wire_B) = match socket {
        None => channel.give(encoded).map(|()| (None, encoded_B))?,
        Some(socket) => datagrams::send(channel, socket, encoded, datagram_B)
            .map(|(datagrams, wire_B)| (Some(datagrams), wire_B))?,
    };
    match channel.hear()? {
        Message::Arrived { encoded_B: there_B } if there_B == encoded_B => {}
        _ => return Err(out_of_turn("word that all bytes are there")),
    }
    Ok(Moved { span: watch.since(begun), datagrams, wire_B })
}

/// Says what was sent, and takes the receipt for it: the receiver's record of this file.
fn settle(channel: &mut Channel, file: u32, encoded: &[u8], plain_tag: String) -> Result<Box<TransferRecord>, Refusal> {
    let (encoded_B, hash) = (encoded.len() as u64, sha256(encoded));
    channel.say(&Message::Done { encoded_B, sha256: hash.clone(), plain_tag })?;
    let Message::Receipt { encoded_B: kept_B, sha256: kept, record: theirs } = channel.hear()? else {
        return Err(out_of_turn("receipt"));
    };
    if (kept_B, &kept) != (encoded_B, &hash) {
        return Err(changed());
    }
    let session = HEXLOWER.encode(&channel.session);
    if (theirs.side, &theirs.session, theirs.file) != (TransferSide::Receive, &session, file) {
        return Err(out_of_turn("record of this file"));
    }
    Ok(theirs)
}

fn towards(channel: &Channel, port: u16) -> Result<UdpSocket, Refusal> {
    let (mut here, mut peer) = (channel.here()?, channel.peer()?);
    here.set_port(0);
    peer.set_port(port);
    let socket = UdpSocket::bind(here).and_then(|socket| socket.connect(peer).map(|()| socket));
    socket.map_err(|error| Refusal::new(Reason::System, format!("datagrams to {peer}: {error}")))
}
