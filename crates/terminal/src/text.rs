//! Text of others on a terminal: what it could do there is shown in place of being done, as `\u001b`, which means the
//! same in printed JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with each control character (C0 but for line feed and tab, DEL, C1) and each bidirectional control in sight.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        // Writing to a text does not fail.
        let _ = if acts(letter) { write!(shown, "\\u{:04x}", u32::from(letter)) } else { shown.write_char(letter) };
    }
    Cow::Owned(shown)
}

/// Whether a terminal would do something at this character, or turn round what follows.
fn acts(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t'))
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn what_a_terminal_would_carry_out_is_shown() {
        assert_eq!(harmless("a\x1b[2J\x07\u{9b}b\u{7f}"), "a\\u001b[2J\\u0007\\u009bb\\u007f");
        assert_eq!(harmless("\u{202e}txt\u{2066}\u{200f}"), "\\u202etxt\\u2066\\u200f");
    }

    #[test]
    fn what_people_write_is_left_as_it_is() {
        let text = "Zürich µJ 日本 é\n\t- ok";
        assert!(matches!(harmless(text), std::borrow::Cow::Borrowed(same) if same == text));
    }
}
