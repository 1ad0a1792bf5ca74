//! A part's flash: how many cycles an instruction or a constant comes late from it. The order of the accesses decides, so
//! this follows the trace.

use std::collections::VecDeque;

use serde::Deserialize;

use crate::error::Error;

/// Instructions and constants of an image lie in the code region of the architecture's map of memory (DDI 0403E.e, B3.1).
const CODE_REGION: (u32, u32) = (0, 0x2000_0000);

#[derive(Deserialize)]
struct File {
    greatest_Hz: u64,
    flash: Flash,
    #[serde(default)]
    ranges: Vec<Range>,
    prefetch: Option<Prefetch>,
    #[serde(default)]
    caches: Vec<CacheRow>,
}

#[derive(Deserialize)]
struct Flash {
    #[serde(rename = "where")]
    place: String,
    width_bits: Option<u32>,
}

#[derive(Deserialize)]
struct Range {
    name: String,
    wait_states: Vec<WaitStates>,
    prefetch: Option<bool>,
}

#[derive(Deserialize)]
struct WaitStates {
    up_to_Hz: u64,
    count: u64,
}

#[derive(Deserialize)]
struct Prefetch {
    blocks: u32,
}

#[derive(Deserialize)]
struct CacheRow {
    holds: String,
    lines: Option<usize>,
    line_B: Option<u32>,
    ways: Option<usize>,
}

/// A part at a clock: its flash with the wait states that this clock needs, prefetch and caches on.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name in records.
    pub id: String,
    /// The clock.
    pub clock_Hz: u64,
    /// The wait states at this clock.
    pub wait_states: u64,
    line_B: u32,
    has_prefetch: bool,
    caches: Vec<Cache>,
    /// Which of these holds instructions, and which constants.
    instructions: Option<usize>,
    data: Option<usize>,
}

impl Part {
    /// Reads a part's file: its flash at a clock, in the first of its ranges of voltage.
    ///
    /// # Errors
    /// Where it is wrong, where the part can't run at this clock, or where what its flash does was not published.
    pub fn from_toml(id: &str, text: &str, clock_Hz: u64) -> Result<Self, Error> {
        let wrong = |problem: String| Error::Rules { of: id.to_owned(), problem };
        let file: File = toml::from_str(text).map_err(|problem| wrong(problem.to_string()))?;
        if clock_Hz > file.greatest_Hz {
            return Err(wrong(format!("it runs at up to {} Hz, not at {clock_Hz}", file.greatest_Hz)));
        }
        if file.flash.place != "inside" {
            return Err(wrong("its code lies in a flash of another vendor, so no part cycles are known".to_owned()));
        }
        let width_bits = file.flash.width_bits.filter(|width| width.is_power_of_two() && *width >= 16);
        let width_B = width_bits.ok_or_else(|| wrong("the width of its flash was not published".to_owned()))? / 8;
        let range = file.ranges.first().ok_or_else(|| wrong("it has no ranges".to_owned()))?;
        let fitting = range.wait_states.iter().filter(|states| clock_Hz <= states.up_to_Hz).map(|states| states.count);
        let wait_states =
            fitting.min().ok_or_else(|| wrong(format!("{}: no wait states for {clock_Hz} Hz", range.name)))?;
        let mut part = Self {
            id: id.to_owned(),
            clock_Hz,
            wait_states,
            line_B: width_B,
            has_prefetch: file.prefetch.is_some_and(|prefetch| prefetch.blocks > 0) && range.prefetch != Some(false),
            caches: Vec::new(),
            instructions: None,
            data: None,
        };
        for cache in file.caches {
            let (Some(lines), Some(line_B)) = (cache.lines, cache.line_B) else {
                return Err(wrong("the size of its cache was not published".to_owned()));
            };
            if !line_B.is_power_of_two() {
                return Err(wrong(format!("a cache has lines of {line_B} bytes")));
            }
            part.line_B = part.line_B.max(line_B);
            // Where no ways are given a line may lie anywhere.
            let ways = cache.ways.unwrap_or(lines).clamp(1, lines.max(1));
            let place = Some(part.caches.len());
            part.caches.push(Cache { ways, sets: vec![VecDeque::new(); (lines / ways).max(1)] });
            match cache.holds.as_str() {
                "instructions" => part.instructions = place,
                "data" => part.data = place,
                _ => (part.instructions, part.data) = (place, place),
            }
        }
        Ok(part)
    }

    /// The addresses whose loads must be in a trace, the first and the one after the last.
    #[must_use]
    pub const fn window(&self) -> (u32, u32) {
        CODE_REGION
    }

    /// The flash's state before anything was fetched.
    #[must_use]
    pub fn fetch(&self) -> Fetch {
        Fetch { part: self.clone(), line: None, prefetched: None }
    }
}

/// Lines by the set that each may lie in, the one that was used last behind the others.
#[derive(Clone, Debug)]
struct Cache {
    ways: usize,
    sets: Vec<VecDeque<u32>>,
}

impl Cache {
    /// Whether a line was there; now it is.
    fn had(&mut self, line: u32) -> bool {
        let sets = self.sets.len();
        let set = &mut self.sets[line as usize % sets];
        let known = set.iter().position(|held| *held == line);
        if let Some(place) = known {
            set.remove(place);
        } else if set.len() == self.ways {
            set.pop_front();
        }
        set.push_back(line);
        known.is_some()
    }
}

/// A flash under way.
#[derive(Debug)]
pub struct Fetch {
    part: Part,
    /// The line that instructions come from.
    line: Option<u32>,
    /// The next line, and when it will have arrived.
    prefetched: Option<(u32, u64)>,
}

impl Fetch {
    /// Cycles that an instruction at `address` comes late, wanted in cycle `now`. Code outside of the flash never does.
    pub fn instruction(&mut self, address: u32, length_B: u8, now: u64) -> u64 {
        let last = address.wrapping_add(u32::from(length_B) - 1);
        let mut late = 0;
        for place in [address, last] {
            if let Some(line) = self.line_of(place)
                && self.line != Some(line)
            {
                late += self.line_late(line, now + late);
            }
        }
        late
    }

    /// Cycles that a constant comes late.
    pub fn load(&mut self, address: u32) -> u64 {
        let Some(line) = self.line_of(address) else { return 0 };
        let was_cached = self.part.data.is_some_and(|cache| self.part.caches[cache].had(line));
        if was_cached { 0 } else { self.part.wait_states }
    }

    fn line_late(&mut self, line: u32, now: u64) -> u64 {
        self.line = Some(line);
        let prefetched = self.prefetched.take().filter(|(expected, _)| *expected == line);
        let was_cached = self.part.instructions.is_some_and(|cache| self.part.caches[cache].had(line));
        let late = match prefetched {
            _ if was_cached => 0,
            Some((_, arrives)) => arrives.saturating_sub(now),
            None => self.part.wait_states,
        };
        if self.part.has_prefetch {
            self.prefetched = Some((line + 1, now + late + 1 + self.part.wait_states));
        }
        late
    }

    /// The number of the flash's line that holds an address; nothing outside of the flash.
    fn line_of(&self, address: u32) -> Option<u32> {
        let (low, high) = CODE_REGION;
        (low..high).contains(&address).then(|| address / self.part.line_B)
    }
}
