//! The ends and the proxy over UDP.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use wattlock_terminal::failure::Failure;

use super::gateway::{GatewayEnd, Heard, MOST_FRAME_B};
use super::nonces::Nonces;
use super::proxy::{Path, Rules};
use super::records::{TallyLine, Way};
use super::sensor::SensorEnd;
use super::trace::{Message, payload};

/// So long the sensor listens for the answer to an opening before it sends it again.
const ANSWER: Duration = Duration::from_millis(300);
/// So long nothing has to come before the proxy lets delayed datagrams go on, and looks whether it is to end.
const PAUSE: Duration = Duration::from_millis(200);

/// Of datagrams that are refused the gateway tells at most one in this time: anybody can send them.
const QUIET: Duration = Duration::from_secs(1);

/// Takes a line.
pub type Tell<'t> = &'t mut dyn FnMut(&TallyLine) -> Result<(), Failure>;

/// Sends messages, and hears the gateway between them and for `patience` after the last.
///
/// * `socket`: connected to the gateway.
/// * `patience`: how long the gateway may leave an opening unanswered where nothing can be sent without.
///
/// # Errors
/// A gateway that does not answer, a nonce that can't be stored, lines that can't be told.
pub fn send<N: Nonces>(
    socket: &UdpSocket,
    end: &mut SensorEnd<N>,
    messages: &[Message],
    patience: Duration,
    tell: Tell,
) -> Result<(), Failure> {
    let mut frame = [0; MOST_FRAME_B];
    let mut due = Instant::now();
    for (number, message) in (0_u64..).zip(messages) {
        due = (due + message.after).max(Instant::now());
        listen(socket, end, due, tell, |_| false)?;
        let begin = Instant::now();
        let sealed = loop {
            open(socket, end, begin, patience, tell)?;
            if let Some(frame_B) = end.rescue(&mut frame).map_err(kept)? {
                launch(socket, &frame[..frame_B])?;
                tell(&TallyLine::Rescue { frame_B })?;
            }
            if let Some(sealed) = end.seal(&payload(number, message.payload_B), &mut frame).map_err(kept)? {
                break sealed;
            }
        };
        launch(socket, &frame[..sealed.length_B])?;
        tell(&TallyLine::Sent {
            message: number,
            counter: sealed.counter,
            tag: sealed.kind.into(),
            payload: HEXLOWER.encode(&payload(number, message.payload_B)),
            frame_B: sealed.length_B,
        })?;
    }
    listen(socket, end, Instant::now() + patience.min(ANSWER), tell, |_| false)
}

/// Sends the opening where one is due, again and again where there is no root.
fn open<N: Nonces>(
    socket: &UdpSocket,
    end: &mut SensorEnd<N>,
    begin: Instant,
    patience: Duration,
    tell: Tell,
) -> Result<(), Failure> {
    while let Some((opening, line)) = end.opening().map_err(kept)? {
        launch(socket, &opening)?;
        tell(&line)?;
        if end.has_root() {
            return Ok(());
        }
        if begin.elapsed() > patience {
            let what = format!("no answer to the opening in {} s", patience.as_secs());
            let hint = "start `tally receive` first, with the same key, --link, --tag-B and --report-every";
            return Err(Failure::new(4, what).hint(hint));
        }
        listen(socket, end, Instant::now() + ANSWER, tell, SensorEnd::has_root)?;
    }
    Ok(())
}

/// Hears what comes until a time, or until `enough`.
fn listen<N: Nonces>(
    socket: &UdpSocket,
    end: &mut SensorEnd<N>,
    until: Instant,
    tell: Tell,
    enough: impl Fn(&SensorEnd<N>) -> bool,
) -> Result<(), Failure> {
    let mut datagram = [0; MOST_FRAME_B + 1];
    while let Some(left) = left(until) {
        if let Some((length_B, _)) = hear(socket, &mut datagram, left)? {
            tell(&end.hear(&datagram[..length_B]))?;
            if enough(end) {
                break;
            }
        }
    }
    Ok(())
}

/// Answers openings, hears messages and speaks to the sensor, until nothing comes for `patience`.
///
/// Only who sent a record that opened is spoken to, and who sends an opening is answered.
///
/// # Errors
/// A nonce that can't be stored, lines that can't be told.
pub fn receive<N: Nonces>(
    socket: &UdpSocket,
    end: &mut GatewayEnd<N>,
    patience: Duration,
    tell: Tell,
) -> Result<(), Failure> {
    let (mut datagram, mut frame) = ([0; MOST_FRAME_B + 1], [0; MOST_FRAME_B]);
    let (mut sensor, mut end_at, mut lines) = (None, Instant::now() + patience, Vec::new());
    let mut told: Option<Instant> = None;
    while let Some(left) = left(end_at) {
        let Some((length_B, from)) = hear(socket, &mut datagram, left)? else { continue };
        let heard = end.hear(&datagram[..length_B], &mut lines).map_err(kept)?;
        match heard {
            Heard::Opening(answer) => launch_to(socket, &answer, from)?,
            Heard::Record => sensor = Some(from),
            Heard::Refused => {}
        }
        if heard != Heard::Refused {
            end_at = Instant::now() + patience;
        }
        if !matches!(heard, Heard::Opening(_))
            && sensor == Some(from)
            && let Some(frame_B) = end.speak(&mut frame, &mut lines).map_err(kept)?
        {
            launch_to(socket, &frame[..frame_B], from)?;
        }
        if heard == Heard::Refused && told.is_some_and(|told| told.elapsed() < QUIET) {
            lines.retain(|line| !matches!(line, TallyLine::Refused { .. }));
        } else if heard == Heard::Refused {
            told = Some(Instant::now());
        }
        lines.drain(..).try_for_each(|line| tell(&line))?;
    }
    Ok(())
}

