//! The side with the folder.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::SCHEMA;
use data_encoding::HEXLOWER;
use wattlock_bench::implementation::Offer as Code;
use wattlock_ciphers::Spec;
use wattlock_providers::Providers;

use super::control::{Channel, Message, Offer, Patience, out_of_turn, turn_away};
use super::folder::Folder;
use super::keys::{Side, Token};
use super::scale::{Moved, Scale, Watch};
use super::sealed::{Sealer, changed, sha256};
use super::{Reason, Refusal, datagrams, throughput};
use crate::transfer::records::{TransferRecord, TransferSide, Transport};

/// Who has not proven the token within this time goes.
const UNPROVEN: Duration = Duration::from_secs(10);
/// So many who don't hold the token are turned away before the receiver gives up.
const MOST_STRANGERS: u32 = 100;
/// The most files of a session.
const MOST_FILES: u32 = 10_000;

/// What a receiver takes, and where to.
pub struct Receiving<'a> {
    /// The folder.
    pub folder: Folder,
    /// Where ciphers come from.
    pub providers: &'a Providers,
    /// Whose code decrypts; the first that is built in where none is named.
    pub provider: Option<&'a str>,
    /// The most bytes of all files together.
    pub max_size_B: u64,
    /// The longest silence of the sender.
    pub silence: Duration,
    /// The end of all, the wait for the sender included.
    pub end: Instant,
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did not prove that it holds the token.
    Stranger(Refusal),
    /// It was the peer.
    Peer(Result<(), Refusal>),
}

/// Waits for the peer and receives its files. Others that connect meanwhile are told that the receiver is busy; those
/// that come before and don't hold the token are turned away.
///
/// * `take`: is given this side's record of each file.
/// * `strangers`: is told why one was turned away.
///
/// # Errors
/// Nobody with the token in time; the first refusal, of either side.
pub fn serve(
    listener: TcpListener,
    token: &Token,
    receiving: &Receiving<'_>,
    scale: &mut Scale,
    take: &mut dyn FnMut(&TransferRecord) -> Result<(), Refusal>,
    strangers: &mut dyn FnMut(&Refusal),
) -> Result<(), Refusal> {
    let (hand_over, arrivals) = sync_channel(1);
    let busy = Arc::new(AtomicBool::new(false));
    let is_busy = Arc::clone(&busy);
    // It waits in the system and ends with the program.
    thread::spawn(move || {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) if is_busy.swap(true, Ordering::AcqRel) => turn_away(stream),
                Ok(stream) => {
                    if hand_over.send(stream).is_err() {
                        return;
                    }
                }
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    });
    for _ in 0..MOST_STRANGERS {
        let stream = arrivals
            .recv_timeout(receiving.end.saturating_duration_since(Instant::now()))
            .map_err(|_| Refusal::new(Reason::TooSlow, "nobody came with the token in time"))?;
        let refusal = match session(stream, token, receiving, scale, take) {
            Ended::Peer(done) => return done,
            Ended::Stranger(refusal) => refusal,
        };
        busy.store(false, Ordering::Release);
        strangers(&refusal);
    }
    Err(Refusal::new(Reason::WrongToken, format!("{MOST_STRANGERS} came without the token")))
}

