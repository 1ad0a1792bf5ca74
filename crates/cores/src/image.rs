//! An image as the emulator runs it: the bytes of its segments and the addresses of its markers.

use object::read::elf::ElfFile32;
use object::{Architecture, Object, ObjectSegment, ObjectSymbol};

use crate::error::Error;
use crate::instruction::Instruction;
use crate::{rv32, thumb};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Thumb and Thumb-2.
    Thumb,
    /// RV32 with compressed instructions.
    Rv32,
}

impl Set {
    /// The word of the rules and of messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thumb => "thumb",
            Self::Rv32 => "rv32",
        }
    }
}

/// Where counting begins and ends, without the bit that says Thumb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Markers {
    /// `wattlock_count_begin`.
    pub begin: u32,
    /// `wattlock_count_end`.
    pub end: u32,
}

/// The name of the function that an image calls just before what is counted.
pub const BEGIN: &str = "wattlock_count_begin";
/// The name of the function that an image calls just after it.
pub const END: &str = "wattlock_count_end";

/// An ELF file, read.
#[derive(Debug)]
pub struct Image {
    /// Its instruction set.
    pub set: Set,
    /// Its markers.
    pub markers: Markers,
    segments: Vec<(u32, Vec<u8>)>,
}

impl Image {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// Where it is none for a 32-bit Arm or RISC-V core, or lacks a marker.
    pub fn read(elf: &[u8]) -> Result<Self, Error> {
        let wrong = |problem: object::Error| Error::Image(problem.to_string());
        let file = ElfFile32::<object::LittleEndian>::parse(elf).map_err(wrong)?;
        let set = match file.architecture() {
            Architecture::Arm => Set::Thumb,
            Architecture::Riscv32 => Set::Rv32,
            other => return Err(Error::Image(format!("it is for {other:?}"))),
        };
        let mut segments = Vec::new();
        for segment in file.segments() {
            let start = address(segment.address())?;
            segments.push((start, segment.data().map_err(wrong)?.to_vec()));
        }
        let find = |name: &'static str| -> Result<u32, Error> {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name) && symbol.is_definition());
            Ok(address(symbol.ok_or(Error::NoMarker(name))?.address())? & !1)
        };
        let markers = Markers { begin: find(BEGIN)?, end: find(END)? };
        if markers.begin == markers.end {
            return Err(Error::MarkersAreOne(markers.begin));
        }
        Ok(Self { set, markers, segments })
    }

    /// The bytes from an address to its segment's end.
    fn bytes(&self, address: u32) -> Option<&[u8]> {
        self.segments.iter().find_map(|(start, data)| data.get(usize::try_from(address.checked_sub(*start)?).ok()?..))
    }

    /// Decodes the `size` instructions of a block.
    ///
    /// # Errors
    /// Where the image holds no instruction there.
    pub fn decode(&self, from: u32, size: u32) -> Result<Vec<Instruction>, Error> {
        let mut at = from;
        let mut conditional = 0_u32;
        let mut found = Vec::with_capacity(usize::try_from(size).unwrap_or(0).min(4096));
        for _ in 0..size {
            let code = self.bytes(at).ok_or(Error::Undecodable(at))?;
            let instruction = match self.set {
                Set::Thumb => thumb::decode(at, code, conditional > 0),
                Set::Rv32 => rv32::decode(at, code),
            };
            let instruction = instruction.ok_or(Error::Undecodable(at))?;
            conditional = match self.set {
                Set::Thumb => thumb::it_length(code).max(conditional.saturating_sub(1)),
                Set::Rv32 => 0,
            };
            at = instruction.next_address();
            found.push(instruction);
        }
        Ok(found)
    }
}

fn address(wide: u64) -> Result<u32, Error> {
    u32::try_from(wide).map_err(|_| Error::Image(format!("it has an address of more than 32 bits, {wide:#x}")))
}
