//! Cycles of a microcontroller's core, from the instructions that an emulator ran.
//!
//! An image runs in QEMU with the plugin of `plugin/trace.c`, which writes the order of the blocks of instructions between
//! two markers. [`count`] reads the image and this trace: it decodes each instruction, follows the core's pipeline by rules
//! that stand in `data/cores/<core>.toml` with their sources, and gives
//!
//! * *core cycles*: what the core takes where every memory answers at once;
//! * *part cycles*: the same through the flash of a part, with its wait states, prefetch and cache.
//!
//! Neither is a *board cycle*, which only a counter on a board can tell.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "units keep their case in names")]

mod counter;
mod definition;
mod error;
mod image;
mod instruction;
mod part;
mod pipelines;
mod rules;
pub mod rv32;
pub mod thumb;
mod trace;

pub use counter::{Region, count};
pub use definition::{Comparison, Core};
pub use error::Error;
pub use image::{BEGIN, END, Image, Markers, Set};
pub use instruction::{Class, Form, Instruction, Registers};
pub use part::{Fetch, Part};
pub use pipelines::Pipeline;
pub use trace::{Entry, Trace};
