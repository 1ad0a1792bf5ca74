//! What both ends of a link are set to. Nothing is negotiated.

use crate::error::Error;

/// What stands before a record on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// Nothing: the lower layer tells kind and counter.
    None,
    /// One octet: the kind in 2 bits, the counter in 6.
    Octet,
    /// Two octets that only the pair can compute: address, kind and counter in one.
    Pair,
}

/// What both ends of a link are set to. Nothing is negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    pub(crate) hint: Hint,
    pub(crate) short_tag_bits: u8,
    pub(crate) budget: u32,
    pub(crate) acceptances: u32,
    pub(crate) report_every: u32,
}

impl Parameters {
    /// Short tags of 4 octets, 16 failures a generation, 128 bits before a message is verified, a report in 16 messages.
    #[must_use]
    pub fn new(hint: Hint) -> Self {
        Self { hint, short_tag_bits: 32, budget: 16, acceptances: 4, report_every: 16 }
    }

    /// Short tags of this many octets, 4 to 8.
    ///
    /// # Errors
    /// [`Error::Parameter`] outside of that, or if the tags are too short for the budget.
    pub fn short_tag(mut self, octets: u8) -> Result<Self, Error> {
        if !(4..=8).contains(&octets) {
            return Err(Error::Parameter);
        }
        let verified_bits = self.verified_bits(self.acceptances);
        self.short_tag_bits = 8 * octets;
        self.verified_at(if verified_bits >= 128 { 128 } else { 64 })
    }

    /// This many failed tags in a generation before short tags are refused, 1 to 1024.
    ///
    /// # Errors
    /// [`Error::Parameter`] outside of that.
    pub fn budget(mut self, failures: u32) -> Result<Self, Error> {
        if !(1..=1024).contains(&failures) {
            return Err(Error::Parameter);
        }
        let verified_bits = self.verified_bits(self.acceptances);
        self.budget = failures;
        self.verified_at(if verified_bits >= 128 { 128 } else { 64 })
    }

    /// A message is verified when a forgery could be there with at most 2 to the power of minus `bits`, 64 or 128, as of
    /// [`crate::Message::bits`].
    ///
    /// # Errors
    /// [`Error::Parameter`] for other numbers of bits.
    pub fn verified_at(mut self, bits: u32) -> Result<Self, Error> {
        if bits != 64 && bits != 128 {
            return Err(Error::Parameter);
        }
        self.acceptances = bits.div_ceil(self.acceptance_bits()) - 1;
        Ok(self)
    }

    /// A report is due after this many messages, 1 to 32.
    ///
    /// # Errors
    /// [`Error::Parameter`] outside of that.
    pub fn report_every(mut self, messages: u32) -> Result<Self, Error> {
        if !(1..=32).contains(&messages) {
            return Err(Error::Parameter);
        }
        self.report_every = messages;
        Ok(self)
    }

    /// Tags of 1 to 16 bits and any number of acceptances, to count forgeries. No link is safe with them.
    #[cfg(test)]
    pub(crate) fn for_statistics(
        hint: Hint,
        short_tag_bits: u8,
        budget: u32,
        acceptances: u32,
        report_every: u32,
    ) -> Self {
        Self { hint, short_tag_bits, budget, acceptances, report_every }
    }

    /// Bits that one acceptance is worth: the tag's, less the tries that a budget and two candidate keys leave.
    pub(crate) fn acceptance_bits(&self) -> u32 {
        let tries = 2 * (self.budget + 1);
        u32::from(self.short_tag_bits).saturating_sub(tries.next_power_of_two().ilog2()).max(1)
    }

    /// Bits of a message that this many later acceptances stand behind. No more than a whole tag has: one that is right by
    /// chance causes no fork.
    pub(crate) fn verified_bits(&self, acceptances: u32) -> u32 {
        (self.acceptance_bits() * (acceptances + 1)).min(128)
    }
}
