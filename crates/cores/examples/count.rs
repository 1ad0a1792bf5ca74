//! Counts a trace: `count CORE ELF TRACE` prints a line for each region, in CSV.
#![allow(clippy::print_stdout, reason = "its output")]

use std::error::Error;
use std::fs::{self, File};

use wattlock_cores::{Core, count};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [core, elf, trace] = arguments.as_slice() else { return Err("usage: count CORE ELF TRACE".into()) };
    let core = Core::named(core)?;
    let regions = count(&fs::read(elf)?, File::open(trace)?, &core, None)?;
    println!("region,instructions,core_cycles,open_cycles");
    for (number, region) in regions.iter().enumerate() {
        let cycles = region.core_cycles.map_or_else(String::new, |cycles| cycles.to_string());
        println!("{number},{},{cycles},{}", region.instructions, region.open_cycles);
    }
    Ok(())
}
