//! The reader: plays the moves of a game's text on boards.

use std::io::{self, Read};
use std::mem::take;

use anyhow::{Context, Result, anyhow};
use cozy_chess::{Board, Move};

use super::game::{BadGame, Fault, GameBuilder, GameNode, Line, Outcome, Tags};
use super::lexer::{Lexer, MOST_TAGS, Token};
use crate::notation::{Language, WrittenMove, read_marks, read_move, transliterated};
use crate::position::{Position, board_after, fen_of};
use crate::text::printable;

/// Maximum number of moves in a game, including variations. A game without an end must not fill the
/// memory; the longest annotated games are far below this limit.
pub const MOST_MOVES: u32 = 1 << 20;

/// Maximum number of nested variations.
const MOST_NESTED: usize = 1 << 18;

/// Names of variants in lower case, as lichess, chess.com, cutechess, fastchess and FICS write them
/// and python-chess reads them. Chess960 and FICS's `wild/2` to `wild/8a` differ only in the
/// starting position, which the `FEN` tag gives. In `wild/0` and `wild/1`, a king on the d-file
/// castles by other rules.
const CHESS: [&str; 19] = [
    "standard",
    "chess",
    "classical",
    "normal",
    "from position",
    "illegal",
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
    "fischer random",
    "wild/2",
    "wild/3",
    "wild/4",
    "wild/5",
    "wild/6",
    "wild/7",
    "wild/8",
    "wild/8a",
];

/// Reads games one at a time.
///
/// A game ends with its result and the comments on this line and at the beginning of the next ones,
/// before a tag at the beginning of a line, before `1.` after an empty line, or with the input. A
/// result that is repeated there, without an empty line before it, begins no game. A game without
/// moves ends where, after an empty line, a tag has the name of its first tag.
pub struct Reader<R> {
    lexer: Lexer<R>,
    taken: u64,
    most_plies: u32,
}

/// The part of a game that has been read.
#[derive(Default)]
struct Extent {
    any: bool,
    /// The name of the first tag.
    first_tag: Option<String>,
    /// Whether the tags have ended.
    in_moves: bool,
    has_moves: bool,
    /// Number of open variations.
    depth: usize,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the games of `input`, which need not be buffered.
    pub fn new(input: R) -> Self {
        Self { lexer: Lexer::new(input), taken: 0, most_plies: u32::MAX }
    }

    /// Ends each game after this many half-moves. The moves that follow need not be legal.
    pub fn with_most_plies(self, most_plies: u32) -> Self {
        Self { most_plies, ..self }
    }

    /// Number of games that have been read or skipped.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The next game, or the reason why it cannot be read; `None` at the end. Fails if the input
    /// fails.
    pub fn read_game<B: GameBuilder>(&mut self) -> Result<Option<Result<B::Game, BadGame>>> {
        let mut game = Reading::<B>::new(self.most_plies);
        let is_any = self.for_each_token(|token| game.take(token))?;
        Ok(is_any.then(|| game.end(self.taken)))
    }

    /// Skips the next game without reading its moves; false at the end.
    pub fn skip_game(&mut self) -> Result<bool> {
        self.for_each_token(|_| ())
    }

    /// Calls `visit` with the tokens of the next game; false if there is none.
    fn for_each_token(&mut self, mut visit: impl FnMut(Token<'_>)) -> Result<bool> {
        let mut extent = Extent::default();
        let number = self.taken + 1;
        while let Some(token) = self.token(&mut extent).with_context(|| format!("game {number}"))? {
            visit(token);
        }
        self.taken += u64::from(extent.any);
        Ok(extent.any)
    }

    /// The next token of the game; `None` at its end.
    fn token(&mut self, extent: &mut Extent) -> io::Result<Option<Token<'_>>> {
        self.lexer.after_empty_line = false;
        let ends = match extent.ended {
            true => !self.lexer.may_be_before_remark()?,
            false => extent.in_moves && self.lexer.is_before_tag()?,
        };
        if ends || !self.lexer.advance(!extent.in_moves)? {
            return Ok(None);
        }
        let is_before_dots = self.lexer.after_empty_line && self.lexer.is_before_dots()?;
        let token = self.lexer.token();
        let ends = match extent.ended {
            true => !is_remark(token),
            false => self.lexer.after_empty_line && extent.ends_before(token, is_before_dots),
        };
        if ends {
            self.lexer.unread();
            return Ok(None);
        }
        let token = self.lexer.token();
        extent.add(token);
        Ok(Some(token))
    }
}

