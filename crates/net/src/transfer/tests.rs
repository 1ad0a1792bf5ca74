//! Both sides over loopback: honest ones, and each with somebody who is not.
#![allow(clippy::unwrap_used, clippy::panic)]

mod over_udp;
mod peers;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::mpsc::channel as pipe;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use wattlock_engine::{Meter, MeterDescription, MeterError, Reading};
use wattlock_meters::{Opened, SystemTime, Time as _};
use wattlock_providers::Providers;
use wattlock_records::{Encoding, MeterRecord};

use super::control::{Channel, Message, Offer, Patience};
use super::datagrams::HEADER_B;
use super::folder::Folder;
use super::keys::{Side, Token};
use super::receive::{Ended, Receiving, proven, serve, session};
use super::scale::Scale;
use super::sealed::{Sealer, sha256};
use super::send::{self, Sending, Source};
use super::{Reason, Refusal};
use crate::transfer::records::{TransferRecord, TransferSide, Transport};

const TOKEN: &str = "000102030405060708090a0b0c0d0e0f";
const MOST_B: u64 = 100_000;
const PATIENT: Duration = Duration::from_secs(10);
const IMPATIENT: Duration = Duration::from_secs(1);

fn token() -> Token {
    Token::read(TOKEN).unwrap()
}

/// An empty folder `outer/inner` of a test's own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let outer = std::env::temp_dir().join(format!("wattlock-transfer-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&outer);
        std::fs::create_dir_all(outer.join("inner")).unwrap();
        Self(outer)
    }

    fn inner(&self) -> PathBuf {
        self.0.join("inner")
    }

    /// Names of all that lies in both folders.
    fn names(&self) -> Vec<String> {
        let names = |path: PathBuf| {
            let entries = std::fs::read_dir(path).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let mut all = [names(self.0.clone()), names(self.inner())].concat();
        all.retain(|name| name != "inner");
        all.sort();
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A receiver of one connection, in a thread of its own.
fn receiver(place: &Place, silence: Duration) -> (SocketAddr, JoinHandle<(Ended, Vec<TransferRecord>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, inner) = (listener.local_addr().unwrap(), place.inner());
    let thread = thread::spawn(move || {
        let providers = Providers::new();
        let receiving = receiving(&providers, &inner, silence);
        let mut records = Vec::new();
        let mut take = |record: &TransferRecord| {
            records.push(record.clone());
            Ok(())
        };
        let stream = listener.accept().unwrap().0;
        let ended = session(stream, &token(), &receiving, &mut Scale::new(None).unwrap(), &mut take);
        (ended, records)
    });
    (address, thread)
}

fn receiving<'a>(providers: &'a Providers, inner: &std::path::Path, silence: Duration) -> Receiving<'a> {
    let end = Instant::now() + Duration::from_secs(60);
    Receiving { folder: Folder::open(inner).unwrap(), providers, provider: None, max_size_B: MOST_B, silence, end }
}

/// Sends files honestly; gives the records of both sides.
fn send_honestly(
    to: SocketAddr,
    cipher: &str,
    encoding: Encoding,
    transport: Transport,
    files: &[(&str, Vec<u8>)],
) -> (Result<(), Refusal>, Vec<TransferRecord>) {
    let (spec, code) = proven(&Providers::new(), None, cipher).unwrap();
    let sealer = Sealer { spec: &spec, code: &code, encoding };
    let sending = Sending { sealer, transport, datagram_B: 1000, silence: Duration::from_secs(2) };
    let sources: Vec<_> = files
        .iter()
        .map(|(name, content)| Source { name: (*name).to_owned(), read: Box::new(|| Ok(content.clone())) })
        .collect();
    let mut records = Vec::new();
    let mut take = |record| {
        records.push(record);
        Ok(())
    };
    let stream = TcpStream::connect(to).unwrap();
    let mut scale = Scale::new(None).unwrap();
    let done = send::session(stream, &token(), &sending, &sources, &mut scale, &mut take);
    (done, records)
}

/// A sender that says what the test makes it say.
fn by_hand(to: SocketAddr, token: &Token) -> Result<Channel, Refusal> {
    let patience = Patience { silence: PATIENT, end: Instant::now() + PATIENT };
    Channel::open(TcpStream::connect(to).unwrap(), Side::Sender, token, patience)
}

