//! Runs the targets on a stable compiler: seeds, changed bit by bit and piece by piece, by numbers that are drawn alike
//! each time. What gave something new joins the seeds.
//!
//! `fuzz [TARGET]...` runs for `FUZZ_SECONDS` each, or `FUZZ_EXECUTIONS`, from `FUZZ_SEED`. What panics, takes more than
//! [`MOST_B`] of memory or [`MOST_TIME`] is written to a file; `fuzz TARGET FILE...` runs it again. `fuzz seeds FOLDER`
//! writes the seeds, for libFuzzer to begin with.

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;

/// Name, what is run, what it begins with.
pub type Target = (&'static str, fn(&[u8]) -> u64, fn() -> Vec<Vec<u8>>);

/// A census alone may take 42 MB: a count for each size of each kind.
const MOST_B: usize = 64 << 20;
/// On a machine that has other things to do.
const MOST_TIME: Duration = Duration::from_secs(60);
const LONGEST_B: usize = 16 * 1024;
/// Seeds that are kept.
const MOST_KEPT: usize = 1 << 14;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Carries out what the command line asks for.
///
/// * `memory`: what the program allocates by.
///
/// # Panics
/// A name that is no target's, a variable that is no number, files that can't be read or written.
pub fn run(targets: &[Target], memory: &PeakAlloc) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let found = |name: &String| targets.iter().find(|(target, _, _)| *target == name.as_str());
    match &arguments[..] {
        [verb, folder] if verb == "seeds" => {
            for (name, _, seeds) in targets {
                let folder = Path::new(folder).join(name);
                fs::create_dir_all(&folder).expect("the folder can be made");
                for (at, seed) in seeds().iter().enumerate() {
                    fs::write(folder.join(at.to_string()), seed).expect("the folder can be written");
                }
            }
            ExitCode::SUCCESS
        }
        [name, files @ ..] if files.iter().any(|file| Path::new(file).is_file()) => {
            let (_, run, _) = found(name).unwrap_or_else(|| panic!("{name} is no target"));
            for file in files {
                println!("{file}: {:016x}", run(&fs::read(file).expect("the file can be read")));
            }
            ExitCode::SUCCESS
        }
        names => {
            let wrong = names.iter().find(|name| found(name).is_none());
            assert!(
                wrong.is_none(),
                "{wrong:?}: targets are {}",
                targets.iter().map(|(name, _, _)| *name).collect::<Vec<_>>().join(", ")
            );
            let chosen =
                targets.iter().filter(|(name, _, _)| names.is_empty() || names.iter().any(|one| one.as_str() == *name));
            let failed = chosen.filter(|target| !fuzz(target, memory)).count();
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

/// Whether nothing was wrong.
fn fuzz((name, run, seeds): &Target, memory: &PeakAlloc) -> bool {
    let most = number("FUZZ_EXECUTIONS").unwrap_or(u64::MAX);
    let end = number("FUZZ_SECONDS").or((most == u64::MAX).then_some(60)).map(Duration::from_secs);
    let seed = number("FUZZ_SEED").unwrap_or(0);
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut kept, mut seen) = (seeds(), HashSet::new());
    let planted = kept.len();
    let current = Arc::new(Mutex::new((0_u64, Vec::new())));
    watch(name, &current);
    let begin = Instant::now();
    let (mut executions, mut most_B) = (0_u64, 0);
    while executions < most && end.is_none_or(|end| begin.elapsed() < end) {
        let input = match kept.get(usize::try_from(executions).unwrap_or(usize::MAX)) {
            Some(seed) if executions < planted as u64 => seed.clone(),
            _ => changed(&kept, &mut random),
        };
        executions += 1;
        if let Ok(mut current) = current.lock() {
            current.0 = executions;
            current.1.clone_from(&input);
        }
        memory.reset_peak_usage();
        let before_B = memory.current_usage();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&input)));
        let taken_B = memory.peak_usage().saturating_sub(before_B);
        most_B = most_B.max(taken_B);
        let wrong = match &outcome {
            Err(_) => "it panicked".to_owned(),
            Ok(_) if taken_B > MOST_B => format!("it took {taken_B} bytes of memory"),
            Ok(told) => {
                if seen.insert(*told) && executions > planted as u64 && kept.len() < MOST_KEPT {
                    kept.push(input);
                }
                continue;
            }
        };
        write(name, executions, &input, &wrong);
        return false;
    }
    let (seconds, outcomes) = (begin.elapsed().as_secs_f64(), seen.len());
    println!(
        "{name}: {executions} executions in {seconds:.0} s, {outcomes} outcomes, at most {} KiB, seed {seed}",
        most_B >> 10
    );
    true
}

