//! What handshakes were, one line each: between whom, by which key management, what they taught, or why nothing.

use std::collections::HashMap;

use serde::Serialize;
use wattlock_frames::Address;
use wattlock_frames::handshake::{Akm, Handshake, Why};

/// The most that are listed; the others are counted.
const MOST_ROWS: usize = 1000;

/// Which frames make the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// Four key frames.
    FourWay,
    /// The reassociation at another access point of a mobility domain: request and response.
    FastTransition,
    /// The setup of a direct link between two stations: request, response, confirmation.
    DirectLink,
}

/// One handshake: all of a pair together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Which frames.
    pub exchange: Exchange,
    /// Of a direct link who was asked for it.
    pub access_point: String,
    /// Of a direct link who asked.
    pub station: String,
    /// `SAE`, `PSK` and so on; null where no frame said it.
    pub key_management: Option<String>,
    /// Which of its frames were heard.
    pub frames: Vec<u8>,
    /// Keys that it taught, of the pair and of the group.
    pub keys: u64,
    /// Why it taught none of the pair.
    pub why: Option<String>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Handshakes {
    rows: Vec<Row>,
    places: HashMap<(Exchange, Address, Address), usize>,
    /// How many are not listed, for their number.
    pub unlisted: u64,
}

impl Handshakes {
    /// In the order in which they began.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The place of this one; `None` where there are too many to list.
    pub fn at(&mut self, exchange: Exchange, access_point: Address, station: Address) -> Option<usize> {
        if let Some(at) = self.places.get(&(exchange, access_point, station)) {
            return Some(*at);
        }
        if self.rows.len() == MOST_ROWS {
            self.unlisted += 1;
            return None;
        }
        self.places.insert((exchange, access_point, station), self.rows.len());
        let [access_point, station] = [access_point, station].map(shown);
        let frames = Vec::new();
        self.rows.push(Row { exchange, access_point, station, key_management: None, frames, keys: 0, why: None });
        Some(self.rows.len() - 1)
    }

    /// One of its frames.
    pub fn hear(&mut self, at: Option<usize>, akm: Akm, number: u8, why: Option<String>) {
        let Some(row) = at.and_then(|at| self.rows.get_mut(at)) else { return };
        row.key_management = Some(akm.to_string());
        if !row.frames.contains(&number) {
            row.frames.push(number);
        }
        // What an earlier frame taught, a later one does not take back.
        row.why = why.filter(|_| row.keys == 0);
    }

    /// All that is known of a pair's four frames.
    pub fn hear_all(&mut self, at: Option<usize>, handshake: &Handshake) {
        let Some(row) = at.and_then(|at| self.rows.get_mut(at)) else { return };
        row.key_management = handshake.akm().map(|akm| akm.to_string());
        row.frames = (1..).zip(handshake.heard()).filter(|(_, heard)| *heard).map(|(number, _)| number).collect();
        row.why = handshake.why().map(|why| because(why, handshake.akm()));
    }

    /// Keys that it taught.
    pub fn count(&mut self, at: Option<usize>, keys: u64) {
        if let Some(row) = at.and_then(|at| self.rows.get_mut(at)) {
            row.keys += keys;
        }
    }
}

/// Why there is no key, with the option that would give one.
pub fn because(why: Why, akm: Option<Akm>) -> String {
    let option = match akm {
        Some(akm) if why == Why::NoMaster && akm.takes_passphrase() => {
            ": --passphrase with --ssid, or --pmk, gives one"
        }
        Some(Akm::FT_8021X) if why == Why::NoMaster => ": --pmk with the second half of the MSK gives one",
        Some(Akm::FT_8021X_SHA384) if why == Why::NoMaster => ": --pmk with the first 48 octets of the MSK gives one",
        Some(Akm::SUITE_B_192) if why == Why::NoMaster => ": --pmk with its 48 octets gives one, no passphrase does",
        Some(_) if why == Why::NoMaster => ": --pmk gives one, no passphrase does",
        _ if why == Why::NoName => ": --ssid gives it",
        _ => "",
    };
    format!("{why}{option}")
}

fn shown(address: Address) -> String {
    address.map(|octet| format!("{octet:02x}")).join(":")
}
