//! A program that ends with the one that started it, however that ends.

/// Set in the environment of a program that ends with its parent: the number of that process.
pub const SUPERVISED: &str = "WATTLOCK_SUPERVISED";

/// Ends this program with its parent, where that wants it so. Elsewhere than on Linux it goes on until it writes.
pub fn end_with_it() {
    #[cfg(target_os = "linux")]
    if let Some(parent) = std::env::var(SUPERVISED).ok().and_then(|id| id.parse().ok()) {
        let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
        // One that ended before that was said sends no signal any more.
        if is_gone(parent) {
            std::process::exit(1);
        }
    }
}

/// Whether the process ended. Programs that this one starts have the number of their parent's parent.
#[cfg(target_os = "linux")]
fn is_gone(id: i32) -> bool {
    let id = nix::unistd::Pid::from_raw(id);
    let is_zombie = || std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    nix::unistd::getppid() != id && (nix::sys::signal::kill(id, None) == Err(nix::errno::Errno::ESRCH) || is_zombie())
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::is_gone;

    #[test]
    fn a_process_is_gone_once_it_has_ended_waited_for_or_not_and_a_parent_never() {
        assert!(!is_gone(nix::unistd::getppid().as_raw()));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        assert!(!is_gone(id));
        child.kill().unwrap();
        let ends = || {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                is_gone(id)
            })
        };
        assert!(ends());
        child.wait().unwrap();
        assert!(is_gone(id));
    }
}
