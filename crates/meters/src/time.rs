//! What tells the time to a meter.

use wattlock_engine::Nanoseconds;

/// What tells the time to a meter.
pub trait Time {
    /// The monotonic clock.
    fn now(&self) -> Nanoseconds;

    /// How long the machine has been suspended since it started; 0 where the system does not tell.
    fn suspended(&self) -> Nanoseconds;
}

/// The clocks of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemTime;

impl Time for SystemTime {
    #[cfg(unix)]
    fn now(&self) -> Nanoseconds {
        clock_ns(nix::time::ClockId::CLOCK_MONOTONIC)
    }

    #[cfg(not(unix))]
    fn now(&self) -> Nanoseconds {
        use std::sync::LazyLock;
        use std::time::Instant;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn suspended(&self) -> Nanoseconds {
        clock_ns(nix::time::ClockId::CLOCK_BOOTTIME).saturating_sub(self.now())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn suspended(&self) -> Nanoseconds {
        0
    }
}

#[cfg(unix)]
fn clock_ns(clock: nix::time::ClockId) -> Nanoseconds {
    let time = nix::time::clock_gettime(clock).map_or((0, 0), |time| (time.tv_sec(), time.tv_nsec()));
    let (seconds, rest) = (u64::try_from(time.0).unwrap_or(0), u64::try_from(time.1).unwrap_or(0));
    seconds * 1_000_000_000 + rest
}
