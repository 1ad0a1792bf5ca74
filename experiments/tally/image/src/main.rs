//! The sensor's end alone: resumption, sealing, reports, rescues. It is linked, never run (`../link/tests/all/footprint.rs`).
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

use wattlock_tally::{Hint, Pair, Parameters, Protection, Resuming, Sensor};

/// Where a device would keep it: what the linker counts.
#[used]
static mut SENSOR: MaybeUninit<Sensor> = MaybeUninit::uninit();

/// All that a sensor calls, with arguments that the compiler doesn't know.
#[no_mangle]
pub extern "C" fn _start() -> ! {
    let mut frame = [0; 64];
    let pair = Pair { secret: black_box([7; 32]), link: black_box(*b"door") };
    let (resuming, opening) = Resuming::begin(pair, black_box([1; 8].into()));
    black_box(opening);
    if let Ok(root) = resuming.finish(black_box(&[2; 16])) {
        let mut sensor = Sensor::new(root, Parameters::new(black_box(Hint::Octet)));
        loop {
            let _ = black_box(sensor.seal(black_box(&[5; 16]), black_box(Protection::Short), &mut frame));
            let _ = black_box(sensor.hear(black_box(&frame)));
            let _ = black_box(sensor.rescue(&mut frame));
            black_box(&frame);
        }
    }
    halt()
}

fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    halt()
}