fn offer(name: &str, cipher: &str, plain_B: u64, sealed_B: u64) -> Offer {
    let (encoding, transport) = (Encoding::Raw, Transport::Tcp);
    let (name, cipher) = (name.to_owned(), cipher.to_owned());
    Offer { file: 0, name, cipher, encoding, transport, plain_B, sealed_B, encoded_B: sealed_B, datagram_B: 1000 }
}

/// Offers a file and sends these bytes for it; gives how the receiver ended and what lies in its folder.
fn deliver(place: &Place, offer: Offer, data: &[u8], said: &str, tag: [u8; 32]) -> Ended {
    let (address, thread) = receiver(place, IMPATIENT);
    let mut channel = by_hand(address, &token()).unwrap();
    let encoded_B = offer.encoded_B;
    channel.say(&Message::Offer(offer)).unwrap();
    if let Ok(Message::Accept { .. }) = channel.hear() {
        channel.say(&Message::Start).unwrap();
        channel.give(data).unwrap();
        if channel.hear().is_ok() {
            let plain_tag = HEXLOWER.encode(&tag);
            channel.say(&Message::Done { encoded_B, sha256: said.to_owned(), plain_tag }).unwrap();
            let _ = channel.hear();
        }
    }
    thread.join().unwrap().0
}

fn reason(ended: &Ended) -> Reason {
    match ended {
        Ended::Stranger(refusal) | Ended::Peer(Err(refusal)) => refusal.reason,
        Ended::Peer(Ok(())) => panic!("nothing was refused"),
    }
}

#[test]
fn a_file_arrives_whole_by_every_kind_of_cipher_every_encoding_and_both_transports() {
    let files: Vec<_> = [("empty", 0), ("one", 1), ("block", 16), ("many", 9_999_usize)]
        .map(|(name, size)| (name, (0..size).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect::<Vec<_>>()))
        .into();
    for cipher in ["aes128-cbc", "aes128-ctr", "rc4-128", "chacha20", "aes128-gcm", "xor", "null"] {
        for encoding in [Encoding::Raw, Encoding::Base64, Encoding::Hex] {
            for transport in [Transport::Tcp, Transport::Udp] {
                let place = Place::new("round-trip");
                let (address, thread) = receiver(&place, PATIENT);
                let (done, records) = send_honestly(address, cipher, encoding, transport, &files);
                let (ended, received) = thread.join().unwrap();
                assert_eq!((done, ended), (Ok(()), Ended::Peer(Ok(()))), "{cipher} {encoding:?} {transport:?}");
                for (name, content) in &files {
                    assert_eq!(&std::fs::read(place.inner().join(name)).unwrap(), content);
                }
                assert_eq!(place.names(), ["block", "empty", "many", "one"]);
                let (own, theirs): (Vec<_>, Vec<_>) =
                    records.into_iter().partition(|record| record.side == TransferSide::Send);
                assert_eq!(theirs, received);
                for ((sent, came), (_, content)) in own.iter().zip(&theirs).zip(&files) {
                    assert_eq!(
                        (&sent.session, sent.file, &sent.plain_sha256),
                        (&came.session, came.file, &came.plain_sha256)
                    );
                    assert_eq!(sent.plain_sha256, sha256(content));
                    assert_eq!(
                        (sent.plain_B, sent.sealed_B, sent.encoded_B),
                        (came.plain_B, came.sealed_B, came.encoded_B)
                    );
                    assert_eq!(sent.control_B, came.control_B);
                    let header_B = sent.datagrams.map_or(0, |datagrams| datagrams.handled * HEADER_B as u64);
                    assert_eq!(sent.datagrams.is_some(), transport == Transport::Udp);
                    assert!(sent.wire_B >= sent.encoded_B + header_B, "{sent:?}");
                }
            }
        }
    }
}

#[test]
fn a_name_that_is_a_path_is_refused_and_nothing_is_written_anywhere() {
    let place = Place::new("names");
    for name in ["../../x", "../x", "/etc/x", "a/b", "a\\b", "..", "a\0b", "NUL.txt", ".bashrc", &"n".repeat(300)] {
        let ended = deliver(&place, offer(name, "null", 3, 3), b"abc", "", [0; 32]);
        assert_eq!((reason(&ended), place.names()), (Reason::BadName, vec![]), "{name:?}");
    }
}

