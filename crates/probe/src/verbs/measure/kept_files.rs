//! The files that a watched child keeps open for itself, and whether they are as it left them.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;

/// The files.
pub(super) struct KeptFiles {
    records: File,
    printed: File,
    /// Which files they are: records, plan.
    identities: [u64; 2],
    plan_B: u64,
}

impl KeptFiles {
    /// As they are before any library is opened.
    ///
    /// * `plan`: the plan's, in whose head notes are written.
    pub(super) fn new(plan: &File) -> io::Result<Self> {
        let records = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let printed = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let (plan, identity) = (plan.metadata()?, records.metadata()?.ino());
        let (identities, plan_B) = ([identity, plan.ino()], plan.len());
        Ok(Self { records, printed, identities, plan_B })
    }

    /// Takes off what was written that is not the child's own; whether there was any.
    ///
    /// # Errors
    /// A file is not there any more.
    pub(super) fn restore(&self, plan: &File, records_B: u64) -> io::Result<bool> {
        let (records, planned) = (self.records.metadata()?, plan.metadata()?);
        if [records.ino(), planned.ino()] != self.identities || records.len() < records_B {
            return Err(io::ErrorKind::NotFound.into());
        }
        let is_touched = records.len() > records_B || planned.len() != self.plan_B;
        if is_touched {
            self.records.set_len(records_B)?;
            plan.set_len(self.plan_B)?;
        }
        Ok(is_touched)
    }

    /// What was printed so far.
    pub(super) fn printed_B(&self) -> u64 {
        self.printed.metadata().map_or(0, |about| about.len())
    }
}
