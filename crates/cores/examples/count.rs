//! Counts a trace: `count CORE ELF TRACE [PART CLOCK]` prints a line for each region, in CSV. PART is a file of
//! `data/parts/`, CLOCK is in Hz; for part cycles the trace must hold the loads from flash (`loads=0:0x20000000`).
#![allow(clippy::print_stdout, reason = "its output")]

use std::error::Error;
use std::fs::{self, File};

use wattlock_cores::{Core, Part, count};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (core, elf, trace, part) = match arguments.as_slice() {
        [core, elf, trace] => (core, elf, trace, None),
        [core, elf, trace, part, clock] => {
            (core, elf, trace, Some(Part::from_toml(part, &fs::read_to_string(part)?, clock.parse()?)?))
        }
        _ => return Err("usage: count CORE ELF TRACE [PART CLOCK]".into()),
    };
    let regions = count(&fs::read(elf)?, File::open(trace)?, &Core::named(core)?, part.as_ref())?;
    println!("region,instructions,core_cycles,part_cycles,open_cycles");
    let number = |cycles: Option<u64>| cycles.map_or_else(String::new, |cycles| cycles.to_string());
    for (place, region) in regions.iter().enumerate() {
        let (core, part) = (number(region.core_cycles), number(region.part_cycles));
        println!("{place},{},{core},{part},{}", region.instructions, region.open_cycles);
    }
    Ok(())
}