type Current = Arc<Mutex<(u64, Vec<u8>)>>;

/// Ends the process where one execution never ends.
fn watch(name: &'static str, current: &Current) {
    let current = Arc::downgrade(current);
    thread::spawn(move || {
        let mut before = 0;
        loop {
            thread::sleep(MOST_TIME);
            let Some(current) = current.upgrade() else { return };
            let Ok(current) = current.lock() else { return };
            if current.0 == before {
                write(name, before, &current.1, "it does not end");
                std::process::exit(1);
            }
            before = current.0;
        }
    });
}

fn write(name: &str, execution: u64, input: &[u8], wrong: &str) {
    let folder = Path::new("artifacts");
    let file = folder.join(format!("{name}-{execution}"));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&file, input));
    eprintln!("error: {name}: execution {execution}: {wrong}");
    match written {
        Ok(()) => eprintln!("hint: `cargo run --release -- {name} {}` in fuzz/ runs it again", file.display()),
        Err(error) => eprintln!("hint: {}: {error}; the bytes are {input:02x?}", file.display()),
    }
}

/// One of the seeds, with one to eight changes.
fn changed(kept: &[Vec<u8>], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = kept[random.usize(..kept.len())].clone();
    for _ in 0..1 << random.u32(0..4) {
        change(&mut bytes, kept, random);
    }
    bytes.truncate(LONGEST_B);
    bytes
}

/// Numbers at which lengths break.
const EDGES: [u32; 17] =
    [0, 1, 2, 3, 4, 7, 8, 16, 24, 0x7f, 0xff, 0x7fff, 0xffff, 0x0004_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX];

fn change(bytes: &mut Vec<u8>, kept: &[Vec<u8>], random: &mut fastrand::Rng) {
    let at = random.usize(..=bytes.len());
    let to = at + random.usize(..=(bytes.len() - at).min(64));
    match random.u8(..9) {
        0 => bytes[at..to].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.u8(..8)),
        1 => bytes[at..to].iter_mut().take(1).for_each(|byte| *byte = random.u8(..)),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..to)),
        4 => drop(bytes.splice(at..at, std::iter::repeat_with(|| random.u8(..)).take(to - at))),
        5 => {
            let copied = bytes[at..to].to_vec();
            let into = random.usize(..=bytes.len());
            bytes.splice(into..into, copied);
        }
        6 => {
            let other = &kept[random.usize(..kept.len())];
            let from = random.usize(..=other.len());
            let until = from + random.usize(..=other.len() - from);
            bytes.splice(at..to, other[from..until].iter().copied());
        }
        // A length: an edge, or near what it was, in either order of octets.
        7 => {
            let edge = EDGES[random.usize(..EDGES.len())];
            let [a, b, c, d] = edge.to_le_bytes();
            let forms: [&[u8]; 5] = [&[a], &[a, b], &[b, a], &[a, b, c, d], &[d, c, b, a]];
            let form = forms[random.usize(..forms.len())];
            bytes.iter_mut().skip(at).zip(form).for_each(|(byte, new)| *byte = *new);
        }
        _ => {
            let less = random.bool();
            bytes[at..to]
                .iter_mut()
                .take(1)
                .for_each(|byte| *byte = if less { byte.wrapping_sub(1) } else { byte.wrapping_add(1) });
        }
    }
}
