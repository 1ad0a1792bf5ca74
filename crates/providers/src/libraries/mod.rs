//! The libraries of the system: a file each, and one line in the list below, which makes the file's module and its place
//! among the providers. The cargo feature on the line is that of a library that is compiled in.
//!
//! A library's file holds its functions, its ids, how it is found; its function `libraries` gives the providers that it
//! makes, mostly one. What several of these files call has a file of its own before the list.

mod exchange;
mod libbotan;
mod libcrypto;

use crate::library::Library;

macro_rules! libraries {
    ($($(#[$gate:meta])? $name:ident;)+) => {
        $($(#[$gate])? mod $name;)+

        /// All of them, in the order in which a catalogue prints them.
        pub fn all() -> Vec<Box<dyn Library>> {
            let mut all = Vec::new();
            $($(#[$gate])? all.extend($name::libraries());)+
            all
        }
    };
}

libraries! {
    openssl;
    botan;
    gcrypt;
    nettle;
    tomcrypt;
    mcrypt;
    sodium;
    wolfssl;
    #[cfg(feature = "aws-lc-rs")] aws_lc;
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_that_opens_none_names_them_all() {
        let all = super::all();
        let opened: Vec<_> = all.iter().map(|library| library.name()).filter(|name| *name != "aws-lc-rs").collect();
        assert_eq!(opened, crate::closed::NAMES);
    }
}
