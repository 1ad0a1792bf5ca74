//! Numbers that are stored before they are used, so that none is used twice however the program ends. Beside each stand
//! random octets that are stored nowhere, as an old copy of the file makes numbers come again.
//!
//! The file is replaced as a whole: written beside, synced, renamed, and the folder synced, before a number is given.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use wattlock_tally::{Nonce, Pair};
use wattlock_terminal::output::Output;

use super::nonces::Nonces;

/// No state is longer.
const MOST_B: u64 = 256;

/// Whose numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The sensor's.
    Sensor,
    /// The gateway's.
    Gateway,
}

/// A step of storing; what ends the program before or after any of them must do no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The new file is made.
    Made,
    /// It is written.
    Written,
    /// It is on the disk and has the state's name.
    Renamed,
    /// The folder is on the disk.
    FolderSynced,
}

/// The numbers of one side of a pair, in a file that one process has at a time.
pub struct Numbers {
    path: PathBuf,
    /// Whose: side, and a name of the pair.
    owner: String,
    next: u32,
    /// Held as long as the numbers are.
    _lock: File,
}

impl Numbers {
    /// The numbers in a file; with `new`, of a pair that never used any.
    ///
    /// # Errors
    /// A file that is not there, or there already with `new`; that is damaged, of another pair, or in use.
    pub fn open(path: &Path, side: Side, pair: &Pair, new: bool) -> io::Result<Self> {
        let path = real(path)?;
        // The name may be somebody's, as `Cargo.lock` beside a state `Cargo` is: what it holds stays.
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(beside(&path, ".lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process has it in use"),
            TryLockError::Error(error) => error,
        })?;
        let mut numbers = Self { path, owner: owner(side, pair), next: 0, _lock: lock };
        if new {
            if numbers.path.try_exists()? {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists already"));
            }
            numbers.store(0, &mut |_| Ok(()))?;
        } else {
            numbers.next = numbers.read()?;
        }
        Ok(numbers)
    }

    fn read(&self) -> io::Result<u32> {
        let mut text = String::new();
        File::open(&self.path)?.take(MOST_B).read_to_string(&mut text)?;
        let number = text.split_whitespace().nth(4).and_then(|word| word.parse().ok());
        match number {
            Some(number) if self.text(number) == text => Ok(number),
            Some(_) if with_sum(text.lines().next().unwrap_or_default()) == text => {
                Err(io::Error::other("it is of another key, link or side"))
            }
            _ => Err(io::Error::other("it is damaged: what it holds is no state of tally")),
        }
    }

    fn text(&self, next: u32) -> String {
        with_sum(&format!("wattlock-tally-1 {} next {next}", self.owner))
    }

    /// Puts `next` into the file for good; `at` is called after each step.
    fn store(&self, next: u32, at: &mut dyn FnMut(Step) -> io::Result<()>) -> io::Result<()> {
        let fresh = Output::open(&self.path)?;
        at(Step::Made)?;
        let mut writer = fresh.writer()?;
        writer.write_all(self.text(next).as_bytes())?;
        writer.flush()?;
        at(Step::Written)?;
        fresh.keep()?;
        at(Step::Renamed)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        at(Step::FolderSynced)
    }

    fn take(&mut self, at: &mut dyn FnMut(Step) -> io::Result<()>) -> io::Result<u32> {
        let number = self.next;
        let next = number.checked_add(1).ok_or_else(|| io::Error::other("its numbers are used up: take a new key"))?;
        self.store(next, at)?;
        self.next = next;
        Ok(number)
    }
}

impl Nonces for Numbers {
    fn next(&mut self) -> io::Result<Nonce> {
        let mut random = [0; 4];
        getrandom::fill(&mut random)
            .map_err(|error| io::Error::other(format!("the system gives no random octets: {error}")))?;
        let number = self
            .take(&mut |_| Ok(()))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))?;
        Ok(Nonce { number, random })
    }
}

