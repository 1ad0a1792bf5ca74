//! This thread: what it took of a processor, and on which it may run.

use wattlock_engine::Nanoseconds;

/// CPU time of this thread; `None` where the system does not tell.
#[cfg(unix)]
#[must_use]
pub fn cpu_time() -> Option<Nanoseconds> {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(u64::try_from(time.tv_sec()).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// This system does not tell.
#[cfg(not(unix))]
#[must_use]
pub fn cpu_time() -> Option<Nanoseconds> {
    None
}

/// Pins this thread to one processor.
///
/// # Errors
/// What the system says where the processor does not exist or may not be used.
#[cfg(target_os = "linux")]
pub fn pin(cpu: u32) -> Result<(), String> {
    use nix::sched::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    set.set(cpu as usize)
        .and_then(|()| sched_setaffinity(nix::unistd::Pid::from_raw(0), &set))
        .map_err(|error| error.desc().to_owned())
}

/// Pinning is not known on this system.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn pin(_cpu: u32) -> Result<(), String> {
    Err("this system does not pin threads".to_owned())
}
