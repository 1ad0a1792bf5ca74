//! The one rule for names: a sender's name is a plain name of a file, or it is refused. None is repaired.

use super::{Reason, Refusal};

/// Bytes of the longest name; room for `.part` is left of the 255 that file systems have.
const LONGEST_B: usize = 200;
/// What Windows takes for a device, with any extension (Microsoft, *Naming Files, Paths, and Namespaces*).
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Whether `name` is a plain name: 1 to 200 bytes, no separator of any system, no character that Windows refuses or
/// that controls a terminal or the direction of text, no dot in front, no dot or space behind, no name of a device.
///
/// # Errors
/// What is wrong with it.
pub fn plain(name: &str) -> Result<(), Refusal> {
    let wrong = match name.chars().find(|letter| is_refused(*letter)) {
        Some('/' | '\\') => "it is a path".to_owned(),
        Some(letter) => format!("it holds {letter:?}"),
        None if name.is_empty() => "it is empty".to_owned(),
        None if name.len() > LONGEST_B => format!("it has {} bytes, {LONGEST_B} are the most", name.len()),
        None if name.starts_with('.') => "it begins with a dot".to_owned(),
        None if name.ends_with(['.', ' ']) => "it ends in a dot or a space".to_owned(),
        None if is_device(name) => "Windows takes it for a device".to_owned(),
        None => return Ok(()),
    };
    let shown: String = name.chars().take(60).collect();
    Err(Refusal::new(Reason::BadName, format!("the name {shown:?}: {wrong}")))
}

fn is_refused(letter: char) -> bool {
    // The last three: marks and overrides of the direction, which make a name look like another one.
    letter.is_control()
        || "/\\:*?\"<>|".contains(letter)
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_numbered = NUMBERED_DEVICES.iter().any(|device| {
        let number = stem.strip_prefix(device).map(|number| number.chars().collect::<Vec<_>>());
        matches!(number.as_deref(), Some(['0'..='9' | '¹' | '²' | '³']))
    });
    is_numbered || DEVICES.contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_leave_the_folder_or_hide_is_refused() {
        let long = "n".repeat(201);
        for name in [
            "",
            ".",
            "..",
            "../x",
            "../../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "..\\x",
            "C:\\x",
            "c:x",
            "x:stream",
            "a\0b",
            "a\nb",
            "a\u{1b}[2Jb",
            "a\u{85}b",
            ".bashrc",
            "x.",
            "x ",
            "con",
            "NUL",
            "nul.txt",
            "Com1.log",
            "LPT¹",
            "aux .c",
            "CONIN$",
            "a|b",
            "what?",
            "a\u{202e}gpj.exe",
            &long,
        ] {
            assert!(plain(name).is_err_and(|refusal| refusal.reason == Reason::BadName), "{name:?}");
        }
    }

    #[test]
    fn a_plain_name_passes_as_it_is() {
        let longest = "n".repeat(200);
        for name in
            ["a", "report.pdf", "two words.txt", "naïve-文件.bin", "a..b", "console", "com10", "x.part", &longest]
        {
            assert!(plain(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_refusal_shows_no_control_character_of_the_name() {
        let shown = plain("a\u{1b}[31mb\u{202e}").err().map(|refusal| refusal.to_string()).unwrap_or_default();
        assert!(shown.contains("\\u{1b}") && !shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
    }
}
