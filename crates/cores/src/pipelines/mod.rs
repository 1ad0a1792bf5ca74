//! Pipelines: each takes instructions in the order in which they ran and says how many cycles passed.

mod dual;
mod overlap;
mod pipeline;
mod scalar;
mod table;

pub use pipeline::Pipeline;

use crate::error::Error;
use crate::rules::Rules;

/// The pipeline that a core's file names.
///
/// # Errors
/// Where there is none of that name, or a rule is missing or unknown.
pub fn build(name: &str, mut rules: Rules) -> Result<Box<dyn Pipeline>, Error> {
    let pipeline: Box<dyn Pipeline> = match name {
        "table" => Box::new(table::Table::new(&mut rules)?),
        "overlap" => Box::new(overlap::Overlap::new(&mut rules)?),
        "dual" => Box::new(dual::Dual::new(&mut rules)?),
        "scalar" => Box::new(scalar::Scalar::new(&mut rules)?),
        other => return Err(rules.wrong(format!("no pipeline {other:?}: table, overlap, dual or scalar"))),
    };
    rules.finish()?;
    Ok(pipeline)
}
