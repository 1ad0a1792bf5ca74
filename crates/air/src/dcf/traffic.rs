//! What senders have to send: datagrams, or a TCP-like stream of segments with its acknowledgements.

use crate::Nanoseconds;

/// Above the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Datagrams, as many as there are.
    #[default]
    Udp,
    /// Segments within a window that grows from 10 segments (RFC 6928), halves at a loss (RFC 6582, NewReno) and starts
    /// anew after a second of silence, doubled each time (RFC 6298), until it gives up. There is no handshake.
    Tcp {
        /// Largest window, segments, at most 1024.
        window: u32,
        /// Segments for one acknowledgement (RFC 1122, 4.2.3.2: 2).
        ack_every: u32,
    },
}

/// Segments that a receiver can hold out of order.
const HELD: u32 = 1_024;
/// Time-outs in a row after which a sender gives up: Linux's tcp_retries2.
const TIMEOUTS: u32 = 15;
/// RFC 6298, 2.4: the least time-out; it doubles with each, to 64 s (5.5).
const TIMEOUT_NS: Nanoseconds = 1_000_000_000;
/// How long a receiver keeps an acknowledgement back; RFC 9293, 3.8.6.3, allows 500 ms, hosts take 200.
const DELAYED_ACK_NS: Nanoseconds = 200_000_000;

/// What travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    /// The sender whose flow it is of.
    pub(super) flow: u16,
    /// A TCP acknowledgement on its way back.
    pub(super) ack: bool,
    /// Number of the segment, or the one that is expected next.
    pub(super) number: u32,
}

/// One sender's flow, with both its ends.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    transport: Transport,
    total: u64,
    interval_ns: Nanoseconds,
    next_ns: Nanoseconds,
    next: u32,
    // A TCP sender.
    first: u32,
    window: u32,
    credit: u32,
    threshold: u32,
    repeated: u32,
    recover: Option<u32>,
    again: bool,
    timeouts: u32,
    timeout_ns: Nanoseconds,
    // A TCP receiver.
    expected: u32,
    held: [u64; HELD as usize / 64],
    unacknowledged: u32,
    ack_due_ns: Nanoseconds,
}

impl Flow {
    /// * `total`: datagrams or segments.
    /// * `interval_ns`, `first_ns`: how far apart datagrams come, and the first; 0 for one always waiting.
    pub(super) fn new(transport: Transport, total: u64, interval_ns: Nanoseconds, first_ns: Nanoseconds) -> Self {
        Self {
            transport,
            total,
            interval_ns,
            next_ns: first_ns,
            next: 0,
            first: 0,
            window: 10,
            credit: 0,
            threshold: u32::MAX,
            repeated: 0,
            recover: None,
            again: false,
            timeouts: 0,
            timeout_ns: Nanoseconds::MAX,
            expected: 0,
            held: [0; HELD as usize / 64],
            unacknowledged: 0,
            ack_due_ns: Nanoseconds::MAX,
        }
    }

    pub(super) fn none() -> Self {
        Self::new(Transport::Udp, 0, 0, 0)
    }

    /// When the next packet can be taken; never where there is none.
    pub(super) fn ready_ns(&self) -> Nanoseconds {
        let more = u64::from(self.next) < self.total;
        match self.transport {
            Transport::Udp if more => self.next_ns,
            Transport::Tcp { window, .. }
                if self.again || (more && self.next - self.first < self.window.min(window).min(HELD)) =>
            {
                0
            }
            _ => Nanoseconds::MAX,
        }
    }

    /// Takes the number of the next packet.
    pub(super) fn take(&mut self, now_ns: Nanoseconds) -> u32 {
        if self.again {
            self.again = false;
            return self.first;
        }
        let number = self.next;
        self.next += 1;
        if self.interval_ns > 0 {
            self.next_ns = self.next_ns.saturating_add(self.interval_ns);
        }
        if self.timeout_ns == Nanoseconds::MAX && self.transport != Transport::Udp {
            self.timeout_ns = now_ns + TIMEOUT_NS;
        }
        number
    }