#[test]
fn what_the_folder_has_is_never_overwritten_nor_followed() {
    let place = Place::new("exists");
    std::fs::write(place.inner().join("file"), "mine").unwrap();
    std::fs::create_dir(place.inner().join("folder")).unwrap();
    std::fs::write(place.inner().join("half.part"), "mine").unwrap();
    let mut names = vec!["file", "folder", "half"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../outside", place.inner().join("link")).unwrap();
        std::os::unix::fs::symlink("../outside", place.inner().join("other.part")).unwrap();
        names.extend(["link", "other"]);
    }
    let before = place.names();
    for name in names {
        let ended = deliver(&place, offer(name, "null", 3, 3), b"abc", "", [0; 32]);
        assert_eq!((reason(&ended), place.names()), (Reason::Exists, before.clone()), "{name:?}");
    }
    assert_eq!(std::fs::read(place.inner().join("file")).unwrap(), b"mine");
}

#[test]
fn sizes_above_the_limit_or_of_another_cipher_are_refused_before_any_data() {
    let place = Place::new("sizes");
    for (plain_B, sealed_B, right) in [
        (MOST_B + 1, MOST_B + 1, Reason::TooLarge),
        (u64::MAX, u64::MAX, Reason::TooLarge),
        (3, 4, Reason::WrongSizes),
        (3, 1 << 40, Reason::WrongSizes),
    ] {
        let ended = deliver(&place, offer("x", "null", plain_B, sealed_B), b"", "", [0; 32]);
        assert_eq!((reason(&ended), place.names()), (right, vec![]), "{plain_B} {sealed_B}");
    }
    let ended = deliver(&place, offer("x", "no-such", 3, 3), b"", "", [0; 32]);
    assert_eq!((reason(&ended), place.names()), (Reason::Cipher, vec![]));
}

