//! Counting: a trace and an image become regions with their instructions and cycles.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use crate::definition::Core;
use crate::error::Error;
use crate::image::Image;
use crate::instruction::{Class, Instruction};
use crate::part::{Fetch, Part};
use crate::pipelines::Pipeline;
use crate::trace::{Entry, Trace};

/// What ran between one call of the begin marker and the next of the end marker, without both calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Instructions.
    pub instructions: u64,
    /// The same by class.
    pub by_class: BTreeMap<Class, u64>,
    /// Cycles at zero wait states; nothing where the core has no rules, or an exception interrupted the region.
    pub core_cycles: Option<u64>,
    /// Cycles through the part's flash; nothing without a part, or where the trace lacks the loads from its flash.
    pub part_cycles: Option<u64>,
    /// By how much the cycles may be more or fewer because operands decide, as in a division: they are counted in the
    /// middle of what the manual gives.
    pub open_cycles: u64,
}

/// Counts each region of a run.
///
/// * `elf`: the image.
/// * `trace`: what the plugin wrote; it is buffered here.
/// * `core`: whose cycles.
/// * `part`: whose flash the code and its constants lie in.
///
/// # Errors
/// Where image, trace and core don't fit together.
pub fn count(elf: &[u8], trace: impl Read, core: &Core, part: Option<&Part>) -> Result<Vec<Region>, Error> {
    let image = Image::read(elf)?;
    if image.set != core.set {
        return Err(Error::OtherSet { core: core.id.clone(), image: image.set.name() });
    }
    let mut counter = Counter {
        image,
        core,
        part,
        blocks: BTreeMap::new(),
        window: None,
        pending: None,
        open: None,
        regions: Vec::new(),
    };
    for entry in Trace::new(BufReader::with_capacity(1 << 16, trace))? {
        counter.take(entry?)?;
    }
    if counter.open.is_some() {
        return Err(Error::Malformed("a region that began did not end"));
    }
    Ok(counter.regions)
}

/// A block that ran, until it is known how much of it did.
struct Pending {
    number: u32,
    ran: Option<usize>,
    loads: Vec<(u32, u32)>,
}

/// A region under way.
struct Open {
    region: Region,
    core: Option<Box<dyn Pipeline>>,
    part: Option<(Box<dyn Pipeline>, Fetch)>,
    was_interrupted: bool,
    /// The blocks that ran and how many instructions of each, for a pipeline that learns.
    ran: Vec<(u32, usize)>,
}

struct Counter<'a> {
    image: Image,
    core: &'a Core,
    part: Option<&'a Part>,
    blocks: BTreeMap<u32, Vec<Instruction>>,
    window: Option<(u32, u32)>,
    pending: Option<Pending>,
    open: Option<Open>,
    regions: Vec<Region>,
}

impl Counter<'_> {
    fn take(&mut self, entry: Entry) -> Result<(), Error> {
        match entry {
            Entry::Window { low, high } => self.window = Some((low, high)),
            Entry::Block { number, address, size } => {
                let known = self.image.decode(address, size);
                // What never runs in a region need not be known.
                if let Ok(instructions) = known {
                    self.blocks.insert(number, instructions);
                } else if self.open.is_some() {
                    known?;
                }
            }
            Entry::Begin => self.begin()?,
            Entry::Ran(number) => {
                self.close_block(0)?;
                self.pending = Some(Pending { number, ran: None, loads: Vec::new() });
            }
            Entry::Short(ran) => self.pending()?.ran = Some(usize::try_from(ran).unwrap_or(usize::MAX)),
            Entry::Load { instruction, address } => self.pending()?.loads.push((instruction, address)),
            Entry::End => {
                // The call of the end marker is not counted.
                self.close_block(1)?;
                let Some(open) = self.open.take() else {
                    return Err(Error::Malformed("a region ends that did not begin"));
                };
                self.regions.push(open.finish(&self.blocks));
            }
        }
        Ok(())
    }

    fn pending(&mut self) -> Result<&mut Pending, Error> {
        self.pending.as_mut().ok_or(Error::Malformed("a word about a block before any ran"))
    }

    fn begin(&mut self) -> Result<(), Error> {
        if self.open.is_some() {
            return Err(Error::Malformed("a region begins inside of another"));
        }
        let has_loads = |part: &&Part| {
            let (low, high) = part.window();
            self.window.is_some_and(|(from, to)| from <= low && to >= high)
        };
        let through_flash = match (self.part.filter(has_loads), self.core.pipeline()?) {
            (Some(part), Some(pipeline)) => Some((pipeline, part.fetch())),
            _ => None,
        };
        self.pending = None;
        self.open = Some(Open {
            region: Region::default(),
            core: self.core.pipeline()?,
            part: through_flash,
            was_interrupted: false,
            ran: Vec::new(),
        });
        Ok(())
    }

    fn close_block(&mut self, left_out: usize) -> Result<(), Error> {
        let (Some(pending), Some(open)) = (self.pending.take(), self.open.as_mut()) else { return Ok(()) };
        let block = self.blocks.get(&pending.number).ok_or(Error::Malformed("a block ran that nothing defines"))?;
        let ran = pending.ran.unwrap_or(block.len());
        open.was_interrupted |= ran != block.len();
        let counted = ran.min(block.len()).saturating_sub(left_out);
        if open.core.as_ref().is_some_and(|pipeline| pipeline.learns()) {
            open.ran.push((pending.number, counted));
        }
        open.run(&block[..counted], &pending.loads);
        Ok(())
    }
}

impl Open {
    fn run(&mut self, instructions: &[Instruction], loads: &[(u32, u32)]) {
        let mut loads = loads.iter().peekable();
        for (place, instruction) in (0_u32..).zip(instructions) {
            self.region.instructions += 1;
            *self.region.by_class.entry(instruction.class).or_insert(0) += 1;
            if let Some(pipeline) = &mut self.core {
                pipeline.step(instruction);
            }
            if let Some((pipeline, fetch)) = &mut self.part {
                pipeline.wait(fetch.instruction(instruction.address, instruction.length_B, pipeline.cycles()));
                pipeline.step(instruction);
                while let Some((_, address)) = loads.next_if(|(at, _)| *at <= place) {
                    pipeline.wait(fetch.load(*address));
                }
            }
        }
    }

    fn finish(mut self, blocks: &BTreeMap<u32, Vec<Instruction>>) -> Region {
        let mut region = self.region;
        if let Some(pipeline) = self.core.as_mut().filter(|pipeline| pipeline.learns()) {
            pipeline.rewind();
            for (number, counted) in &self.ran {
                let block = blocks.get(number).map_or(&[][..], |block| &block[..*counted]);
                block.iter().for_each(|instruction| pipeline.step(instruction));
            }
        }
        if !self.was_interrupted {
            region.open_cycles = self.core.as_ref().map_or(0, |pipeline| pipeline.open());
            region.core_cycles = self.core.map(|pipeline| pipeline.cycles());
            region.part_cycles = self.part.map(|(pipeline, _)| pipeline.cycles());
        }
        region
    }
}
