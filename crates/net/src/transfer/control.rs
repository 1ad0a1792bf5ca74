//! The connection: greetings, control messages with their tags, and limits on silence and on the whole.
//!
//! A control message is its length (4 bytes, big-endian), its body (JSON) and a tag of 32 bytes over number, length and
//! body. The number counts the messages of a direction from 0 and is not sent: a message that is repeated, left out or
//! moved has a wrong tag.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wattlock_records::Encoding;

use super::keys::{Key, NONCE_B, SESSION_B, Side, TAG_B, Token, random};
use super::{Reason, Refusal};
use crate::transfer::records::{TransferRecord, Transport};

/// What a greeting begins with.
const MAGIC: &[u8; 20] = b"wattlock transfer 1\n";
const GREETING_B: usize = MAGIC.len() + 1 + NONCE_B;
/// In a greeting: the receiver goes on, or serves another peer.
const FREE: u8 = 0;
const BUSY: u8 = 1;
/// How often a side that is at work says so: less than the shortest silence that can be asked for.
const BEAT: Duration = Duration::from_millis(500);
/// After a refusal the other side has so long to fall silent, and so long to end.
const FAREWELL: Duration = Duration::from_millis(500);
const LONGEST_FAREWELL: Duration = Duration::from_secs(10);
/// The longest body of a control message.
const LONGEST_BODY_B: usize = 16 * 1024;

/// A control message. Sizes are of the whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Message {
    /// Either, the first: it holds the token.
    Hello,
    /// Sender: a file.
    Offer(Offer),
    /// Receiver: it is welcome; over UDP to this port.
    Accept { udp_port: Option<u16> },
    /// Sender: the data begin.
    Start,
    /// Sender, over UDP: the datagrams of this window are sent for the `round`th time; which are missing?
    Ask { window: u32, round: u32 },
    /// Receiver: these, counted from the window's first.
    Missing { window: u32, datagrams: Vec<u16> },
    /// Receiver: all bytes are there.
    Arrived { encoded_B: u64 },
    /// Sender, the transcript: what it sent, and the keyed tag of the plaintext.
    Done { encoded_B: u64, sha256: String, plain_tag: String },
    /// Receiver, the transcript: what it received and has stored as the file.
    Receipt { encoded_B: u64, sha256: String, record: Box<TransferRecord> },
    /// Sender: no more files.
    End { files: u32 },
    /// Either: it is at work on a file, which may take long.
    Working,
    /// Either: no file, and the reason's name.
    Refuse { reason: Reason },
}

/// A file that a sender offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Number in the session, from 0.
    pub file: u32,
    /// Its name, which has to be a plain one.
    pub name: String,
    /// The cipher's id.
    pub cipher: String,
    /// What is made of the ciphertext.
    pub encoding: Encoding,
    /// What carries the data.
    pub transport: Transport,
    /// Bytes of the file.
    pub plain_B: u64,
    /// Bytes of the ciphertext.
    pub sealed_B: u64,
    /// Bytes after the encoding.
    pub encoded_B: u64,
    /// Bytes of data in a datagram.
    pub datagram_B: u32,
}

/// How long the other side may be silent, and when the session has to be over.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The longest silence.
    pub silence: Duration,
    /// The end of the session.
    pub end: Instant,
}

impl Patience {
    /// How long the next wait may be.
    ///
    /// # Errors
    /// That the session's time is over.
    pub fn next(&self) -> Result<Duration, Refusal> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::new(Reason::TooSlow, "the session took longer than it may"));
        }
        Ok(left.min(self.silence))
    }
}

/// A connection after the greetings.
pub struct Channel {
    stream: TcpStream,
    patience: Patience,
    own: Key,
    others: Key,
    sent: u64,
    received: u64,
    /// Whether a message of the other side has proven that it holds the token.
    is_proven: bool,
    /// Bytes of control messages in both directions so far.
    pub control_B: u64,
    /// The public name of the session.
    pub session: [u8; SESSION_B],
    /// What the measured ciphers are keyed from.
    pub data: Key,
}

/// Tells a second peer that the receiver serves another one.
pub fn turn_away(mut stream: TcpStream) {
    let mut greeting = [0; GREETING_B];
    greeting[..MAGIC.len()].copy_from_slice(MAGIC);
    greeting[MAGIC.len()] = BUSY;
    // Whoever does not take it has gone.
    let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
    let _ = stream.write_all(&greeting);
}