impl Extent {
    fn add(&mut self, token: Token<'_>) {
        self.any = true;
        match token {
            Token::Tag(name, _) => {
                self.first_tag.get_or_insert_with(|| name.to_owned());
                return;
            }
            // A comment before the tags.
            Token::Comment(_) if self.first_tag.is_none() => return,
            Token::Comment(_) | Token::Glyph(_) => {}
            // No tag, but the tags go on after it.
            Token::Word(word) if !self.in_moves && word.starts_with('[') => return,
            Token::Open => self.depth += 1,
            Token::Close => self.depth = self.depth.saturating_sub(1),
            Token::Unterminated => self.ended = true,
            Token::Word(word) => {
                self.ended = self.depth == 0 && read_result(word).is_some();
                self.has_moves |= word.bytes().any(|byte| byte.is_ascii_alphabetic());
            }
        }
        self.in_moves = true;
    }

    /// Whether a token after an empty line begins another game. `1...` does not.
    fn ends_before(&self, token: Token<'_>, is_before_dots: bool) -> bool {
        match token {
            Token::Tag(name, _) => !self.in_moves && self.first_tag.as_deref() == Some(name),
            Token::Word(word) => {
                let is_first_number = word.strip_prefix("1.").is_some_and(|rest| {
                    !(rest.starts_with(['.', '…']) || rest.is_empty() && is_before_dots)
                });
                self.has_moves && self.depth == 0 && is_first_number
            }
            _ => false,
        }
    }
}

/// A game while it is being read.
struct Reading<B> {
    tags: Tags,
    /// Size of the tags and of the comments before them, in bytes.
    size: usize,
    /// Comments before the tags.
    comments: Vec<String>,
    most_plies: u32,
    playing: Option<Playing<B>>,
    fault: Option<Fault>,
}

impl<B: GameBuilder> Reading<B> {
    fn new(most_plies: u32) -> Self {
        let (tags, comments) = (Tags::default(), Vec::new());
        Self { tags, size: 0, comments, most_plies, playing: None, fault: None }
    }

    /// Reads a token. After a fault, the rest of the game is skipped.
    fn take(&mut self, token: Token<'_>) {
        if self.fault.is_none() {
            self.fault = self.add(token).err();
        }
    }

    fn add(&mut self, token: Token<'_>) -> Result<(), Fault> {
        match token {
            Token::Tag(name, value) => {
                // An empty tag takes up memory, too.
                self.size += name.len() + value.len() + size_of::<(String, String)>();
                self.tags.push(name.to_owned(), value.to_owned());
            }
            Token::Comment(text) if self.playing.is_none() && self.tags.is_empty() => {
                self.size += text.len() + size_of::<String>();
                self.comments.push(text.to_owned());
            }
            token => {
                let playing = match &mut self.playing {
                    Some(playing) => playing,
                    none => none.insert(Playing::begin(
                        take(&mut self.tags),
                        &self.comments,
                        self.most_plies,
                    )?),
                };
                return playing.take(token);
            }
        }
        within(self.size <= MOST_TAGS, || format!("{MOST_TAGS} bytes of tags"))
    }

    fn end(mut self, number: u64) -> Result<B::Game, BadGame> {
        let bad = |fault| BadGame { number, fault };
        let Some(fault) = self.fault.take() else {
            let playing = match self.playing {
                Some(playing) => Ok(playing),
                None => Playing::begin(self.tags, &self.comments, self.most_plies),
            };
            return playing.map(|playing| playing.builder.end()).map_err(bad);
        };
        match self.playing {
            Some(playing) if matches!(fault, Fault::Move(..)) => playing.builder.cut(bad(fault)),
            _ => Err(bad(fault)),
        }
    }
}

/// Plays the moves of a game for a builder.
struct Playing<B> {
    builder: B,
    start: Board,
    line: Line,
    /// The lines interrupted by the open variations, outermost first.
    outer: Vec<Line>,
    /// Depth of the variation whose rest is skipped; `None` if nothing is skipped.
    skipped: Option<usize>,
    /// Number of open variations that the builder does not read.
    unread: usize,
    nodes: u32,
    most_plies: u32,
    ended: bool,
    language: Language,
    /// The moves of the main line; `None` for a null move.
    main_line: Vec<Option<Move>>,
    /// The words of the main line that begin with the letter of a piece, one after another, and
    /// their half-moves and ends.
    letters: String,
    ends: Vec<(usize, usize)>,
}

