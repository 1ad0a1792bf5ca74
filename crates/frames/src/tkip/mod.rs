//! TKIP: RC4 with a seed of its own for each frame, an ICV for each MPDU, a Michael for each MSDU (12.5.2).

mod michael;
mod mixing;

pub use crate::protocol::MICHAEL_B;
pub use michael::{Checked, Countermeasures, Event, Michael};
pub use mixing::{Ttak, phase_1, phase_2};

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::opened::{Msdu, Opened};
use crate::protocol::EXTENDED_IV;
use crate::{Address, Error, Frame, Malformed, Protocol, Replay, wep};

/// MSDUs whose fragments may be under way at once.
const UNDER_WAY: usize = 4;

/// A key of TKIP, with what it remembers: phase 1 of the last counter, and MSDUs that are under way in fragments.
pub(crate) struct Tkip {
    keys: Keys,
    mixed: Option<(Address, u32, Ttak)>,
    /// The newest is the first one; the oldest is forgotten.
    sent: [Option<Sent>; UNDER_WAY],
    received: [Option<Received>; UNDER_WAY],
}

#[derive(Zeroize, ZeroizeOnDrop)]
struct Keys {
    temporal: [u8; 16],
    /// Of what the authenticator (the access point) sends, and of what the supplicant does.
    michael: [[u8; MICHAEL_B]; 2],
}

/// Whose fragments: transmitter, receiver, traffic identifier, sequence number.
type Of = (Address, Address, u8, u16);

fn of(frame: &Frame<'_>) -> Of {
    (frame.transmitter(), frame.receiver(), frame.tid(), frame.sequence())
}

struct Sent {
    of: Of,
    next: u8,
    michael: Michael,
}

struct Received {
    of: Of,
    next: u8,
    number: u64,
    last_B: usize,
    checked: Checked,
}

impl Drop for Tkip {
    fn drop(&mut self) {
        self.mixed = None;
        // Written over with what every key could give, in place: an option's old content stays otherwise.
        self.mixed = Some(([0; 6], 0, [0; 5]));
        core::hint::black_box(&self.mixed);
    }
}

