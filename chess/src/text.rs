//! Texts from outside in messages.

use std::borrow::Cow;

/// A text with its control characters, and those that change the direction or the place of other
/// text, escaped as `\\u{1b}`: text of a file must not control the terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|character| match is_unprintable(character) {
        true => character.escape_unicode().to_string(),
        false => character.to_string(),
    });
    Cow::Owned(escaped.collect())
}

fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The first `limit` characters of a text, so that a message stays one readable line.
pub fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
