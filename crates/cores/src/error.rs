//! What can be wrong with an image, a trace or a core's rules.

use std::fmt;

/// Why nothing could be counted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The image is no ELF file for a 32-bit Arm or RISC-V core.
    Image(String),
    /// The image lacks a marker.
    NoMarker(&'static str),
    /// Both markers are one function.
    MarkersAreOne(u32),
    /// The trace could not be read.
    Read(std::io::Error),
    /// The file is no trace of the plugin's.
    NoTrace,
    /// The trace ends before the plugin closed it.
    CutShort,
    /// The trace names what it did not define, or a region ends that did not begin.
    Malformed(&'static str),
    /// Code ran that the image does not hold, or that is no instruction.
    Undecodable(u32),
    /// The rules of a core, or a part's description, are wrong.
    Rules {
        /// Which core or part.
        of: String,
        /// What is wrong.
        problem: String,
    },
    /// No core is known by this name.
    NoCore(String),
    /// A core's rules are for another instruction set than the image's.
    OtherSet {
        /// The core.
        core: String,
        /// The image's machine.
        image: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(problem) => write!(form, "the image is no ELF file for a microcontroller: {problem}"),
            Self::NoMarker(name) => write!(form, "the image has no function {name}"),
            Self::MarkersAreOne(address) => {
                write!(form, "both markers of the image stand at {address:#x}: the linker folded them into one")
            }
            Self::Read(problem) => write!(form, "the trace can't be read: {problem}"),
            Self::NoTrace => write!(form, "the file is no trace of the plugin's"),
            Self::CutShort => write!(form, "the trace is cut short: the emulator did not end by itself"),
            Self::Malformed(what) => write!(form, "the trace is malformed: {what}"),
            Self::Undecodable(address) => write!(form, "no instruction is known at {address:#x}, and it ran"),
            Self::Rules { of, problem } => write!(form, "{of}: {problem}"),
            Self::NoCore(name) => write!(form, "no core {name:?}"),
            Self::OtherSet { core, image } => write!(form, "{core} does not run an image for {image}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(problem: std::io::Error) -> Self {
        if problem.kind() == std::io::ErrorKind::UnexpectedEof { Self::CutShort } else { Self::Read(problem) }
    }
}