/// Passes datagrams on between whoever sends to `sensors` and the gateway, until neither sends for `patience`.
///
/// * `gateway`: connected to it.
///
/// # Errors
/// Lines that can't be told.
pub fn pass_on(
    sensors: &UdpSocket,
    gateway: &UdpSocket,
    rules: Rules,
    patience: Duration,
    tell: &(dyn Fn(&TallyLine) -> Result<(), Failure> + Sync),
) -> Result<(), Failure> {
    let (sensor, heard) = (Mutex::new(None), Mutex::new(Instant::now()));
    let both = Shared { sensor: &sensor, heard: &heard };
    thread::scope(|scope| {
        let up = scope.spawn(|| {
            one_way(Way::Up, sensors, &both, rules, patience, tell, &|octets| gateway.send(octets).map(|_| ()))
        });
        let down = one_way(Way::Down, gateway, &both, rules, patience, tell, &|octets| {
            let to: Option<SocketAddr> = sensor.lock().map_or(None, |sensor| *sensor);
            to.map_or(Ok(()), |to| sensors.send_to(octets, to).map(|_| ()))
        });
        up.join().unwrap_or_else(|_| Err(Failure::new(4, "a thread of the proxy ended"))).and(down)
    })
}

/// What both ways of the proxy share: who sent last from the sensor's side, and when anything came.
struct Shared<'s> {
    sensor: &'s Mutex<Option<SocketAddr>>,
    heard: &'s Mutex<Instant>,
}

fn one_way(
    way: Way,
    from: &UdpSocket,
    both: &Shared,
    rules: Rules,
    patience: Duration,
    tell: &(dyn Fn(&TallyLine) -> Result<(), Failure> + Sync),
    on: &dyn Fn(&[u8]) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut path = Path::new(rules, way);
    let mut datagram = [0; MOST_FRAME_B + 1];
    while both.heard.lock().is_ok_and(|heard| heard.elapsed() < patience) {
        let passed = match hear(from, &mut datagram, PAUSE)? {
            None => path.release(),
            Some((length_B, address)) => {
                if let Ok(mut heard) = both.heard.lock() {
                    *heard = Instant::now();
                }
                if way == Way::Up
                    && let Ok(mut sensor) = both.sensor.lock()
                {
                    *sensor = Some(address);
                }
                let (number, fate, passed) = path.pass(&datagram[..length_B]);
                tell(&TallyLine::Datagram { way, number, fate, octets: HEXLOWER.encode(&datagram[..length_B]) })?;
                passed
            }
        };
        passed.iter().try_for_each(|octets| sent(on(octets)))?;
    }
    Ok(())
}

/// How long it is until a time; `None` where it has come.
fn left(until: Instant) -> Option<Duration> {
    until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

/// The next datagram and where it came from; `None` where none came in time. What is longer than `datagram` is cut, and
/// so refused by whoever reads it.
fn hear(socket: &UdpSocket, datagram: &mut [u8], wait: Duration) -> Result<Option<(usize, SocketAddr)>, Failure> {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    let came = socket.set_read_timeout(Some(wait)).and_then(|()| socket.recv_from(datagram));
    match came {
        Ok(came) => Ok(Some(came)),
        // The last two are the answer to an earlier datagram: nobody is at the other port now.
        Err(error)
            if matches!(error.kind(), WouldBlock | TimedOut | Interrupted | ConnectionRefused | ConnectionReset) =>
        {
            Ok(None)
        }
        Err(error) => Err(Failure::new(12, format!("datagrams: {error}"))),
    }
}

fn launch(socket: &UdpSocket, octets: &[u8]) -> Result<(), Failure> {
    sent(socket.send(octets).map(|_| ()))
}

fn launch_to(socket: &UdpSocket, octets: &[u8], to: SocketAddr) -> Result<(), Failure> {
    sent(socket.send_to(octets, to).map(|_| ()))
}

/// A datagram that the system drops is lost as any other.
fn sent(sent: io::Result<()>) -> Result<(), Failure> {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, OutOfMemory, WouldBlock};
    match sent {
        Err(error)
            if !matches!(
                error.kind(),
                ConnectionRefused | ConnectionReset | Interrupted | OutOfMemory | WouldBlock
            ) =>
        {
            Err(Failure::new(12, format!("datagrams: {error}")))
        }
        _ => Ok(()),
    }
}

/// What kept a number from being stored.
pub fn kept(error: io::Error) -> Failure {
    Failure::new(10, format!("--state {error}")).hint("no number was used: make room for the file, then start again")
}
