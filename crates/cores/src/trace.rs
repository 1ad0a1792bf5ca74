//! The file that the plugin writes (`plugin/trace.c` says its words), read one entry after the other.

use std::io::Read;

use crate::error::Error;

const MAGIC: &[u8; 8] = b"WLTRACE1";
const BLOCK: u32 = 0x8000_0000;
const BEGIN: u32 = 0xc000_0000;
const END: u32 = 0xc000_0001;
const SHORT: u32 = 0xc000_0002;
const WINDOW: u32 = 0xc000_0003;
const WHOLE: u32 = 0xc000_0004;
const LOAD: u32 = 0xd000_0000;

/// One entry of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A block of instructions ran.
    Ran(u32),
    /// What a block is: stands before its first run.
    Block {
        /// Its number.
        number: u32,
        /// Where it begins.
        address: u32,
        /// How many instructions it has.
        size: u32,
    },
    /// A region starts.
    Begin,
    /// It has ended; its last instruction was the end marker's call.
    End,
    /// Only so many instructions of the block before ran.
    Short(u32),
    /// Loads from `low` to below `high` are in the trace.
    Window {
        /// The first address.
        low: u32,
        /// The address after the last.
        high: u32,
    },
    /// An instruction of the block that ran last loaded.
    Load {
        /// Which of its instructions.
        instruction: u32,
        /// From where.
        address: u32,
    },
}

/// Reads entries.
#[derive(Debug)]
pub struct Trace<R> {
    from: R,
    is_over: bool,
}

impl<R: Read> Trace<R> {
    /// Begins a trace. Each entry is one or two short reads: give it a buffered reader.
    ///
    /// # Errors
    /// Where it is no trace.
    pub fn new(mut from: R) -> Result<Self, Error> {
        let mut magic = [0; 8];
        match from.read_exact(&mut magic) {
            Err(problem) if problem.kind() != std::io::ErrorKind::UnexpectedEof => Err(problem.into()),
            Ok(()) if magic == *MAGIC => Ok(Self { from, is_over: false }),
            _ => Err(Error::NoTrace),
        }
    }

    fn word(&mut self) -> Result<u32, Error> {
        let mut word = [0; 4];
        self.from.read_exact(&mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn entry(&mut self) -> Result<Option<Entry>, Error> {
        let word = self.word()?;
        let entry = match word {
            0..BLOCK => Entry::Ran(word),
            BLOCK..BEGIN => Entry::Block { number: word - BLOCK, address: self.word()?, size: self.word()? },
            BEGIN => Entry::Begin,
            END => Entry::End,
            SHORT => Entry::Short(self.word()?),
            WINDOW => Entry::Window { low: self.word()?, high: self.word()? },
            WHOLE => return Ok(None),
            LOAD.. => Entry::Load { instruction: word - LOAD, address: self.word()? },
            _ => return Err(Error::Malformed("an unknown word")),
        };
        Ok(Some(entry))
    }
}

impl<R: Read> Iterator for Trace<R> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = self.entry().transpose();
        self.is_over = !matches!(entry, Some(Ok(_)));
        entry
    }
}