impl<B: GameBuilder> Playing<B> {
    fn begin(tags: Tags, comments: &[String], most_plies: u32) -> Result<Self, Fault> {
        let variant = tags.known("Variant").map(str::to_lowercase);
        if let Some(other) = variant.filter(|name| !CHESS.contains(&name.as_str())) {
            return Err(Fault::Variant(other));
        }
        let read = tags.known("FEN").map(Position::read_fen).transpose();
        let (start, dropped) = read.map_err(Fault::Refused)?.unwrap_or_default();
        let root = GameNode { board: start.board().clone(), id: 0, ply: 0, mv: None };
        let mut playing = Self {
            start: root.board.clone(),
            line: Line { before: root.clone(), after: root },
            builder: B::begin(tags, start),
            outer: Vec::new(),
            skipped: None,
            unread: 0,
            nodes: 1,
            most_plies,
            ended: false,
            language: Language::ENGLISH,
            main_line: Vec::new(),
            letters: String::new(),
            ends: Vec::new(),
        };
        if let Some(rights) = dropped {
            playing.builder.dropped_rights(rights);
        }
        comments.iter().try_for_each(|text| playing.take(Token::Comment(text)))?;
        Ok(playing)
    }

    fn take(&mut self, token: Token<'_>) -> Result<(), Fault> {
        match token {
            _ if self.ended => {}
            // A variation before the first move replaces no move.
            Token::Open if !B::VARIATIONS || self.line.after.id == 0 => self.unread += 1,
            Token::Close if self.unread > 0 => self.unread -= 1,
            Token::Unterminated => return Err(self.fault("a comment has no end")),
            _ if self.unread > 0 => {}
            Token::Open => {
                self.outer.push(self.line.clone());
                self.line.after = self.line.before.clone();
                let depth = self.outer.len();
                within(depth <= MOST_NESTED, || format!("{MOST_NESTED} nested variations"))?;
            }
            Token::Close => {
                if let Some(line) = self.outer.pop() {
                    self.line = line;
                    self.skipped = self.skipped.filter(|depth| *depth <= self.outer.len());
                }
            }
            _ if self.skipped.is_some() => {}
            Token::Comment(text) => {
                self.builder.comment(&self.line, text).map_err(Fault::Refused)?;
            }
            Token::Glyph(glyph) => self.builder.glyph(&self.line, glyph),
            Token::Word(text) if text.is_ascii() => return self.word(text),
            Token::Word(text) => {
                // Spaces that are not ASCII do not end a word.
                let is_space = |character: char| {
                    character.is_whitespace() || matches!(character, '\u{200b}' | '\u{feff}')
                };
                for word in text.split(is_space).filter(|word| !word.is_empty()) {
                    self.word(transliterated(word).as_deref().unwrap_or(word))?;
                }
            }
            Token::Tag(..) => unreachable!("a tag ends the moves"),
        }
        Ok(())
    }