/// Receives the files of one connection.
pub fn session(
    stream: TcpStream,
    token: &Token,
    receiving: &Receiving<'_>,
    scale: &mut Scale,
    take: &mut dyn FnMut(&TransferRecord) -> Result<(), Refusal>,
) -> Ended {
    let silence = receiving.silence.min(UNPROVEN / 2);
    let patience = Patience { silence, end: receiving.end.min(Instant::now() + UNPROVEN) };
    let mut channel = match Channel::open(stream, Side::Receiver, token, patience) {
        Ok(channel) => channel,
        Err(refusal) => return Ended::Stranger(refusal),
    };
    channel.be_patient(Patience { silence: receiving.silence, end: receiving.end });
    let mut folder = Received { receiving, files: 0, plain_B: 0, code: None };
    loop {
        let before_B = channel.control_B;
        let done = match channel.hear() {
            Ok(Message::Offer(offer)) => folder.one(&mut channel, &offer, before_B, scale, take),
            Ok(Message::End { files }) if files == folder.files => return Ended::Peer(Ok(())),
            Ok(_) => Err(out_of_turn("offer")),
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = done {
            return Ended::Peer(Err(channel.ended(refusal).at(folder.files)));
        }
        folder.files += 1;
    }
}

/// Receives what was offered, timed from the sender's start on; `encoded` has room for it.
fn carry(
    channel: &mut Channel,
    watch: &mut Watch,
    offer: &Offer,
    socket: Option<&(UdpSocket, u16)>,
    encoded: &mut [u8],
) -> Result<Moved, Refusal> {
    channel.say(&Message::Accept { udp_port: socket.map(|(_, port)| *port) })?;
    if channel.hear()? != Message::Start {
        return Err(out_of_turn("start"));
    }
    let begun = watch.start();
    let (datagrams, wire_B) = match socket {
        None => channel.fill(encoded).map(|()| (None, offer.encoded_B))?,
        Some((socket, _)) => {
            let from = channel.peer()?.ip();
            datagrams::receive(channel, socket, from, encoded, offer.datagram_B)
                .map(|(datagrams, wire_B)| (Some(datagrams), wire_B))?
        }
    };
    let span = watch.since(begun);
    // A sender waits for our word before it says more.
    if channel.has_word()? {
        let what = format!("more than the {} B that were announced", offer.encoded_B);
        return Err(Refusal::new(Reason::MoreThanSaid, what));
    }
    channel.say(&Message::Arrived { encoded_B: offer.encoded_B })?;
    Ok(Moved { span, datagrams, wire_B })
}

/// What has come so far.
struct Received<'a> {
    receiving: &'a Receiving<'a>,
    files: u32,
    plain_B: u64,
    code: Option<(Spec, Code)>,
}