/// The path without symbolic links: a lock beside a link, or a link that is replaced, would make two states of one.
fn real(path: &Path) -> io::Result<PathBuf> {
    if path.try_exists()? {
        return path.canonicalize();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    Ok(folder.unwrap_or(Path::new(".")).canonicalize()?.join(name))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Side and a name of the pair that tells nothing of its secret: a part of its hash.
fn owner(side: Side, pair: &Pair) -> String {
    let digest = Sha256::new().chain_update(b"wattlock tally state").chain_update(pair.secret).chain_update(pair.link);
    let side = if side == Side::Sensor { "sensor" } else { "gateway" };
    format!("{side} {}", HEXLOWER.encode(&digest.finalize()[..8]))
}

/// A line and its SHA-256.
fn with_sum(line: &str) -> String {
    format!("{line}\n{}\n", HEXLOWER.encode(&Sha256::digest(line)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const STEPS: [Step; 4] = [Step::Made, Step::Written, Step::Renamed, Step::FolderSynced];

    fn pair(octet: u8) -> Pair {
        Pair { secret: [octet; 32], link: *b"test" }
    }

    fn error(path: &Path, side: Side, pair: &Pair, new: bool) -> String {
        Numbers::open(path, side, pair, new).err().unwrap().to_string()
    }

    #[test]
    fn an_end_after_any_step_of_storing_lets_no_number_be_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut given = Vec::new();
        drop(Numbers::open(&path, Side::Sensor, &pair(1), true).unwrap());
        for last in STEPS.into_iter().chain(STEPS.into_iter().rev()) {
            let mut numbers = Numbers::open(&path, Side::Sensor, &pair(1), false).unwrap();
            given.extend([numbers.next().unwrap().number, numbers.next().unwrap().number]);
            let mut ends = |step| if step == last { Err(io::Error::other("the end")) } else { Ok(()) };
            assert_eq!(numbers.take(&mut ends).unwrap_err().to_string(), "the end");
        }
        assert_eq!(given.len(), 16);
        assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
    }

    #[test]
    fn a_number_that_was_not_stored_is_not_given_and_the_same_numbers_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut numbers = Numbers::open(&path, Side::Sensor, &pair(1), true).unwrap();
        assert!(numbers.take(&mut |_| Err(io::Error::other("full"))).is_err());
        assert_eq!([numbers.next(), numbers.next()].map(|nonce| nonce.unwrap().number), [0, 1]);
    }

    #[test]
    fn an_old_copy_of_a_state_gives_numbers_again_but_no_nonce() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut numbers = Numbers::open(&path, Side::Gateway, &pair(1), true).unwrap();
        let copy = std::fs::read(&path).unwrap();
        let mut nonces = vec![numbers.next().unwrap(), numbers.next().unwrap()];
        drop(numbers);
        std::fs::write(&path, copy).unwrap();
        let mut numbers = Numbers::open(&path, Side::Gateway, &pair(1), false).unwrap();
        nonces.extend([numbers.next().unwrap(), numbers.next().unwrap()]);
        assert_eq!(nonces.iter().map(|nonce| nonce.number).collect::<Vec<_>>(), [0, 1, 0, 1]);
        assert!(nonces[0] != nonces[2] && nonces[1] != nonces[3], "{nonces:?}");
    }

    #[test]
    fn the_last_number_of_all_is_said_and_never_given() {
        let folder = tempfile::tempdir().unwrap();
        let mut numbers = Numbers::open(&folder.path().join("state"), Side::Sensor, &pair(1), true).unwrap();
        numbers.next = u32::MAX;
        assert!(numbers.next().unwrap_err().to_string().contains("used up"));
    }

    #[test]
    fn what_lies_beside_a_state_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo");
        let others = [".lock", ".new"].map(|ending| beside(&path, ending));
        for other in &others {
            std::fs::write(other, "somebody's").unwrap();
        }
        let mut numbers = Numbers::open(&path, Side::Sensor, &pair(1), true).unwrap();
        assert_eq!(numbers.next().unwrap().number, 0);
        assert_eq!(others.map(|other| std::fs::read_to_string(other).unwrap()), ["somebody's"; 2]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_to_a_state_is_that_state() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("state"), folder.path().join("link"));
        let mut numbers = Numbers::open(&path, Side::Sensor, &pair(1), true).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(error(&link, Side::Sensor, &pair(1), false).contains("in use"));
        assert_eq!(numbers.next().unwrap().number, 0);
        drop(numbers);
        assert_eq!(Numbers::open(&link, Side::Sensor, &pair(1), false).unwrap().next().unwrap().number, 1);
        assert_eq!(Numbers::open(&path, Side::Sensor, &pair(1), false).unwrap().next().unwrap().number, 2);
    }

    #[test]
    fn a_state_that_is_damaged_missing_in_use_or_of_another_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert!(error(&path, Side::Sensor, &pair(1), false).contains("No such file"));
        let mut numbers = Numbers::open(&path, Side::Sensor, &pair(1), true).unwrap();
        assert_eq!(numbers.next().unwrap().number, 0);
        assert!(error(&path, Side::Sensor, &pair(1), false).contains("in use"));
        drop(numbers);
        assert!(error(&path, Side::Sensor, &pair(1), true).contains("exists"));
        assert!(error(&path, Side::Gateway, &pair(1), false).contains("of another key"));
        assert!(error(&path, Side::Sensor, &pair(2), false).contains("of another key"));
        let text = std::fs::read(&path).unwrap();
        for place in 0..text.len() {
            let mut changed = text.clone();
            changed[place] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(error(&path, Side::Sensor, &pair(1), false).contains("damaged"), "{place}");
            std::fs::write(&path, &text[..place]).unwrap();
            assert!(error(&path, Side::Sensor, &pair(1), false).contains("damaged"), "{place}");
        }
        std::fs::write(&path, &text).unwrap();
        assert_eq!(Numbers::open(&path, Side::Sensor, &pair(1), false).unwrap().next().unwrap().number, 1);
    }
}
