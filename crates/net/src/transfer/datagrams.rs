//! A file over UDP, by a simple rule: a window of datagrams, then the sender asks over the connection which are missing
//! and sends those again, sixteen times at most; then the next window.
//!
//! A datagram is the session's public name (8 bytes), its number in the file (4 bytes, big-endian) and the data.

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::control::{Channel, Message, is_timeout, out_of_turn};
use super::keys::SESSION_B;
use super::{Reason, Refusal};
use crate::transfer::records::Datagrams;

/// Session and number.
pub const HEADER_B: usize = SESSION_B + 4;
/// The most data in a datagram: what UDP over IPv4 holds (RFC 768, RFC 791), rounded down.
pub const MOST_DATA_B: u32 = 65_000;
/// A window, in datagrams and in bytes: less than what sockets hold by default, so that a receiver may pause.
const WINDOW: usize = 64;
const WINDOW_B: usize = 96 * 1024;
/// So often a window is sent, the first time included.
const ROUNDS: u32 = 16;
/// Once the sender has asked, what is on its way has this long to arrive.
const QUIET: Duration = Duration::from_millis(20);

/// Datagrams in a window.
fn window_of(datagram_B: usize) -> usize {
    (WINDOW_B / datagram_B.max(1)).clamp(1, WINDOW)
}

/// Sends a file.
///
/// * `socket`: connected to the receiver's port.
/// * Returns what was sent and how many bytes that were.
///
/// # Errors
/// Datagrams that don't arrive, a peer that is silent or refuses.
pub fn send(
    channel: &mut Channel,
    socket: &UdpSocket,
    data: &[u8],
    datagram_B: u32,
) -> Result<(Datagrams, u64), Refusal> {
    let size = datagram_B as usize;
    let in_window = window_of(size);
    let needed = data.len().div_ceil(size);
    let mut done = Datagrams { data_B: datagram_B, needed: needed as u64, handled: 0, lost: 0, duplicates: None };
    let (mut wire_B, mut datagram) = (0, Vec::with_capacity(HEADER_B + size));
    for (window, part) in (0..).zip(data.chunks(size * in_window)) {
        let first = window as usize * in_window;
        let mut missing: Vec<usize> = (0..part.len().div_ceil(size)).collect();
        for round in 0..ROUNDS {
            for at in &missing {
                let number = u32::try_from(first + at).map_err(|_| too_many(needed))?;
                let end = part.len().min((at + 1) * size);
                datagram.clear();
                datagram.extend_from_slice(&channel.session);
                datagram.extend_from_slice(&number.to_be_bytes());
                datagram.extend_from_slice(&part[at * size..end]);
                launch(channel, socket, &datagram)?;
                (done.handled, wire_B) = (done.handled + 1, wire_B + datagram.len() as u64);
            }
            channel.say(&Message::Ask { window, round })?;
            let Message::Missing { window: of, datagrams } = channel.hear()? else {
                return Err(out_of_turn("missing"));
            };
            let asked: Vec<usize> = datagrams.into_iter().map(usize::from).collect();
            if of != window || asked.iter().any(|at| !missing.contains(at)) {
                return Err(out_of_turn("list of this window"));
            }
            done.lost += asked.len() as u64;
            missing = asked;
            if missing.is_empty() {
                break;
            }
        }
        if !missing.is_empty() {
            return Err(lost(missing.len()));
        }
    }
    Ok((done, wire_B))
}

/// One datagram to the system; what it drops shows as lost.
fn launch(channel: &Channel, socket: &UdpSocket, datagram: &[u8]) -> Result<(), Refusal> {
    match socket.send(datagram) {
        Ok(_) => Ok(()),
        // A full queue, a port that is not open yet, an address that does not answer: the next round says.
        Err(error)
            if is_timeout(&error)
                || matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted
                )
                || error.raw_os_error() == Some(NO_BUFFERS) =>
        {
            channel.patience().next().map(|_| ())
        }
        Err(error) => Err(Refusal::new(Reason::System, format!("a datagram of {} bytes: {error}", datagram.len()))),
    }
}

/// ENOBUFS of Linux: the interface's queue is full.
const NO_BUFFERS: i32 = 105;

