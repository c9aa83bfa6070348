//! The lexer: divides the text of games into tags, words, comments and brackets.
//!
//! A tag is recognised at the beginning of a game, and later only at the beginning of a line, where
//! it begins the next game. Bytes that are not UTF-8 are Windows-1252, which ChessBase writes: PGN's
//! own ISO 8859-1 with more characters.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// Length from which a word is not read on when the buffer ends, in bytes. The rest is another word.
const LONGEST_WORD: usize = 255;

/// Maximum length of a piece of a comment, in bytes. A longer comment has several pieces.
const LONGEST_COMMENT: usize = 1 << 20;

/// Maximum size of a game's tags, in bytes.
pub const MOST_TAGS: usize = 1 << 24;

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A tag: its name and its value.
    Tag(&'a str, &'a str),
    /// Everything between spaces, brackets and comments: moves, numbers, results. Also a line among
    /// the tags that begins as a tag and is none.
    Word(&'a str),
    /// A comment or a piece of one, on one line.
    Comment(&'a str),
    /// A numeric annotation glyph: `$1`.
    Glyph(u8),
    /// `(`, the beginning of a variation.
    Open,
    /// `)`, the end of a variation.
    Close,
    /// A comment without an end; the input ends in it.
    Unterminated,
}

/// Divides the text of a reader into tokens.
pub struct Lexer<R> {
    reader: R,
    buffer: Vec<u8>,
    place: usize,
    /// Whether only spaces precede the next byte in its line.
    begins_line: bool,
    /// Whether an empty line precedes the last token.
    pub after_empty_line: bool,
    in_comment: bool,
    /// Whether the last token is read again.
    again: bool,
    /// The last token, with empty texts.
    last: Token<'static>,
    bytes: Vec<u8>,
    /// The text of the last token, and the name of a tag.
    text: String,
    name: String,
}

impl<R: Read> Lexer<R> {
    /// Divides the text of `reader`, which need not be buffered.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            place: 0,
            begins_line: true,
            after_empty_line: false,
            in_comment: false,
            again: false,
            last: Token::Word(""),
            bytes: Vec::new(),
            text: String::new(),
            name: String::new(),
        }
    }

    /// Reads the next token; false at the end. With `tags_anywhere`, tags need not begin a line.
    pub fn advance(&mut self, tags_anywhere: bool) -> io::Result<bool> {
        if std::mem::take(&mut self.again) {
            return Ok(true);
        }
        let next = if self.in_comment { None } else { self.skip_spaces()? };
        self.last = match (self.in_comment, next) {
            (true, _) => self.comment()?,
            (false, None) => return Ok(false),
            (false, Some(b'[')) if (tags_anywhere || self.begins_line) && self.is_tag()? => {
                self.tag()?
            }
            (false, Some(b'[')) if tags_anywhere => self.line()?,
            (false, Some(first)) => {
                self.begins_line = false;
                self.place += usize::from(matches!(first, b'(' | b')' | b'{' | b'$'));
                match first {
                    b'(' => Token::Open,
                    b')' => Token::Close,
                    b'{' => self.comment()?,
                    b'$' => self.glyph()?,
                    _ => self.word()?,
                }
            }
        };
        Ok(true)
    }

    /// The token that [`Self::advance`] has read.
    pub fn token(&self) -> Token<'_> {
        match self.last {
            Token::Tag(..) => Token::Tag(&self.name, &self.text),
            Token::Word(_) => Token::Word(&self.text),
            Token::Comment(_) => Token::Comment(&self.text),
            token => token,
        }
    }

    /// Makes [`Self::advance`] read the last token again.
    pub fn unread(&mut self) {
        self.again = true;
    }

    /// Whether the next token is a tag at the beginning of a line.
    pub fn is_before_tag(&mut self) -> io::Result<bool> {
        if self.in_comment || self.again {
            return Ok(false);
        }
        let is_bracket = self.skip_spaces()? == Some(b'[');
        Ok(is_bracket && self.begins_line && self.is_tag()?)
    }

    /// Whether a comment, a glyph or a result may follow, by its first byte, on the same line or at
    /// the beginning of the next one.
    pub fn may_be_before_remark(&mut self) -> io::Result<bool> {
        if self.in_comment {
            return Ok(true);
        }
        let ahead = match self.skip_blanks()? {
            Some(b'\r') if self.peek(1)? == Some(b'\n') => 2,
            Some(b'\r' | b'\n') => 1,
            _ => 0,
        };
        // The last two are the first bytes of `½` in UTF-8 and in Windows-1252.
        let first = self.peek(ahead)?;
        Ok(matches!(first, Some(b'{' | b'$' | b'*' | b'0' | b'1' | 0xc2 | 0xbd)))
    }

    /// Whether the dots of a move number follow on the same line.
    pub fn is_before_dots(&mut self) -> io::Result<bool> {
        if self.in_comment {
            return Ok(false);
        }
        Ok(match self.skip_blanks()? {
            Some(b'.') => true,
            // `…` in UTF-8.
            Some(0xe2) => self.peek(1)? == Some(0x80) && self.peek(2)? == Some(0xa6),
            _ => false,
        })
    }

    /// Skips spaces within a line. Returns the byte that follows.
    fn skip_blanks(&mut self) -> io::Result<Option<u8>> {
        while matches!(self.peek(0)?, Some(b' ' | b'\t')) {
            self.place += 1;
        }
        self.peek(0)
    }

    /// The byte `ahead` of the next one; `None` beyond the end.
    #[inline]
    fn peek(&mut self, ahead: usize) -> io::Result<Option<u8>> {
        match self.buffer.get(self.place + ahead) {
            Some(&byte) => Ok(Some(byte)),
            None => self.fill(ahead),
        }
    }

    /// Reads on up to the byte `ahead` of the next one.
    #[cold]
    fn fill(&mut self, ahead: usize) -> io::Result<Option<u8>> {
        while self.place + ahead >= self.buffer.len() {
            self.buffer.drain(..self.place);
            self.place = 0;
            let old = self.buffer.len();
            self.buffer.resize(old + BUFFER, 0);
            let read = loop {
                match self.reader.read(&mut self.buffer[old..]) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            self.buffer.truncate(old + read.as_ref().map_or(0, |read| *read));
            if read? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[self.place + ahead]))
    }

    /// Skips spaces, lines that begin with `%`, and the rest of lines after `;`. Returns the byte
    /// that follows.
    #[inline]
    fn skip_spaces(&mut self) -> io::Result<Option<u8>> {
        // Most tokens follow a single space.
        if let [b' ', byte, ..] = self.buffer[self.place..]
            && byte > b' '
            && byte < 0x80
            && !matches!(byte, b';' | b'%')
        {
            self.place += 1;
            return Ok(Some(byte));
        }
        self.skip_any_spaces()
    }

    fn skip_any_spaces(&mut self) -> io::Result<Option<u8>> {
        let mut is_empty_line = self.begins_line;
        let mut skips_line = false;
        while let Some(byte) = self.peek(0)? {
            match byte {
                b'\r' if self.peek(1)? == Some(b'\n') => {}
                b'\n' | b'\r' => {
                    self.after_empty_line |= is_empty_line;
                    (self.begins_line, is_empty_line, skips_line) = (true, true, false);
                }
                _ if skips_line => {}
                b';' => (is_empty_line, skips_line) = (false, true),
                b'%' if self.begins_line => (is_empty_line, skips_line) = (false, true),
                // The byte order mark of UTF-8.
                0xef if self.peek(1)? == Some(0xbb) && self.peek(2)? == Some(0xbf) => {
                    self.place += 2;
                }
                byte if is_space(byte) => {}
                _ => return Ok(Some(byte)),
            }
            self.place += 1;
        }
        Ok(None)
    }

    /// Whether the bracket here begins a tag: `[`, a name and `"`.
    fn is_tag(&mut self) -> io::Result<bool> {
        let (mut named, mut ended) = (false, false);
        for ahead in 1..LONGEST_WORD {
            match self.peek(ahead)? {
                Some(b'"') => return Ok(named),
                Some(b' ' | b'\t') => ended = named,
                Some(byte) if is_name(byte) && !ended => named = true,
                _ => break,
            }
        }
        Ok(false)
    }

    /// A tag. Its value ends at the quotation mark before `]`, or with the line.
    fn tag(&mut self) -> io::Result<Token<'static>> {
        self.place += 1;
        self.begins_line = false;
        self.name.clear();
        while let Some(byte) = self.peek(0)?.filter(|byte| *byte != b'"') {
            if is_name(byte) {
                self.name.push(byte.into());
            }
            self.place += 1;
        }
        self.place += 1;
        self.bytes.clear();
        while let Some(byte) = self.peek(0)?.filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.place += 1;
            match byte {
                b'\\' if self.escapes()? => {
                    self.bytes.push(self.buffer[self.place]);
                    self.place += 1;
                }
                b'"' => match self.end_of_tag()? {
                    Some(ahead) => {
                        self.place += ahead;
                        break;
                    }
                    None => self.bytes.push(byte),
                },
                _ => self.bytes.push(byte),
            }
            if self.bytes.len() > MOST_TAGS {
                break;
            }
        }
        Ok(self.end_of_text(Token::Tag("", "")))
    }

    /// Whether a backslash before the next byte escapes it. One before the end of the tag does not:
    /// `[Site "C:\games\"]`.
    fn escapes(&mut self) -> io::Result<bool> {
        Ok(match self.peek(0)? {
            Some(b'"') => {
                self.peek(1)? != Some(b']') || !matches!(self.peek(2)?, None | Some(b'\n' | b'\r'))
            }
            next => next == Some(b'\\'),
        })
    }

    /// The number of bytes to the end of the tag, if only spaces and `]` follow.
    fn end_of_tag(&mut self) -> io::Result<Option<usize>> {
        for ahead in 0..LONGEST_WORD {
            match self.peek(ahead)? {
                Some(b' ' | b'\t') => {}
                Some(b']') => return Ok(Some(ahead + 1)),
                _ => break,
            }
        }
        Ok(None)
    }

    /// The rest of a comment, or a piece of it.
    fn comment(&mut self) -> io::Result<Token<'static>> {
        self.bytes.clear();
        self.in_comment = true;
        self.begins_line = false;
        while let Some(byte) = self.peek(0)? {
            let is_character = byte & 0xc0 != 0x80;
            if self.bytes.len() >= LONGEST_COMMENT && is_character {
                return Ok(self.end_of_text(Token::Comment("")));
            }
            // The text up to the next byte that needs a closer look is copied at once.
            let rest = &self.buffer[self.place..];
            let rest = &rest[..rest.len().min(LONGEST_COMMENT)];
            let plain = rest.iter().position(|byte| matches!(byte, b'}' | b'\n' | b'\r'));
            let plain = plain.unwrap_or(rest.len());
            self.bytes.extend_from_slice(&rest[..plain]);
            let stop = rest.get(plain).copied();
            self.place += plain + usize::from(stop.is_some());
            match stop {
                Some(b'}') => {
                    self.in_comment = false;
                    return Ok(self.end_of_text(Token::Comment("")));
                }
                Some(b'\r') if self.peek(0)? == Some(b'\n') => {}
                Some(_) => self.bytes.push(b' '),
                None => {}
            }
        }
        self.in_comment = false;
        Ok(Token::Unterminated)
    }

    /// Decodes the bytes of a token that has been read.
    fn end_of_text(&mut self, token: Token<'static>) -> Token<'static> {
        self.text.clear();
        self.text.push_str(&characters(&self.bytes));
        token
    }

    fn glyph(&mut self) -> io::Result<Token<'static>> {
        let mut number = 0u32;
        while let Some(digit) = self.peek(0)?.filter(u8::is_ascii_digit) {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.place += 1;
        }
        // 0 is the glyph without a meaning.
        Ok(Token::Glyph(u8::try_from(number).unwrap_or(0)))
    }

    /// The rest of the line as one word, or its beginning if it is long.
    fn line(&mut self) -> io::Result<Token<'static>> {
        self.begins_line = false;
        self.bytes.clear();
        let mut is_cut = false;
        while let Some(byte) = self.peek(0)?.filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.place += 1;
            // Not within a character of UTF-8.
            is_cut |= self.bytes.len() >= LONGEST_WORD && byte & 0xc0 != 0x80;
            if !is_cut {
                self.bytes.push(byte);
            }
        }
        Ok(self.end_of_text(Token::Word("")))
    }

    fn word(&mut self) -> io::Result<Token<'static>> {
        self.bytes.clear();
        while self.bytes.len() < LONGEST_WORD
            && let Some(first) = self.peek(0)?
        {
            if self.bytes.is_empty() && first == b'*' {
                self.bytes.push(first);
                self.place += 1;
                break;
            }
            // The first byte belongs to the word, even a bracket that ends nothing.
            let skipped = usize::from(self.bytes.is_empty());
            let rest = &self.buffer[self.place..];
            let length = rest.iter().skip(skipped).position(|&byte| ends_word(byte));
            let found = length.map(|length| length + skipped);
            let length = found.unwrap_or(rest.len());
            self.bytes.extend_from_slice(&rest[..length]);
            self.place += length;
            if found.is_some() {
                break;
            }
        }
        Ok(self.end_of_text(Token::Word("")))
    }
}

fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'{' | b'(' | b')' | b';' | b'$' | b'*')
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'\0' | 0x0b | 0x1a)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'=' | b':' | b'-')
}

/// The characters of Windows-1252 in place of the control characters 0x80 to 0x9f of ISO 8859-1.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The text of a file or of a line: UTF-8 or, where the bytes are not UTF-8, Windows-1252,
/// without spaces and the marks of files around it: Windows programs write a byte order mark before
/// UTF-8, and Ctrl-Z ends files of DOS.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    const BEFORE: [&[u8]; 2] = [b"\xef\xbb\xbf", b"\x1a"];
    let mut bytes = bytes.trim_ascii();
    while let Some(rest) = BEFORE.iter().find_map(|mark| bytes.strip_prefix(*mark)) {
        bytes = rest.trim_ascii_start();
    }
    while let [rest @ .., 0x1a] = bytes {
        bytes = rest.trim_ascii_end();
    }
    characters(bytes)
}

fn characters(bytes: &[u8]) -> Cow<'_, str> {
    let decoded = |&byte: &u8| {
        let place = usize::from(byte).checked_sub(0x80);
        let other = place.and_then(|place| WINDOWS_1252.chars().nth(place));
        other.unwrap_or(char::from(byte))
    };
    let utf8 = std::str::from_utf8(bytes).map(Cow::Borrowed);
    utf8.unwrap_or_else(|_| bytes.iter().map(decoded).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &[u8]) -> Vec<String> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        while lexer.advance(false).expect("memory can be read") {
            tokens.push(format!("{:?}", lexer.token()));
        }
        tokens
    }

    #[test]
    fn tags_words_comments_and_brackets_are_told_apart() {
        let text = b"\xef\xbb\xbf[ White \"a \\\"b\\\" c\" ]\n% escaped [Event \"no\"]\n\
                     [Black \"the \"old\" one\"]\n\n{before\r\nall}1. e4! ( 1.d4 ) $1 [x] ; rest\n\
                     Nf3*\n[FEN \"cut";
        let expected = [
            "Tag(\"White\", \"a \\\"b\\\" c\")",
            "Tag(\"Black\", \"the \\\"old\\\" one\")",
            "Comment(\"before all\")",
            "Word(\"1.\")",
            "Word(\"e4!\")",
            "Open",
            "Word(\"1.d4\")",
            "Close",
            "Glyph(1)",
            "Word(\"[x]\")",
            "Word(\"Nf3\")",
            "Word(\"*\")",
            "Tag(\"FEN\", \"cut\")",
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn text_that_is_not_utf_8_is_windows_1252() {
        assert_eq!(
            tokens(b"[White \"M\xfcller\"]\n{\xc3\xbc} {\x80 \x8a \x96 \x9f\xfc}"),
            ["Tag(\"White\", \"Müller\")", "Comment(\"ü\")", "Comment(\"€ Š – Ÿü\")"]
        );
    }

    #[test]
    fn a_backslash_before_the_end_of_a_tag_stands_for_itself() {
        for (written, value) in
            [(r"C:\games\", r"C:\games\"), (r#"a \"b\"]"#, r#"a "b"]"#), (r"c\\", r"c\")]
        {
            let tag = format!("[Site \"{written}\"]\n");
            assert_eq!(tokens(tag.as_bytes()), [format!("Tag(\"Site\", {value:?})")]);
        }
    }

    #[test]
    fn spaces_without_end_fill_no_memory() -> io::Result<()> {
        for (before, after) in [("*", "{x}"), ("[Event", "\"x\"]"), ("[Event \"x\"", "]")] {
            let spaces = io::repeat(b' ').take(1 << 20);
            let mut lexer = Lexer::new(before.as_bytes().chain(spaces).chain(after.as_bytes()));
            while lexer.advance(true)? {
                lexer.may_be_before_remark()?;
                assert!(lexer.buffer.len() <= 2 * BUFFER, "{before}: {}", lexer.buffer.len());
            }
        }
        Ok(())
    }
}
