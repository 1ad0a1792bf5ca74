//! Why a frame was refused, or could not be made.

use core::fmt;

/// Why a frame was refused, or could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The buffer is too small for the frame.
    Buffer,
    /// The frame is shorter or longer than any frame of its kind.
    Length,
    /// No candidate key and counter gives this tag.
    Tag,
    /// The counter, or the number of an opening, was there before, or is too old to tell.
    Replayed,
    /// The frame names a kind, a generation or a counter that nothing here waits for.
    Unexpected,
    /// Short tags are not accepted: the budget of failures is spent, or the root is not confirmed yet.
    ShortTag,
    /// The counters of this root are used up: resume.
    Exhausted,
    /// A parameter is out of its range.
    Parameter,
}

impl fmt::Display for Error {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Self::Buffer => "the buffer is too small",
            Self::Length => "no frame of this kind has this length",
            Self::Tag => "the tag is wrong",
            Self::Replayed => "the number was there before or is too old",
            Self::Unexpected => "the frame is not expected now",
            Self::ShortTag => "only whole tags are accepted now",
            Self::Exhausted => "the counters of this root are used up",
            Self::Parameter => "a parameter is out of its range",
        })
    }
}

impl core::error::Error for Error {}
