//! What a frame of a handshake teaches.

use super::keys::Temporal;

/// What a frame taught.
#[derive(Clone, Default)]
pub struct Learned {
    /// The key of the pair, new or the one from before.
    pub pairwise: Option<Temporal>,
    /// The key of the group, and which of four it is.
    pub group: Option<(u8, Temporal)>,
}
