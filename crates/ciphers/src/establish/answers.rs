//! The published answers of `vectors/establish/`: blocks of `name value` lines, an empty line between two blocks.

/// The files of the schemes that are built in; those of RSA are for libraries alone.
const TEXTS: &[&str] = &[
    #[cfg(any(feature = "x25519", feature = "ed25519", feature = "p256"))]
    include_str!("../../vectors/establish/curves.txt"),
    #[cfg(feature = "ml-dsa")]
    include_str!("../../vectors/establish/ml-dsa-65.txt"),
    #[cfg(feature = "ml-kem")]
    include_str!("../../vectors/establish/ml-kem-768.txt"),
    #[cfg(feature = "all")]
    include_str!("../../vectors/establish/rsa-oaep.txt"),
];

/// One answer: what goes in, and what comes out.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Where it was published.
    pub source: &'static str,
    block: &'static str,
}

impl Answer {
    /// What stands behind a name; nothing where it is not there.
    #[must_use]
    pub fn value(&self, name: &str) -> &'static str {
        self.block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or_default()
    }

    /// The id of its scheme.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.value("scheme")
    }

    /// The bytes behind a name, put at the start of `buffer`; `None` where they are none or too many.
    #[must_use]
    pub fn octets<'b>(&self, name: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        crate::vectors::decode(self.value(name), buffer)
    }

    /// Whether nothing may come out.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.value("refused") == "yes"
    }
}

/// All answers.
pub fn answers() -> impl Iterator<Item = Answer> {
    let blocks = TEXTS.iter().flat_map(|text| text.split("\n\n"));
    let sourced = blocks.scan("", |source, block| {
        let own = block.lines().find_map(|line| line.strip_prefix("# source: "));
        *source = own.unwrap_or(source);
        Some(Answer { source, block })
    });
    sourced.filter(|answer| !answer.scheme().is_empty())
}
