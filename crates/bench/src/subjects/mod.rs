//! What can be measured, a file a kind. A new kind is a file here and a line in [`KINDS`].

pub mod ciphers;
pub mod establishment;
pub mod protection;

use crate::subject::{Kind, Registry};

/// All kinds; ciphers first: they say why an id that nobody knows is none.
pub const KINDS: &[&dyn Kind] = &[&ciphers::Ciphers, &establishment::Schemes, &protection::Protocols];

/// All that can be measured.
pub const REGISTRY: Registry<'static> = Registry::of(KINDS);