impl Tkip {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let mut keys = Keys { temporal: [0; 16], michael: [[0; MICHAEL_B]; 2] };
        keys.temporal.copy_from_slice(&key[..16]);
        keys.michael[0].copy_from_slice(&key[16..24]);
        keys.michael[1].copy_from_slice(&key[24..]);
        Self { keys, mixed: None, sent: [const { None }; UNDER_WAY], received: [const { None }; UNDER_WAY] }
    }

    fn seed(&mut self, transmitter: Address, number: u64) -> Zeroizing<[u8; 16]> {
        let [_, _, a, b, c, d, e, f] = number.to_be_bytes();
        let (upper, lower) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
        let ttak = match self.mixed {
            Some((of, at, ttak)) if of == transmitter && at == upper => ttak,
            _ => phase_1(&self.keys.temporal, transmitter, upper),
        };
        self.mixed = Some((transmitter, upper, ttak));
        phase_2(&self.keys.temporal, &ttak, lower)
    }

    fn michael(&self, frame: &Frame<'_>) -> Michael {
        // Ad hoc, who sends a frame is who its group key is from.
        let to_ds_only = frame.flags() & 0x03 == 0x01;
        Michael::of(&self.keys.michael[usize::from(to_ds_only)], frame)
    }

    /// Michael of a whole MSDU, which stands behind the body of its only or last fragment; `None` of any other one.
    pub(crate) fn msdu_tail(&mut self, frame: &Frame<'_>) -> Result<Option<[u8; MICHAEL_B]>, Error> {
        if frame.is_aggregate() {
            return Err(Malformed::Aggregate.into());
        }
        let mut michael = if frame.fragment() == 0 {
            self.michael(frame)
        } else {
            let follows = |sent: &Sent| sent.of == of(frame) && sent.next == frame.fragment();
            let under_way = self.sent.iter_mut().find(|sent| sent.as_ref().is_some_and(follows));
            under_way.and_then(Option::take).ok_or(Malformed::Fragment)?.michael
        };
        michael.update(frame.body());
        if !frame.has_more_fragments() {
            return Ok(Some(michael.finish()));
        }
        put(&mut self.sent, Sent { of: of(frame), next: frame.fragment() + 1, michael });
        Ok(None)
    }

    /// Encrypts `text`, whose last bytes are room for the ICV; gives the IV.
    pub(crate) fn seal(
        &mut self,
        frame: &Frame<'_>,
        number: u64,
        key_id: u8,
        text: &mut [u8],
    ) -> Result<[u8; 8], Error> {
        let seed = self.seed(frame.transmitter(), number);
        wep::seal(&*seed, text)?;
        let [_, _, tsc5, tsc4, tsc3, tsc2, ..] = number.to_be_bytes();
        Ok([seed[0], seed[1], seed[2], key_id << 6 | EXTENDED_IV, tsc2, tsc3, tsc4, tsc5])
    }

    /// Decrypts `text`, ICV included, and verifies what there is to be verified of its MSDU.
    pub(crate) fn open(
        &mut self,
        frame: &Frame<'_>,
        opened: Opened,
        replay: Option<&Replay>,
        text: &mut [u8],
    ) -> Result<Opened, Error> {
        if frame.is_aggregate() {
            return Err(Malformed::Aggregate.into());
        }
        let seed = self.seed(frame.transmitter(), opened.number);
        wep::open(&*seed, text)?;
        if replay.is_some_and(|replay| !replay.is_new(frame, opened.number)) {
            return Err(Error::Replay);
        }
        let text_B = text.len() - Protocol::Tkip.tail_B();
        self.receive(frame, opened, &text[..text_B])
    }

    fn receive(&mut self, frame: &Frame<'_>, opened: Opened, text: &[u8]) -> Result<Opened, Error> {
        let (mut checked, before_B) = if frame.fragment() == 0 {
            (Checked::new(self.michael(frame)), 0)
        } else {
            let mut received = self.received.iter_mut();
            let slot = received.find(|slot| slot.as_ref().is_some_and(|received| received.of == of(frame)));
            let slot = slot.ok_or(Malformed::Fragment)?;
            if slot.as_ref().is_some_and(|received| opened.number <= received.number) {
                return Err(Error::Replay);
            }
            // Fragments have numbers without a gap (12.5.2.6); where one is missing, the MSDU is lost.
            let follows = |received: &Received| {
                received.next == frame.fragment() && received.number.checked_add(1) == Some(opened.number)
            };
            let received = slot.take().filter(follows).ok_or(Malformed::Fragment)?;
            (received.checked, received.last_B)
        };
        checked.update(text);
        if frame.has_more_fragments() {
            let next = frame.fragment() + 1;
            put(
                &mut self.received,
                Received { of: of(frame), next, number: opened.number, last_B: text.len(), checked },
            );
            return Ok(Opened { msdu: Msdu::UnderWay, ..opened });
        }
        if !checked.is_right() {
            return Err(Error::Michael);
        }
        let in_last_B = text.len().min(MICHAEL_B);
        let before_tail_B = MICHAEL_B - in_last_B;
        if before_tail_B > before_B && frame.is_fragment() {
            // Across three fragments: none that is legal is so short.
            return Err(Malformed::Fragment.into());
        }
        Ok(Opened {
            length_B: opened.length_B - in_last_B,
            msdu: Msdu::Whole { cut_before_B: before_tail_B },
            ..opened
        })
    }
}

/// Puts the newest first; one of the same MSDU makes place for it.
fn put<T: IsOf>(slots: &mut [Option<T>; UNDER_WAY], newest: T) {
    for slot in slots.iter_mut() {
        if slot.as_ref().is_some_and(|old| old.of() == newest.of()) {
            *slot = None;
        }
    }
    let free = slots.iter().position(Option::is_none).unwrap_or(UNDER_WAY - 1);
    slots[free] = None;
    slots[..=free].rotate_right(1);
    slots[0] = Some(newest);
}

trait IsOf {
    fn of(&self) -> Of;
}

impl IsOf for Sent {
    fn of(&self) -> Of {
        self.of
    }
}

impl IsOf for Received {
    fn of(&self) -> Of {
        self.of
    }
}
