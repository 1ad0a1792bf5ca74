//! Which instructions there are.
#![forbid(unsafe_code)]

/// Which instructions are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// AVX-512 as of Ice Lake and Zen 4.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Scalar,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_avx512, "avx512f", "avx512bw", "avx512vbmi2", "avx2");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_avx2, "avx2");

impl Way {
    /// All that can be built for this architecture, the best first.
    pub(in crate::kernels) const ALL: &'static [Way] = &[
        #[cfg(target_arch = "x86_64")]
        Way::Avx512,
        #[cfg(target_arch = "x86_64")]
        Way::Avx2,
        Way::Scalar,
    ];

    /// Whether this processor and its system have the instructions.
    #[inline]
    pub(in crate::kernels) fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => has_avx512::get(),
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => has_avx2::get(),
            Way::Scalar => true,
        }
    }

    /// The best that is here.
    #[inline]
    pub(in crate::kernels) fn best() -> Self {
        Self::ALL.iter().copied().find(|way| way.is_here()).unwrap_or(Way::Scalar)
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => "avx2",
            Way::Scalar => "portable",
        }
    }
}

/// The way that is taken on this machine.
pub(crate) fn path() -> &'static str {
    Way::best().name()
}
