//! What the ciphers make here, against the file that the module's digests in a browser are compared with too.

#![allow(clippy::expect_used, reason = "a test")]

/// `ID PROVIDER DIGEST` a line; made by `cargo test -p wattlock-page` with `WATTLOCK_DIGESTS` naming the file to write.
const KNOWN: &str = include_str!("digests.txt");

#[test]
fn what_each_cipher_makes_has_its_known_digest() {
    let found = wattlock_page::digests::digests().expect("a proof failed");
    if let Some(file) = std::env::var_os("WATTLOCK_DIGESTS") {
        std::fs::write(file, found.join("\n") + "\n").expect("the file can't be written");
        return;
    }
    let known: Vec<&str> = KNOWN.lines().collect();
    let unknown: Vec<&String> = found.iter().filter(|line| !known.contains(&line.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