    /// A segment has arrived: whether it is new, and the acknowledgement to send now.
    pub(super) fn receive(&mut self, number: u32, now_ns: Nanoseconds) -> (bool, Option<u32>) {
        let Transport::Tcp { ack_every, .. } = self.transport else { return (true, None) };
        let place = |number: u32| ((number % HELD / 64) as usize, 1_u64 << (number % 64));
        if number < self.expected || number - self.expected >= HELD {
            return (false, Some(self.expected));
        }
        let (word, bit) = place(number);
        let new = self.held[word] & bit == 0;
        self.held[word] |= bit;
        let (in_order, before) = (number == self.expected, self.expected);
        loop {
            let (word, bit) = place(self.expected);
            if self.held[word] & bit == 0 {
                break;
            }
            self.held[word] &= !bit;
            self.expected += 1;
        }
        self.unacknowledged += 1;
        let last = u64::from(self.expected) >= self.total;
        if !in_order || self.expected - before > 1 || self.unacknowledged >= ack_every || last {
            return (new, Some(self.acknowledge()));
        }
        self.ack_due_ns = now_ns + DELAYED_ACK_NS;
        (new, None)
    }

    fn acknowledge(&mut self) -> u32 {
        (self.unacknowledged, self.ack_due_ns) = (0, Nanoseconds::MAX);
        self.expected
    }

    /// An acknowledgement has come back.
    pub(super) fn acknowledged(&mut self, number: u32, now_ns: Nanoseconds) {
        let outstanding = self.next - self.first;
        if number > self.first {
            let newly = number - self.first;
            self.first = number;
            self.next = self.next.max(number);
            (self.repeated, self.timeouts) = (0, 0);
            let done = u64::from(number) >= self.total;
            self.timeout_ns = if done { Nanoseconds::MAX } else { now_ns + TIMEOUT_NS };
            match self.recover {
                Some(until) if number < until => self.again = true,
                Some(_) => (self.recover, self.window) = (None, self.threshold),
                None if self.window < self.threshold => self.window = self.window.saturating_add(newly),
                None => {
                    self.credit += newly;
                    if self.credit >= self.window {
                        self.credit -= self.window;
                        self.window = self.window.saturating_add(1);
                    }
                }
            }
        } else if number == self.first && outstanding > 0 {
            self.repeated += 1;
            if self.repeated == 3 && self.recover.is_none() {
                self.threshold = (outstanding / 2).max(2);
                self.window = self.threshold + 3;
                self.recover = Some(self.next);
                self.again = true;
            } else if self.recover.is_some() {
                self.window = self.window.saturating_add(1);
            }
        }
    }

    /// When a timer runs out.
    pub(super) fn timer_ns(&self) -> Nanoseconds {
        self.timeout_ns.min(self.ack_due_ns)
    }

    /// A timer has run out: what follows.
    pub(super) fn expire(&mut self, now_ns: Nanoseconds) -> Expired {
        if self.ack_due_ns <= now_ns {
            return Expired::Acknowledge(self.acknowledge());
        }
        self.timeouts += 1;
        if self.timeouts > TIMEOUTS {
            let left = self.total - u64::from(self.expected);
            (self.total, self.again, self.timeout_ns) = (u64::from(self.next), false, Nanoseconds::MAX);
            return Expired::GivenUp(left - u64::from(self.held.iter().map(|word| word.count_ones()).sum::<u32>()));
        }
        self.timeout_ns = now_ns + (TIMEOUT_NS << self.timeouts.min(6));
        self.threshold = ((self.next - self.first) / 2).max(2);
        (self.window, self.recover, self.repeated) = (1, None, 0);
        // All behind it is sent again; the receiver knows what it holds.
        (self.next, self.again) = (self.first, false);
        Expired::SendAgain
    }
}

/// What follows from a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expired {
    /// The receiver acknowledges up to here.
    Acknowledge(u32),
    /// The sender sends what is not acknowledged again.
    SendAgain,
    /// The sender gives up; so many segments never arrive.
    GivenUp(u64),
}
