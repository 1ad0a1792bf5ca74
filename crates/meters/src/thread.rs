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

/// Cycles of the core that `work` took in this thread, the system's own left out, by the kernel's counter; `None` where
/// there is none or it may not be opened.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
#[must_use]
pub fn user_cycles(work: impl FnOnce()) -> Option<u64> {
    use perf_event::Builder;
    use perf_event::events::Hardware;
    let mut counter = Builder::new(Hardware::CPU_CYCLES).exclude_kernel(true).exclude_hv(true).build().ok()?;
    counter.enable().ok()?;
    work();
    counter.disable().ok()?;
    counter.read().ok().filter(|cycles| *cycles > 0)
}

/// This system's counter is not known.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))))]
#[must_use]
pub fn user_cycles(_work: impl FnOnce()) -> Option<u64> {
    None
}

/// The processors that this thread may use, in rising order; none where the system does not tell.
#[cfg(target_os = "linux")]
#[must_use]
pub fn allowed() -> Vec<u32> {
    use nix::sched::{CpuSet, sched_getaffinity};
    let Ok(set) = sched_getaffinity(nix::unistd::Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// This system does not tell.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn allowed() -> Vec<u32> {
    Vec::new()
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_its_time_and_one_that_sleeps_does_not() {
        let used_ns = |work: fn()| {
            let before = cpu_time();
            let start = std::time::Instant::now();
            work();
            let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).ok();
            (cpu_time().zip(before).map(|(after, before)| after - before), elapsed_ns)
        };
        let (asleep_ns, _) = used_ns(|| std::thread::sleep(std::time::Duration::from_millis(50)));
        assert!(asleep_ns.is_some_and(|ns| ns < 20_000_000), "{asleep_ns:?}");
        // It works until the clock of the process says so: on a busy machine that takes longer than its own time.
        let (working_ns, elapsed_ns) = used_ns(|| {
            let mut sum = 0_u64;
            for number in 0..5_000_000 {
                sum = std::hint::black_box(sum.wrapping_add(number));
            }
        });
        assert!(working_ns.is_some_and(|ns| ns > 100_000), "{working_ns:?}");
        assert!(working_ns <= elapsed_ns.map(|ns| ns + 1_000_000), "{working_ns:?} of {elapsed_ns:?}");
    }
}