impl Channel {
    /// Greets, derives the keys and proves to the other side that this one holds the token. The receiver greets first and
    /// proves last.
    ///
    /// # Errors
    /// Silence, an early end, another protocol, a receiver that is busy, another token.
    pub fn open(mut stream: TcpStream, own: Side, token: &Token, patience: Patience) -> Result<Self, Refusal> {
        stream.set_nodelay(true).map_err(|error| cut(&error))?;
        let own_nonce = random()?;
        let greeting = [MAGIC as &[u8], &[FREE], &own_nonce].concat();
        let mut other = [0; GREETING_B];
        if own == Side::Receiver {
            give(&mut stream, patience, &greeting)?;
        }
        fill(&mut stream, patience, &mut other)?;
        if own == Side::Sender {
            give(&mut stream, patience, &greeting)?;
        }
        let (magic, rest) = other.split_at(MAGIC.len());
        match (magic == MAGIC, rest[0]) {
            (true, FREE) => {}
            (true, BUSY) => return Err(Refusal::new(Reason::Busy, "the receiver serves another peer")),
            _ => return Err(Refusal::new(Reason::NotWattlock, "the other side doesn't greet as this version does")),
        }
        let mut other_nonce = [0; NONCE_B];
        other_nonce.copy_from_slice(&rest[1..]);
        let (session, others) = match own {
            Side::Sender => (Key::of_session(token, &other_nonce, &own_nonce), Side::Receiver),
            Side::Receiver => (Key::of_session(token, &own_nonce, &other_nonce), Side::Sender),
        };
        let mut channel = Self {
            stream,
            patience,
            own: session.control(own)?,
            others: session.control(others)?,
            sent: 0,
            received: 0,
            is_proven: false,
            control_B: 0,
            session: session.session()?,
            data: session.data(Side::Sender)?,
        };
        if own == Side::Sender {
            channel.say(&Message::Hello)?;
        }
        match channel.hear() {
            Ok(Message::Hello) => {}
            Ok(_) => return Err(out_of_turn("first message")),
            Err(refusal) => return Err(channel.ended(refusal)),
        }
        if own == Side::Receiver {
            channel.say(&Message::Hello)?;
        }
        Ok(channel)
    }

    /// Other limits from now on.
    pub fn be_patient(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// The limits.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Where the other side is.
    ///
    /// # Errors
    /// A connection that has ended.
    pub fn peer(&self) -> Result<SocketAddr, Refusal> {
        self.stream.peer_addr().map_err(|error| cut(&error))
    }

    /// Where this side is.
    ///
    /// # Errors
    /// A connection that has ended.
    pub fn here(&self) -> Result<SocketAddr, Refusal> {
        self.stream.local_addr().map_err(|error| cut(&error))
    }

    /// Sends a control message.
    ///
    /// # Errors
    /// An early end; a message that is too long.
    pub fn say(&mut self, message: &Message) -> Result<(), Refusal> {
        let length_B = self.say_uncounted(message)?;
        self.control_B += length_B;
        Ok(())
    }

    fn say_uncounted(&mut self, message: &Message) -> Result<u64, Refusal> {
        let body = serde_json::to_vec(message).map_err(|error| Refusal::new(Reason::System, error.to_string()))?;
        let length = length(&body)?;
        let tag = self.own.tag(&[&self.sent.to_be_bytes(), &length, &body]);
        self.sent += 1;
        let frame = [&length as &[u8], &body, &tag].concat();
        give(&mut self.stream, self.patience, &frame)?;
        Ok(frame.len() as u64)
    }

    /// Does `work`, and says so twice a second for as long as it takes: a slow cipher is no silence. The other side has
    /// to be one that waits for the next control message.
    ///
    /// * `work`: is given what the measured ciphers are keyed from.
    pub fn at_work<T>(&mut self, work: impl FnOnce(&Key) -> T) -> T {
        let data = self.data.clone();
        thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            scope.spawn(move || {
                // Where the other side has gone, the next message to it says so.
                while wait.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout)
                    && self.say_uncounted(&Message::Working).is_ok()
                {}
            });
            let worked = work(&data);
            drop(done);
            worked
        })
    }

    /// The end by a refusal. Where it is this side's, the other one is told; whether it hears is its own concern.
    ///
    /// What it is still sending is read and thrown away, for a while: a connection that is closed on data which nobody
    /// read is reset, and the word of refusal is lost with it.
    #[must_use]
    pub fn ended(&mut self, refusal: Refusal) -> Refusal {
        if !refusal.is_peers && self.say(&Message::Refuse { reason: refusal.reason }).is_ok() && self.is_proven {
            let _ = self.stream.shutdown(Shutdown::Write);
            let end = Instant::now() + LONGEST_FAREWELL;
            let mut thrown_away = [0; 1 << 16];
            while Instant::now() < end
                && self.stream.set_read_timeout(Some(FAREWELL)).is_ok()
                && self.stream.read(&mut thrown_away).is_ok_and(|read_B| read_B > 0)
            {}
        }
        refusal
    }

    /// The next control message but for those that say that the other side is at work; its refusal is an error.
    ///
    /// # Errors
    /// A wrong tag, a body that is none, silence, an early end, a refusal.
    pub fn hear(&mut self) -> Result<Message, Refusal> {
        loop {
            let (message, length_B) = self.hear_one()?;
            if message != Message::Working {
                self.control_B += length_B;
                return Ok(message);
            }
        }
    }

    fn hear_one(&mut self) -> Result<(Message, u64), Refusal> {
        let mut length = [0; 4];
        fill(&mut self.stream, self.patience, &mut length)?;
        let body_B = u32::from_be_bytes(length) as usize;
        if body_B > LONGEST_BODY_B {
            return Err(self.forged());
        }
        let mut body = vec![0; body_B];
        let mut tag = [0; TAG_B];
        fill(&mut self.stream, self.patience, &mut body)?;
        fill(&mut self.stream, self.patience, &mut tag)?;
        if !self.others.is_tag(&[&self.received.to_be_bytes(), &length, &body], &tag) {
            return Err(self.forged());
        }
        self.received += 1;
        self.is_proven = true;
        match serde_json::from_slice(&body) {
            Ok(Message::Refuse { reason }) => Err(Refusal::of_peer(reason)),
            Ok(message) => Ok((message, (length.len() + body_B + TAG_B) as u64)),
            Err(_) => Err(Refusal::new(Reason::NotWattlock, "a control message of another version")),
        }
    }

    fn forged(&self) -> Refusal {
        if self.is_proven {
            Refusal::new(Reason::ForgedControl, "a control message was changed, or came out of its turn")
        } else {
            Refusal::new(Reason::WrongToken, "the other side holds another token, or its first message was changed")
        }
    }

    /// Whether a control message has begun to arrive.
    ///
    /// # Errors
    /// An early end.
    pub fn has_word(&mut self) -> Result<bool, Refusal> {
        self.stream.set_nonblocking(true).map_err(|error| cut(&error))?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).map_err(|error| cut(&error))?;
        match seen {
            Ok(0) => Err(Refusal::new(Reason::Cut, "the connection ended early")),
            Ok(_) => Ok(true),
            Err(error) if is_timeout(&error) => Ok(false),
            Err(error) => Err(cut(&error)),
        }
    }

    /// Sends data, as they are.
    ///
    /// # Errors
    /// Silence, an early end.
    pub fn give(&mut self, data: &[u8]) -> Result<(), Refusal> {
        give(&mut self.stream, self.patience, data)
    }

    /// Receives exactly as many bytes of data as `buffer` has.
    ///
    /// # Errors
    /// Silence, an early end.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Refusal> {
        fill(&mut self.stream, self.patience, buffer)
    }
}

