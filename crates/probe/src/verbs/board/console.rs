//! What an image says, line by line (`crates/firmware/src/main.rs` has them).

use std::collections::BTreeMap;

use super::emulator::Ended;

/// What an image says of a case that it carried out.
#[derive(Debug, PartialEq, Eq)]
pub struct Counted {
    /// The way that the code takes.
    pub path: String,
    /// What a key takes in memory.
    pub state_B: u64,
    /// The deepest stack below the call.
    pub stack_B: u64,
    /// The functions between the markers, by address.
    pub functions: Vec<u64>,
    /// The region of the second time, which counts.
    pub region: usize,
}

/// The outcome of each case, by its number.
pub type Outcomes = BTreeMap<u32, Result<Counted, String>>;

/// Parses the lines of an image.
///
/// Returns each case's count or error. If an image stops during a case, its trace is incomplete: the counts of the
/// other cases are omitted, and the session runs these again.
///
/// # Errors
/// Why an image stopped before its first case.
pub fn outcomes(lines: &[String], ended: &Ended, stack_B: u32) -> Result<Outcomes, String> {
    let mut found = Outcomes::new();
    let mut current = None;
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match (word, number.parse().ok()) {
            ("case", Some(number)) => current = Some(number),
            ("counted", Some(number)) => {
                let counted = Counted::read(rest).ok_or_else(|| format!("the image said {line:?}"));
                found.insert(number, counted);
            }
            ("failed", Some(number)) => {
                found.insert(number, Err(rest.to_owned()));
            }
            _ => {}
        }
    }
    let why = match (ended, lines.iter().rev().find_map(|line| line.split_once(' ').filter(|(word, _)| is_end(word)))) {
        (Ended::Done, _) => return Ok(found),
        (Ended::Hung(limit), _) => format!("the image said nothing for {} s and was ended", limit.as_secs()),
        (_, Some(("fault", cause))) if cause.starts_with("stack") && stack_B > 0 => {
            format!("the stack of {stack_B} B is too small")
        }
        (_, Some(("fault", cause))) if cause.starts_with("stack") => "the image's stack is too small".to_owned(),
        (_, Some(("fault", cause))) => {
            format!("the processor faulted, exception {}", cause.trim_start_matches("other "))
        }
        (_, Some((_, panic))) => format!("the image panicked: {panic}"),
        (Ended::Gone(last_words), None) if last_words.is_empty() => "the emulator ended without a word".to_owned(),
        (Ended::Gone(last_words), None) => format!("the emulator ended: {last_words}"),
    };
    match current {
        Some(number) => Ok(Outcomes::from([(number, Err(why))])),
        None => Err(why),
    }
}

fn is_end(word: &str) -> bool {
    ["fault", "panic"].contains(&word)
}

impl Counted {
    /// `PATH STATE_B STACK_B REGION FUNCTION...`, the functions in hexadecimal.
    pub fn read(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut next = || fields.next();
        let (path, state_B, stack_B, region) = (next()?.to_owned(), next()?, next()?, next()?);
        let functions = fields.map(|address| u64::from_str_radix(address, 16).ok()).collect::<Option<_>>()?;
        Some(Self {
            path,
            state_B: state_B.parse().ok()?,
            stack_B: stack_B.parse().ok()?,
            region: region.parse().ok()?,
            functions,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read(lines: &[&str], ended: &Ended, stack_B: u32) -> Result<Outcomes, String> {
        outcomes(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), ended, stack_B)
    }

    fn said(lines: &[&str], ended: &Ended, stack_B: u32) -> Outcomes {
        read(lines, ended, stack_B).unwrap_or_default()
    }

    fn reason(outcomes: &Outcomes, case: u32) -> &str {
        outcomes[&case].as_ref().err().map_or("", String::as_str)
    }

    #[test]
    fn a_case_is_counted_or_has_its_reason() {
        let lines =
            ["wattlock-firmware 0.1.0", "case 7", "counted 7 tables 704 96 2 1a4 2b8", "case 8", "failed 8 no room"];
        let found = said(&[&lines[..], &["done"]].concat(), &Ended::Done, 0);
        let functions = vec![0x1a4, 0x2b8];
        let counted = Counted { path: "tables".to_owned(), state_B: 704, stack_B: 96, region: 2, functions };
        assert_eq!(found[&7], Ok(counted));
        assert_eq!(reason(&found, 8), "no room");
    }

    #[test]
    fn an_image_that_ends_in_a_case_decides_that_case_alone() {
        let before = ["case 7", "counted 7 tables 704 96 2 1a4 2b8", "case 8"];
        let gone = Ended::Gone(String::new());
        for (line, ended, stack_B, expected) in [
            ("fault stack 3", &gone, 512, "the stack of 512 B is too small"),
            ("fault stack 3", &gone, 0, "the image's stack is too small"),
            ("fault other 3", &gone, 0, "the processor faulted, exception 3"),
            ("panic panicked at x.rs:1", &gone, 0, "the image panicked: panicked at x.rs:1"),
            ("", &gone, 0, "the emulator ended without a word"),
            ("", &Ended::Gone("Lockup".to_owned()), 0, "the emulator ended: Lockup"),
            ("", &Ended::Hung(Duration::from_secs(60)), 0, "the image said nothing for 60 s and was ended"),
        ] {
            let found = said(&[&before[..], &[line]].concat(), ended, stack_B);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(reason(&found, 8), expected);
            assert_eq!(read(&[line], ended, stack_B), Err(expected.to_owned()), "before its first case");
        }
    }
}
