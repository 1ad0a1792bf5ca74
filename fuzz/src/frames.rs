//! What of the probe reads bytes: its files themselves, so that none of its ciphers is built.

#[path = "../../crates/probe/src/frames/capture.rs"]
pub mod capture;
#[path = "../../crates/probe/src/frames/census.rs"]
pub mod census;
#[path = "../../crates/probe/src/frames/handshakes.rs"]
pub mod handshakes;
#[path = "../../crates/probe/src/frames/link.rs"]
pub mod link;
#[path = "../../crates/probe/src/frames/observer.rs"]
pub mod observer;
