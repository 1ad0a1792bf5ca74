//! How long a frame of 1536 octets is on the air at 2.4 GHz, by rate.
//!
//! `cargo run -p wattlock-air --example time_on_air`

use wattlock_air::phy::{Channel, PhyError, Rate};

const PSDU_B: u32 = 1536;

fn main() -> Result<(), PhyError> {
    let channel = Channel::default();
    let rates = [
        ("DSSS 1 Mb/s", Rate::Dsss { kb_s: 1_000 }),
        ("CCK 11 Mb/s", Rate::Dsss { kb_s: 11_000 }),
        ("ERP-OFDM 54 Mb/s", Rate::Ofdm { Mb_s: 54 }),
        ("HT, MCS 7", Rate::Ht { mcs: 7 }),
        ("HE, MCS 11", Rate::He { mcs: 11, streams: 1 }),
    ];
    for (name, rate) in rates {
        rate.check(&channel)?;
        println!("{name:<17} {:>9} us", rate.time_on_air_ns(PSDU_B, &channel) / 1_000);
    }
    Ok(())
}
