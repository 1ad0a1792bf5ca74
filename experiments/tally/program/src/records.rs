//! What the running ends of tally and the proxy between them tell, a line each.

use schemars::JsonSchema;
use serde::Serialize;
use wattlock_tally::Kind;

/// One line of `tally`. Octets are hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TallyLine {
    /// Sensor: an opening of a resumption is sent.
    Opening {
        /// The sensor's nonce: 8 digits of its number, 8 of its random half.
        of_sensor: String,
    },
    /// Both: there is a new root. The gateway tells it where it answers an opening; a record with a whole tag confirms it.
    Root {
        /// The sensor's nonce: 8 digits of its number, 8 of its random half.
        of_sensor: String,
        /// The gateway's nonce, alike.
        of_gateway: String,
    },
    /// Sensor: a message is sent.
    Sent {
        /// Its number in the trace, from 0.
        message: u64,
        /// Its counter below the root.
        counter: u32,
        /// How long its tag is.
        tag: Tag,
        /// The message.
        payload: String,
        /// Octets of the datagram.
        #[serde(rename = "frame_B")]
        frame_B: usize,
    },
    /// Sensor: a rescue record is sent.
    Rescue {
        /// Octets of the datagram.
        #[serde(rename = "frame_B")]
        frame_B: usize,
    },
    /// Sensor: the gateway was heard. Gateway: it spoke.
    Downlink {
        /// What it was.
        what: Downlink,
        /// The number of the generation in use after it.
        generation: u32,
        /// Octets of the datagram.
        #[serde(rename = "frame_B")]
        frame_B: usize,
    },
    /// Gateway: a message opened.
    Received {
        /// Its counter below the root.
        counter: u32,
        /// How long its tag is.
        tag: Tag,
    },
    /// Gateway: a rescue record opened.
    Rescued {
        /// The number of the rescue.
        number: u32,
    },
    /// Gateway: a message that is not verified has so many bits of authenticity by now. It may be a forgery.
    Provisional {
        /// Its counter below the root.
        counter: u32,
        /// A forgery could be here with at most 2 to the power of minus this.
        bits: u32,
    },
    /// Gateway: a message is verified.
    Verified {
        /// Its counter below the root.
        counter: u32,
        /// A forgery could be here with at most 2 to the power of minus this.
        bits: u32,
        /// The message.
        payload: String,
    },
    /// Gateway: a message that came will never be verified.
    Lost {
        /// Its counter below the root.
        counter: u32,
        /// Why.
        fate: Lost,
    },
    /// Both: a datagram was refused, and nothing of it released.
    Refused {
        /// Octets of the datagram.
        #[serde(rename = "frame_B")]
        frame_B: usize,
        /// Why.
        why: String,
    },
    /// Proxy: a datagram and what became of it.
    Datagram {
        /// Which way it went.
        way: Way,
        /// Its number on this way, from 0.
        number: u64,
        /// What became of it.
        fate: Passed,
        /// What it holds.
        octets: String,
    },
}

/// How long a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// Cut.
    Short,
    /// 16 octets.
    Whole,
}

impl From<Kind> for Tag {
    fn from(kind: Kind) -> Self {
        if kind == Kind::Short { Self::Short } else { Self::Whole }
    }
}

/// What a gateway says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Downlink {
    /// A report.
    Report,
    /// A report that proves a forgery, as it lists a message that was never sent.
    ReportOfForgery,
    /// A report of a message whose tag the sensor keeps no longer.
    ReportTooOld,
    /// A request for a rescue.
    Request,
}

/// Why a message will never be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// It stood in a transcript that both ends don't share.
    Doubted,
    /// The sensor never sealed it: it is forged.
    Refuted,
    /// No report could cover it in time, or its place was needed.
    Expired,
    /// The ends have a new root, and it was not verified below the old one.
    RootReplaced,
}

/// Which way a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the sensor to the gateway.
    Up,
    /// From the gateway to the sensor.
    Down,
}

/// What became of a datagram in the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// It went on.
    Passed,
    /// It went on twice.
    Duplicated,
    /// It went on behind later ones.
    Delayed,
    /// It was lost.
    Dropped,
}