/// Receives a file into `data`.
///
/// * `from`: datagrams of other addresses are passed over.
/// * Returns what came and how many bytes that were.
///
/// # Errors
/// Datagrams that don't arrive or lie outside of the file, a peer that is silent or refuses.
pub fn receive(
    channel: &mut Channel,
    socket: &UdpSocket,
    from: IpAddr,
    data: &mut [u8],
    datagram_B: u32,
) -> Result<(Datagrams, u64), Refusal> {
    let size = datagram_B as usize;
    let in_window = window_of(size);
    let needed = data.len().div_ceil(size);
    let mut incoming = Incoming {
        socket,
        from,
        session: channel.session,
        size,
        needed,
        datagram: vec![0; HEADER_B + MOST_DATA_B as usize],
        done: Datagrams { data_B: datagram_B, needed: needed as u64, handled: 0, lost: 0, duplicates: Some(0) },
        wire_B: 0,
    };
    // So that a wait for datagrams can look whether the sender asks.
    socket.set_read_timeout(Some(QUIET)).map_err(|error| Refusal::new(Reason::System, error.to_string()))?;
    for (window, part) in (0..).zip(data.chunks_mut(size * in_window)) {
        let first = window as usize * in_window;
        let mut have = vec![false; part.len().div_ceil(size)];
        for round in 0..ROUNDS {
            incoming.fill(channel, first, part, &mut have)?;
            match channel.hear()? {
                Message::Ask { window: of, round: again } if of == window && again == round => {}
                _ => return Err(out_of_turn("question for this window")),
            }
            let missing: Vec<u16> = (0..).zip(&have).filter(|(_, have)| !**have).map(|(at, _)| at).collect();
            incoming.done.lost += missing.len() as u64;
            let is_whole = missing.is_empty();
            channel.say(&Message::Missing { window, datagrams: missing })?;
            if is_whole {
                break;
            }
        }
        let missing = have.iter().filter(|have| !**have).count();
        if missing > 0 {
            return Err(lost(missing));
        }
    }
    Ok((incoming.done, incoming.wire_B))
}

/// Datagrams as they come in.
struct Incoming<'s> {
    socket: &'s UdpSocket,
    /// Those of other addresses are passed over.
    from: IpAddr,
    session: [u8; SESSION_B],
    /// Bytes of data in each but the last.
    size: usize,
    /// Of the whole file.
    needed: usize,
    datagram: Vec<u8>,
    done: Datagrams,
    wire_B: u64,
}

impl Incoming<'_> {
    /// Takes datagrams of one window until it is whole or the sender asks.
    ///
    /// * `first`: the number of the window's first.
    /// * `have`: which of them have come.
    fn fill(&mut self, channel: &mut Channel, first: usize, part: &mut [u8], have: &mut [bool]) -> Result<(), Refusal> {
        let mut heard = Instant::now();
        while have.contains(&false) {
            let Some(length) = self.next(channel, heard)? else { break };
            let Some((number, body)) = parts(&self.datagram[..length], &self.session) else { continue };
            heard = Instant::now();
            (self.done.handled, self.wire_B) = (self.done.handled + 1, self.wire_B + length as u64);
            if number >= self.needed {
                let what = format!("datagram {number} of a file of {}", self.needed);
                return Err(Refusal::new(Reason::MoreThanSaid, what));
            }
            let place = number.checked_sub(first).filter(|at| *at < have.len());
            let Some(at) = place.filter(|at| !have[*at]) else {
                self.done.duplicates = self.done.duplicates.map(|count| count + 1);
                continue;
            };
            let end = part.len().min((at + 1) * self.size);
            let room = &mut part[at * self.size..end];
            if body.len() > room.len() {
                let what = format!("datagram {number} has {} bytes, not {}", body.len(), room.len());
                return Err(Refusal::new(Reason::MoreThanSaid, what));
            }
            if body.len() == room.len() {
                room.copy_from_slice(body);
                have[at] = true;
            }
        }
        Ok(())
    }

    /// Bytes of the peer's next datagram; `None` where the sender asks instead.
    ///
    /// * `heard`: when the one before came.
    fn next(&mut self, channel: &mut Channel, heard: Instant) -> Result<Option<usize>, Refusal> {
        loop {
            match self.socket.recv_from(&mut self.datagram) {
                Ok((length, address)) if address.ip() == self.from => return Ok(Some(length)),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => {
                    if channel.has_word()? {
                        return Ok(None);
                    }
                    if heard.elapsed() > channel.patience().next()? {
                        let silence = heard.elapsed().as_secs_f64();
                        return Err(Refusal::new(Reason::Stalled, format!("silence for {silence:.1} s")));
                    }
                }
                // On some systems an answer to an earlier datagram.
                Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(Refusal::new(Reason::System, format!("datagrams: {error}"))),
            }
        }
    }
}

/// Number and data of a datagram of this session; `None` of any other.
fn parts<'d>(datagram: &'d [u8], session: &[u8; SESSION_B]) -> Option<(usize, &'d [u8])> {
    let (name, rest) = datagram.split_first_chunk::<SESSION_B>()?;
    let (number, body) = rest.split_first_chunk::<4>()?;
    (name == session).then_some((u32::from_be_bytes(*number) as usize, body))
}

fn lost(missing: usize) -> Refusal {
    Refusal::new(Reason::Lost, format!("{missing} datagrams of a window did not arrive, sent {ROUNDS} times"))
}

fn too_many(needed: usize) -> Refusal {
    Refusal::new(Reason::TooLarge, format!("{needed} datagrams; a file has at most {}", u32::MAX))
}