    /// A fault of the next half-move.
    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::Move(self.line.after.ply + 1, reason.into())
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if let Some(result) = read_result(word) {
            if let Some(outcome) = result.filter(|_| self.outer.is_empty()) {
                self.builder.result(outcome);
            }
            return Ok(());
        }
        let Some(text) = without_number(word) else { return Ok(()) };
        if self.line.after.ply == self.most_plies {
            self.ended = true;
            return Ok(());
        }
        let played = self.read(text);
        let depth = self.outer.len();
        match played {
            Err(fault @ Fault::Move(..)) if depth > 0 => {
                self.builder.forgive(fault)?;
                self.skipped = Some(depth);
                Ok(())
            }
            played => played,
        }
    }

    /// Plays the move, or hands on the marks, that a word without its number consists of.
    fn read(&mut self, text: &str) -> Result<(), Fault> {
        let Some((written, glyphs)) = read_word(text, self.language) else {
            if let Some(glyphs) = read_marks(text) {
                glyphs.into_iter().for_each(|glyph| self.builder.glyph(&self.line, glyph));
                return Ok(());
            }
            return self
                .read_in_another_language(text)
                .unwrap_or_else(|| Err(self.fault(format!("'{}' is no move", printable(text)))));
        };
        match written.on(&self.line.after.board) {
            Some(mv) => self.play(mv, text, glyphs),
            None if written == WrittenMove::Null => match self.line.after.board.null_move() {
                Some(board) if B::NULL_MOVES => self.add(board, None, glyphs),
                _ => Err(self.fault("a null move")),
            },
            None => self.read_in_another_language(text).unwrap_or_else(|| {
                let fen = fen_of(&self.line.after.board);
                Err(self.fault(format!("move '{}' is not legal in '{fen}'", printable(text))))
            }),
        }
    }

    /// Plays a move in the first language in which the main line so far has the same moves, and
    /// goes on in this language; `None` if there is none.
    fn read_in_another_language(&mut self, text: &str) -> Option<Result<(), Fault>> {
        if !self.outer.is_empty() || !text.starts_with(char::is_uppercase) {
            return None;
        }
        let (language, mv, glyphs) = Language::others().find_map(|language| {
            let (written, glyphs) = read_word(text, language)?;
            let mv = written.on(&self.line.after.board)?;
            let mut board = self.start.clone();
            let (mut begin, mut ends) = (0, self.ends.iter().peekable());
            for (ply, &played) in self.main_line.iter().enumerate() {
                if let Some(&(_, end)) = ends.next_if(|(of, _)| *of == ply) {
                    let word = &self.letters[begin..end];
                    begin = end;
                    (read_word(word, language)?.0.on(&board) == played).then_some(())?;
                }
                board = match played {
                    Some(mv) => board_after(&board, mv),
                    None => board.null_move()?,
                };
            }
            Some((language, mv, glyphs))
        })?;
        self.language = language;
        Some(self.play(mv, text, glyphs))
    }

    fn play(&mut self, mv: Move, text: &str, glyphs: Vec<u8>) -> Result<(), Fault> {
        if self.outer.is_empty() && text.starts_with(char::is_uppercase) {
            self.letters.push_str(text);
            self.ends.push((self.main_line.len(), self.letters.len()));
        }
        let board = board_after(&self.line.after.board, mv);
        self.add(board, Some(mv), glyphs)
    }

    fn add(&mut self, board: Board, mv: Option<Move>, glyphs: Vec<u8>) -> Result<(), Fault> {
        if self.outer.is_empty() {
            self.main_line.push(mv);
        }
        let after = GameNode { board, id: self.nodes, ply: self.line.after.ply + 1, mv };
        self.line.before = std::mem::replace(&mut self.line.after, after);
        within(self.nodes <= MOST_MOVES, || format!("{MOST_MOVES} moves"))?;
        self.nodes += 1;
        self.builder.play(&self.line).map_err(Fault::Refused)?;
        glyphs.into_iter().for_each(|glyph| self.builder.glyph(&self.line, glyph));
        Ok(())
    }
}

/// A move with the glyphs of its marks; `None` if the word is anything else.
fn read_word(text: &str, language: Language) -> Option<(WrittenMove, Vec<u8>)> {
    let (written, marks) = read_move(text, language)?;
    Some((written, read_marks(marks)?))
}

/// Whether a token after the result of a game belongs to it. A result may be repeated.
fn is_remark(token: Token<'_>) -> bool {
    match token {
        Token::Word(word) => read_result(word).is_some(),
        Token::Comment(_) | Token::Glyph(_) | Token::Unterminated => true,
        Token::Tag(..) | Token::Open | Token::Close => false,
    }
}

/// A result at the end of a game; the inner value is `None` for `*`.
fn read_result(word: &str) -> Option<Option<Outcome>> {
    match transliterated(word).as_deref().unwrap_or(word) {
        "*" => Some(None),
        "1/2" | "½" | "½-½" => Some(Some(Outcome::Draw)),
        word => Outcome::from_pgn(word).map(Some),
    }
}

/// A word without a move number before it (`12.`, `12...`); `None` if nothing is left.
fn without_number(word: &str) -> Option<&str> {
    let rest = word.trim_start_matches(|character: char| character.is_ascii_digit());
    let text = match rest.trim_start_matches(['.', '…']) {
        // `0-0` is castling, `0000` a null move.
        text if text.len() == rest.len() && (!rest.is_empty() || word == "0000") => word,
        text => text,
    };
    (!text.is_empty()).then_some(text)
}

fn within(holds: bool, limit: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::Refused(anyhow!("more than {} in one game", limit()))) }
}