#[test]
fn a_wrong_hash_padding_tag_or_plaintext_are_refused_in_the_same_words() {
    let garbage = [0x17; 32];
    let right = sha256(&garbage);
    let place = Place::new("alike");
    let wrong_hash = deliver(&place, offer("x", "aes128-cbc", 20, 32), &garbage, &sha256(b"other"), [0; 32]);
    let wrong_padding = deliver(&place, offer("x", "aes128-cbc", 20, 32), &garbage, &right, [0; 32]);
    let wrong_tag = deliver(&place, offer("x", "aes128-gcm", 16, 32), &garbage, &right, [0; 32]);
    let wrong_plaintext = deliver(&place, offer("x", "null", 32, 32), &garbage, &right, [0; 32]);
    assert_eq!(reason(&wrong_hash), Reason::ChangedData);
    for other in [wrong_padding, wrong_tag, wrong_plaintext] {
        assert_eq!(other, wrong_hash);
    }
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn a_sender_that_sends_more_than_it_said_is_refused_by_that_name() {
    let place = Place::new("more");
    let ended = deliver(&place, offer("x", "null", 3, 3), b"abcdef", "", [0; 32]);
    assert_eq!((reason(&ended), place.names()), (Reason::MoreThanSaid, vec![]));
}

#[test]
fn a_sender_that_sends_much_more_than_it_said_hears_the_refusal_and_no_reset() {
    // More than the buffers of both sides hold, and less; of a file that ends at once, and of one that goes on.
    for excess_B in [1, 1000, 100_000, 20_000_000] {
        let place = Place::new("much-more");
        let (address, thread) = receiver(&place, PATIENT);
        let mut channel = by_hand(address, &token()).unwrap();
        channel.say(&Message::Offer(offer("x", "null", 3, 3))).unwrap();
        assert!(matches!(channel.hear(), Ok(Message::Accept { .. })));
        channel.say(&Message::Start).unwrap();
        channel.give(&vec![7; 3 + excess_B]).unwrap();
        let heard = channel.hear().unwrap_err();
        assert_eq!((heard.reason, heard.is_peers), (Reason::MoreThanSaid, true), "{excess_B}: {heard}");
        drop(channel);
        assert_eq!((reason(&thread.join().unwrap().0), place.names()), (Reason::MoreThanSaid, vec![]));
    }
}

#[test]
fn the_limit_is_of_all_files_together() {
    let place = Place::new("together");
    let (address, thread) = receiver(&place, PATIENT);
    // Each fits, and both fill it; the third one, of one byte, is one too many.
    let half = usize::try_from(MOST_B / 2).unwrap();
    let files = [("first", vec![1; half]), ("second", vec![2; half]), ("third", vec![3; 1])];
    let (done, records) = send_honestly(address, "null", Encoding::Raw, Transport::Tcp, &files);
    let refusal = done.unwrap_err();
    assert_eq!((refusal.reason, refusal.file, records.len()), (Reason::TooLarge, Some(2), 4));
    let Ended::Peer(Err(refusal)) = thread.join().unwrap().0 else { panic!("nothing was refused") };
    assert_eq!(refusal.what, "1 B, 0 B are left");
    assert_eq!(place.names(), ["first", "second"]);
}

#[test]
fn files_come_in_their_order_each_once() {
    for wrong in [1, 7, u32::MAX] {
        let place = Place::new("turn");
        let ended = deliver(&place, Offer { file: wrong, ..offer("x", "null", 3, 3) }, b"abc", "", [0; 32]);
        assert_eq!((reason(&ended), place.names()), (Reason::NotWattlock, vec![]), "{wrong}");
    }
    // A first file that has arrived is not offered once more under its number.
    let place = Place::new("again");
    let (address, thread) = receiver(&place, PATIENT);
    let mut channel = by_hand(address, &token()).unwrap();
    channel.say(&Message::Offer(offer("x", "null", 3, 3))).unwrap();
    assert!(matches!(channel.hear(), Ok(Message::Accept { .. })));
    channel.say(&Message::Start).unwrap();
    channel.give(b"abc").unwrap();
    assert!(matches!(channel.hear(), Ok(Message::Arrived { .. })));
    let plain_tag = HEXLOWER.encode(&channel.data.plaintext(0).unwrap().tag(&[b"abc"]));
    channel.say(&Message::Done { encoded_B: 3, sha256: sha256(b"abc"), plain_tag }).unwrap();
    assert!(matches!(channel.hear(), Ok(Message::Receipt { .. })));
    channel.say(&Message::Offer(offer("y", "null", 3, 3))).unwrap();
    assert_eq!(channel.hear().unwrap_err().reason, Reason::NotWattlock);
    drop(channel);
    assert_eq!((reason(&thread.join().unwrap().0), place.names()), (Reason::NotWattlock, vec!["x".to_owned()]));
}

/// A counter that rises by one watt, seldom: a busy machine does not make a short piece of work long for it.
struct OneWatt;

const UPDATE_NS: u64 = 50_000_000;

impl Meter for OneWatt {
    fn description(&self) -> MeterDescription {
        MeterDescription { range: None, update_period: UPDATE_NS, round_trip: u64::MAX, patience: u64::MAX }
    }

    fn read(&mut self) -> Result<Reading, MeterError> {
        let now = SystemTime.now();
        Ok(Reading { counter: now / UPDATE_NS * UPDATE_NS, before: now, after: now, suspended: 0 })
    }
}

#[test]
fn the_meter_is_read_around_the_work_and_work_too_short_for_it_has_no_joules() {
    let description = MeterRecord {
        name: "made-up".to_owned(),
        kind: "made-up".to_owned(),
        domain: "all".to_owned(),
        scope: "one watt".to_owned(),
        unit: "nJ".to_owned(),
        quantum_nJ: 5e7,
        update_period_ns: UPDATE_NS,
        range_nJ: None,
        round_trip_ns: None,
        gain_relative_uncertainty: 0.0,
        gain_source: "made up".to_owned(),
        overlaps: vec![],
        read_ns: None,
    };
    let mut scale = Scale::new(Some(Opened { description, meter: Box::new(OneWatt) })).unwrap();
    let (mut calls, begun) = (0, Instant::now());
    let (long_ns, long) = scale.weigh(|watch| {
        calls += 1;
        let begun = watch.start();
        thread::sleep(Duration::from_millis(300));
        watch.since(begun).wall_ns
    });
    let all_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap();
    let ((), short) = scale.weigh(|_| ());
    let energy = scale.energy(short, long).unwrap();
    assert_eq!(calls, 1);
    assert_eq!((energy.process.gross_nJ, energy.process.error.is_some()), (None, true));
    // Between the edges lies all of the work, and nothing from before the first look or after the last one.
    let (gross, window) = (energy.transfer.gross_nJ.unwrap(), energy.transfer.window_ns.unwrap());
    assert!((long_ns..all_ns).contains(&window), "{long_ns} {window} {all_ns} ns");
    assert!((long_ns - UPDATE_NS..all_ns + UPDATE_NS).contains(&gross), "{long_ns} ns, {gross} nJ, {all_ns} ns");
    assert!(energy.idle.gross_nJ.unwrap() >= 20 * UPDATE_NS - UPDATE_NS, "{energy:?}");
}