/// What was expected is not what came.
pub fn out_of_turn(wanted: &str) -> Refusal {
    Refusal::new(Reason::NotWattlock, format!("a control message that is no {wanted}"))
}

fn length(body: &[u8]) -> Result<[u8; 4], Refusal> {
    let fits = u32::try_from(body.len()).ok().filter(|_| body.len() <= LONGEST_BODY_B);
    fits.map(u32::to_be_bytes)
        .ok_or_else(|| Refusal::new(Reason::System, format!("a control message of {} bytes", body.len())))
}

/// Whether an error of input or output means that nothing came in time.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn cut(error: &io::Error) -> Refusal {
    Refusal::new(Reason::Cut, format!("the connection ended early: {error}"))
}

fn stalled(patience: Patience) -> Refusal {
    match patience.next() {
        Ok(_) => Refusal::new(Reason::Stalled, format!("silence for {} s", patience.silence.as_secs_f64())),
        Err(over) => over,
    }
}

fn fill(stream: &mut TcpStream, patience: Patience, buffer: &mut [u8]) -> Result<(), Refusal> {
    let mut at = 0;
    while at < buffer.len() {
        stream.set_read_timeout(Some(patience.next()?)).map_err(|error| cut(&error))?;
        match stream.read(&mut buffer[at..]) {
            Ok(0) => return Err(Refusal::new(Reason::Cut, "the connection ended early")),
            Ok(read) => at += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_timeout(&error) => return Err(stalled(patience)),
            Err(error) => return Err(cut(&error)),
        }
    }
    Ok(())
}

fn give(stream: &mut TcpStream, patience: Patience, data: &[u8]) -> Result<(), Refusal> {
    let mut at = 0;
    while at < data.len() {
        stream.set_write_timeout(Some(patience.next()?)).map_err(|error| cut(&error))?;
        match stream.write(&data[at..]) {
            Ok(0) => return Err(Refusal::new(Reason::Cut, "the connection ended early")),
            Ok(written) => at += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_timeout(&error) => return Err(stalled(patience)),
            Err(error) => return Err(cut(&error)),
        }
    }
    Ok(())
}
