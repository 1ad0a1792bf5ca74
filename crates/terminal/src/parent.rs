//! A program that ends with the one that started it, however that ends.

/// Set in the environment of a program that ends with its parent.
pub const SUPERVISED: &str = "WATTLOCK_SUPERVISED";

/// Ends this program with its parent, where that wants it so. Elsewhere than on Linux it goes on until it writes.
pub fn end_with_it() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(SUPERVISED).is_some() {
        let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    }
}
