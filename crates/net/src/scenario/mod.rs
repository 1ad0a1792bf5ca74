//! Scenarios of the air in, results out: the records of `wattlock-net air`, one JSON object a line.
//!
//! | file | holds |
//! |---|---|
//! | `request` | a scenario: one line of input |
//! | `result` | what an engine answers: one line of output |
//! | `read` | a line read and answered |
//! | `words` | what is said of a value that is not of its key's kind |
//! | `wrong` | what is wrong with which key |
//! | `resolve`, `sending` | from a scenario to a network |
//! | `engines` | the three engines behind one answer |
//! | `means` | which scenarios an engine of means can answer |
//! | `work` | how much work a scenario makes for the simulator |

mod engines;
mod means;
mod read;
mod request;
mod resolve;
mod result;
mod sending;
mod words;
mod work;
mod wrong;

pub use read::line;
pub use request::Scenario;
pub use result::AirLine;
