//! What a watched child notes for its parent, in the head of the file that holds its plan.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// The head of the file, before the plan.
pub(super) const HEAD_B: u64 = 64;
/// Of it a note.
pub(super) const NOTE_B: usize = 32;

/// How far the child is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Preparing = 0,
    /// The header is written.
    Timing = 1,
    /// All that is to be written is.
    Done = 2,
    /// A cipher is proven, before its cases are prepared.
    Proving = 3,
}

/// What the child says of itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Note {
    /// It counts up.
    pub(super) number: u32,
    pub(super) stage: u32,
    /// The case of a user's library that worked last.
    pub(super) case: u32,
    /// Zero where none is at work.
    pub(super) limit_ms: u32,
    /// Whether the library closed files that the child can't go on without.
    pub(super) is_closed: u32,
    /// Written by the child itself.
    pub(super) records_B: u64,
}

/// No case has worked yet.
pub(super) const NONE: u32 = u32::MAX;

impl Note {
    pub(super) const FIRST: Self =
        Self { number: 0, stage: Stage::Preparing as u32, case: NONE, limit_ms: 0, is_closed: 0, records_B: 0 };

    pub(super) fn bytes(self) -> [u8; NOTE_B] {
        let mut bytes = [0; NOTE_B];
        let words = [self.number, self.stage, self.case, self.limit_ms, self.is_closed];
        bytes.chunks_mut(4).zip(words).for_each(|(chunk, word)| chunk.copy_from_slice(&word.to_le_bytes()));
        bytes[24..].copy_from_slice(&self.records_B.to_le_bytes());
        bytes
    }

    pub(super) fn read(file: &File) -> io::Result<Self> {
        let mut bytes = [0; NOTE_B];
        file.read_exact_at(&mut bytes, 0)?;
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let records_B = bytes[24..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Ok(Self { number: word(0), stage: word(4), case: word(8), limit_ms: word(12), is_closed: word(16), records_B })
    }
}
