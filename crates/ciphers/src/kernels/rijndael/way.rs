//! Which instructions there are.

/// Which instructions are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    #[cfg(target_arch = "x86_64")]
    Vaes512,
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    Portable,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_vaes512, "avx512f", "avx512bw", "avx512vbmi", "avx2", "vaes", "aes", "sse4.1");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_vaes256, "avx2", "vaes", "aes", "sse4.1");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_aesni, "aes", "sse4.1");

impl Way {
    /// All that can be built for this architecture, the best first.
    pub(super) const ALL: &'static [Way] = &[
        #[cfg(target_arch = "x86_64")]
        Way::Vaes512,
        #[cfg(target_arch = "x86_64")]
        Way::Vaes256,
        #[cfg(target_arch = "x86_64")]
        Way::Aesni,
        Way::Portable,
    ];

    /// Whether this processor and its system have the instructions.
    #[inline]
    pub(super) fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 => has_vaes512::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Vaes256 => has_vaes256::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => has_aesni::get(),
            Way::Portable => true,
        }
    }

    /// The best that is here.
    #[inline]
    pub(super) fn best() -> Self {
        Self::ALL.iter().copied().find(|way| way.is_here()).unwrap_or(Way::Portable)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Vaes512 => "vaes512",
            #[cfg(target_arch = "x86_64")]
            Way::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Way::Aesni => "aesni",
            Way::Portable => "bitsliced",
        }
    }
}

/// The way that is taken on this machine.
pub(crate) fn path() -> &'static str {
    Way::best().name()
}
