//! Secure links of other people's libraries, both ends in one process: what they put on the wire for the messages of a trace.
//!
//! `link-peers PEER TRACE` prints JSON Lines. After the line `listening` it reads an address from standard input, to which
//! the sensor sends: that of a proxy, or what was printed.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // units: payload_B

mod dtls;
mod edhoc;
mod link;
mod noise;
mod stream;
mod wireguard;

use std::process::ExitCode;

use link::{Fault, Talk};
use serde_json::{Value, json};

const USAGE: &str = "link-peers noise|dtls13|dtls12|wireguard|edhoc|tls13 TRACE";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Fault> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [peer, trace] = words.as_slice() else { return Err(format!("usage: {USAGE}").into()) };
    let messages = trace_of(trace)?;
    let told = |library: &str, mode: &str| {
        let version = version(library).ok_or_else(|| format!("{library} is not in Cargo.lock"))?;
        println!("{}", json!({"kind": "peer", "peer": peer, "library": library, "version": version, "mode": mode}));
        Ok::<_, Fault>(())
    };
    let talk = Talk::new(messages);
    match peer.as_str() {
        "noise" => {
            told("snow", noise::PATTERN)?;
            talk.over_udp(&mut noise::sensor()?, &mut noise::gateway()?)
        }
        "dtls13" => {
            told("dimpl", "DTLS 1.3, TLS_AES_128_GCM_SHA256, X25519, certificates of both ends, no cookie")?;
            let (mut sensor, mut gateway) = dtls::with_certificates()?;
            talk.over_udp(&mut sensor, &mut gateway)
        }
        "dtls12" => {
            told("dimpl", "DTLS 1.2, TLS_PSK_WITH_AES_128_CCM_8, no cookie")?;
            let (mut sensor, mut gateway) = dtls::with_key()?;
            talk.over_udp(&mut sensor, &mut gateway)
        }
        "wireguard" => {
            told("boringtun", "IPv4 without options inside")?;
            let (mut sensor, mut gateway) = wireguard::pair();
            talk.over_udp(&mut sensor, &mut gateway)
        }
        "edhoc" => {
            told("lakers", "method 3, suite 2, credentials by kid")?;
            let (mut sensor, mut gateway) = edhoc::pair()?;
            talk.handshake_over_udp(&mut sensor, &mut gateway)
        }
        "tls13" => {
            told("rustls", "TLS 1.3, TLS_AES_128_GCM_SHA256, X25519, raw public keys of both ends, over TCP")?;
            stream::talk(&talk)
        }
        other => Err(format!("no peer \"{other}\": {USAGE}").into()),
    }
}

/// The payloads of a trace: `size_B` of each line of a file of JSON Lines.
fn trace_of(path: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let sizes = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line)?;
        let size_B = line["size_B"].as_u64().filter(|size_B| (4..=1000).contains(size_B));
        Ok::<_, Fault>(size_B.ok_or_else(|| format!("{path}: {line}: no size_B from 4 to 1000"))? as usize)
    });
    // As `tally send`: the message's number, again and again.
    let payload = |number: u32, size_B: usize| number.to_be_bytes().into_iter().cycle().take(size_B).collect();
    (0..).zip(sizes).map(|(number, size_B)| Ok(payload(number, size_B?))).collect()
}

/// The version of a library that the lock file names.
fn version(library: &str) -> Option<&'static str> {
    let after = include_str!("../Cargo.lock").split_once(&format!("name = \"{library}\"\nversion = \""))?.1;
    after.split('"').next()
}