impl Received<'_> {
    fn one(
        &mut self,
        channel: &mut Channel,
        offer: &Offer,
        control_before_B: u64,
        scale: &mut Scale,
        take: &mut dyn FnMut(&TransferRecord) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.fits(offer)?;
        let part = self.receiving.folder.reserve(&offer.name)?;
        let (spec, code) = self.code(&offer.cipher)?;
        let sealer = Sealer { spec, code, encoding: offer.encoding };
        let right_B = sealer.sealed_B(offer.plain_B);
        if (offer.sealed_B, offer.encoded_B) != (right_B, sealer.encoded_B(right_B)) {
            let said = format!("{} B as {} B as {} B", offer.plain_B, offer.sealed_B, offer.encoded_B);
            return Err(Refusal::new(Reason::WrongSizes, format!("{spec}: {said}")));
        }
        let length = usize::try_from(offer.encoded_B).map_err(|_| too_large(offer.encoded_B, usize::MAX as u64))?;
        let mut encoded = vec![0x5a; length]; // its pages are there before the clock starts
        let over_udp = offer.transport == Transport::Udp;
        let socket = over_udp.then(|| beside(channel)).transpose()?;
        let (moved, transfer_energy) = scale.weigh(|watch| carry(channel, watch, offer, socket.as_ref(), &mut encoded));
        let Moved { span, datagrams, wire_B } = moved?;
        let control_B = channel.control_B - control_before_B;

        let Message::Done { encoded_B, sha256: said, plain_tag } = channel.hear()? else {
            return Err(out_of_turn("transcript"));
        };
        let hash = sha256(&encoded);
        if (encoded_B, &said) != (offer.encoded_B, &hash) {
            return Err(changed());
        }
        // From here on the ciphertext is the sender's own.
        let opened = channel.at_work(|data| sealer.open(data, offer.file, &encoded, scale))?;
        let tag = HEXLOWER.decode(plain_tag.as_bytes()).map_err(|_| changed())?;
        let is_right = channel.data.plaintext(offer.file)?.is_tag(&[&opened.output], &tag);
        if !is_right || opened.output.len() as u64 != offer.plain_B {
            return Err(changed());
        }
        part.keep(&opened.output)?;
        let record = TransferRecord {
            schema: SCHEMA,
            side: TransferSide::Receive,
            session: HEXLOWER.encode(&channel.session),
            file: offer.file,
            plain_sha256: sha256(&opened.output),
            cipher: spec.to_string(),
            provider: code.provider.clone(),
            path: code.code.path(),
            of: code.code.of().map(str::to_owned),
            version: code.version.clone(),
            encoding: offer.encoding,
            transport: offer.transport,
            plain_B: offer.plain_B,
            sealed_B: opened.sealed_B,
            encoded_B: offer.encoded_B,
            wire_B,
            control_B,
            cipher_ns: opened.cipher.wall_ns,
            encode_ns: opened.encode.wall_ns,
            process_cpu_ns: opened.cipher.cpu_with(&opened.encode),
            transfer_ns: span.wall_ns,
            transfer_cpu_ns: span.cpu_ns,
            throughput_MB_s: throughput(offer.encoded_B, span.wall_ns),
            datagrams,
            energy: scale.energy(opened.energy, transfer_energy),
        };
        self.plain_B += offer.plain_B;
        take(&record)?;
        channel.say(&Message::Receipt { encoded_B: offer.encoded_B, sha256: hash, record: Box::new(record) })
    }

    fn fits(&self, offer: &Offer) -> Result<(), Refusal> {
        let left_B = self.receiving.max_size_B.saturating_sub(self.plain_B);
        if offer.plain_B > left_B {
            return Err(too_large(offer.plain_B, left_B));
        }
        if self.files >= MOST_FILES {
            return Err(Refusal::new(Reason::TooMany, format!("a session has at most {MOST_FILES} files")));
        }
        if offer.file != self.files {
            return Err(out_of_turn("offer of the next file"));
        }
        if !(1..=datagrams::MOST_DATA_B).contains(&offer.datagram_B) {
            let what = format!("datagrams of {} B, 1 to {} are right", offer.datagram_B, datagrams::MOST_DATA_B);
            return Err(Refusal::new(Reason::WrongSizes, what));
        }
        Ok(())
    }

    /// The code for a cipher, proven the first time.
    fn code(&mut self, id: &str) -> Result<(&Spec, &Code), Refusal> {
        if self.code.as_ref().is_none_or(|(spec, _)| spec.to_string() != id) {
            self.code = Some(proven(self.receiving.providers, self.receiving.provider, id)?);
        }
        self.code.as_ref().map(|(spec, code)| (spec, code)).ok_or_else(|| out_of_turn("cipher"))
    }
}

/// The code for a cipher, proven against its vectors.
///
/// * `provider`: whose; the first that is built in where none is named.
///
/// # Errors
/// A cipher or a provider that there is not, a proof that fails.
pub fn proven(providers: &Providers, provider: Option<&str>, id: &str) -> Result<(Spec, Code), Refusal> {
    let refused = |why: String| Refusal::new(Reason::Cipher, why);
    let shown: String = id.chars().take(40).collect();
    let spec = Spec::parse(id).map_err(|error| refused(format!("cipher {shown:?}: {error}")))?;
    let first = spec.card.codes.first().map(|code| code.provider);
    let code = providers.find(provider.or(first).unwrap_or_default(), &spec).map_err(refused)?;
    code.code.prove(&spec).map_err(|error| refused(format!("{spec}: {error}")))?;
    Ok((spec, code))
}

/// A socket for datagrams beside the connection: of the same port where that is free.
fn beside(channel: &Channel) -> Result<(UdpSocket, u16), Refusal> {
    let here = channel.here()?;
    let socket = UdpSocket::bind(here).or_else(|_| UdpSocket::bind((here.ip(), 0)));
    let socket = socket.and_then(|socket| socket.local_addr().map(|address| (socket, address.port())));
    socket.map_err(|error| Refusal::new(Reason::System, format!("datagrams at {}: {error}", here.ip())))
}

fn too_large(given_B: u64, most_B: u64) -> Refusal {
    Refusal::new(Reason::TooLarge, format!("{given_B} B, {most_B} B are left"))
}
