//! The libraries of the system, a file each: its functions, its ids, how it is found.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
mod botan;
pub mod exchange;
mod gcrypt;
mod libbotan;
mod libcrypto;
mod mcrypt;
mod nettle;
mod openssl;
mod sodium;
mod tomcrypt;
mod wolfssl;

use crate::library::Library;

/// All of them.
pub fn all() -> Vec<Box<dyn Library>> {
    vec![
        Box::new(openssl::OpenSsl),
        Box::new(openssl::OpenSslTables),
        Box::new(botan::Botan),
        Box::new(gcrypt::Gcrypt),
        Box::new(nettle::Nettle),
        Box::new(tomcrypt::Tomcrypt),
        Box::new(mcrypt::Mcrypt),
        Box::new(sodium::Sodium),
        Box::new(wolfssl::WolfSsl),
        #[cfg(feature = "aws-lc-rs")]
        Box::new(aws_lc::AwsLc),
    ]
}
