//! What a program that measures, and whoever plans for it and reads its records, must agree on: printed beside the
//! schema of the records, so that it is written once.

use serde::Serialize;
use wattlock_engine as engine;

use crate::{bind, packets};

/// The injected slowdown carries out 61 calls for each 60 that it claims.
pub const INJECTED_SLOWDOWN: (u32, u32) = (61, 60);
/// A call with a longer payload may be cut into segments.
pub const WHOLE_PAYLOAD_B: u64 = 4096;

/// The constants, as they are printed.
#[derive(Debug, Serialize)]
pub struct Constants {
    tries: u32,
    visits_a_half: u32,
    least_halves: u32,
    neighbour_percent: u64,
    injected_slowdown: (u32, u32),
    whole_payload_B: u64,
    largest_payload_B: usize,
    largest_aad_B: usize,
    ring_B: Rings,
}

/// The packets of a placement together.
#[derive(Debug, Serialize)]
struct Rings {
    #[serde(rename = "L2")]
    l2: usize,
    #[serde(rename = "DRAM")]
    dram: usize,
}

/// All of them.
#[must_use]
pub const fn constants() -> Constants {
    Constants {
        tries: engine::TRIES,
        visits_a_half: engine::VISITS_A_HALF,
        least_halves: engine::LEAST_HALVES,
        neighbour_percent: engine::NEIGHBOUR_PERCENT,
        injected_slowdown: INJECTED_SLOWDOWN,
        whole_payload_B: WHOLE_PAYLOAD_B,
        largest_payload_B: bind::LARGEST_PAYLOAD_B,
        largest_aad_B: bind::LARGEST_AAD_B,
        ring_B: Rings { l2: packets::L2_RING_B, dram: packets::DRAM_HEAP_B },
    }
}
