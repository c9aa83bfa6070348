//! The reader: converts pgn-reader's events to moves on boards.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use anyhow::{Context, Result};
use cozy_chess::{Board, Move};
use pgn_reader::{Nag, RawComment, RawTag, SanPlus, Skip, Visitor};

use super::files::{BadGame, Fault};
use super::game::{Tags, other_variant};
use crate::position::{Position, board_after, fen_of};
use crate::san::find_move;

/// Maximum number of moves in a game, including variations. A game without an end must not fill the
/// memory; the longest annotated games are far below this limit.
pub const MOST_MOVES: u32 = 1 << 20;

/// Maximum number of nested variations.
const MOST_NESTED: usize = 1 << 18;

/// Maximum size of a game's tags, in bytes.
const MOST_TAGS: usize = 1 << 24;

/// Maximum length of a tag's line, in bytes. The settings of an engine can be this long.
const LONGEST_TAG: usize = 1 << 16;

/// Reads games one at a time.
pub struct Reader<R> {
    reader: pgn_reader::Reader<R>,
    taken: u64,
    most_plies: u32,
}

impl<R: Read> Reader<R> {
    /// Reads the games of `input`, which need not be buffered.
    pub fn new(input: R) -> Self {
        let builder = pgn_reader::Reader::build(input);
        let reader = builder.set_supported_tag_line_length(LONGEST_TAG).finish();
        Self { reader, taken: 0, most_plies: u32::MAX }
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
    /// fails or contains a tag or a comment without an end, because no later game can be read then.
    pub fn read_game<B: GameBuilder>(&mut self) -> Result<Option<Result<B::Game, BadGame>>> {
        let number = self.taken + 1;
        let mut visitor =
            Playing::<B> { most_plies: self.most_plies, tags: 0, builder: PhantomData };
        let read = self.reader.read_game(&mut visitor).with_context(|| format!("game {number}"))?;
        self.taken += u64::from(read.is_some());
        Ok(read.map(|game| game.map_err(|fault| BadGame { number, fault })))
    }

    /// Skips the next game without reading its moves; false at the end.
    pub fn skip_game(&mut self) -> Result<bool> {
        let skipped = self.reader.skip_game();
        let skipped = skipped.with_context(|| format!("game {}", self.taken + 1))?;
        self.taken += u64::from(skipped);
        Ok(skipped)
    }
}

/// Plays one game for a builder.
struct Playing<B> {
    most_plies: u32,
    /// Size of the tags so far, in bytes.
    tags: usize,
    builder: PhantomData<B>,
}

/// A game while it is being read.
struct Movetext<B> {
    builder: B,
    line: Line,
    /// The lines interrupted by the open variations, outermost first.
    outer: Vec<Line>,
    /// Depth of the variation whose rest is skipped after an illegal move; `None` if nothing is
    /// skipped.
    skipped: Option<usize>,
    nodes: u32,
    san: String,
}

impl<B: GameBuilder> Visitor for Playing<B> {
    type Tags = Tags;
    type Movetext = Movetext<B>;
    type Output = Result<B::Game, Fault>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        // An empty tag takes up memory, too.
        self.tags += name.len() + value.as_bytes().len() + size_of::<(String, String)>();
        let name = String::from_utf8_lossy(name).into_owned();
        tags.push(name, on_one_line(value.decode_utf8_lossy()).into_owned());
        go_on_after(within(self.tags <= MOST_TAGS, || format!("{MOST_TAGS} bytes of tags")))
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Movetext<B>> {
        if let Some(variant) = tags.known("Variant").and_then(other_variant) {
            return ControlFlow::Break(Err(Fault::Variant(variant)));
        }
        let start = match tags.known("FEN").map(Position::from_fen).transpose() {
            Ok(start) => start.unwrap_or_default(),
            Err(error) => return ControlFlow::Break(Err(Fault::Start(error))),
        };
        let root = GameNode { board: start.board().clone(), id: 0, ply: 0, mv: None };
        ControlFlow::Continue(Movetext {
            builder: B::begin(tags, start),
            line: Line { before: root.clone(), after: root },
            outer: Vec::new(),
            skipped: None,
            nodes: 1,
            san: String::new(),
        })
    }

    fn san(&mut self, game: &mut Movetext<B>, san: SanPlus) -> ControlFlow<Self::Output> {
        if game.line.after.ply == self.most_plies {
            let nothing = B::begin(Tags::default(), Position::default());
            let builder = std::mem::replace(&mut game.builder, nothing);
            return ControlFlow::Break(Ok(builder.end()));
        }
        if game.skipped.is_some() {
            return ControlFlow::Continue(());
        }
        let played = game.play(san);
        let depth = game.outer.len();
        if B::FORGIVES_VARIATIONS && depth > 0 && matches!(played, Err(Fault::Move { .. })) {
            game.skipped = Some(depth);
            return ControlFlow::Continue(());
        }
        go_on_after(played)
    }

    fn nag(&mut self, game: &mut Movetext<B>, nag: Nag) -> ControlFlow<Self::Output> {
        if game.skipped.is_none() {
            game.builder.glyph(&game.line, nag.0);
        }
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        game: &mut Movetext<B>,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if game.skipped.is_some() {
            return ControlFlow::Continue(());
        }
        let text = on_one_line(String::from_utf8_lossy(comment.as_bytes()));
        go_on_after(game.builder.comment(&game.line, &text).map_err(Fault::Refused))
    }

    fn begin_variation(&mut self, game: &mut Movetext<B>) -> ControlFlow<Self::Output, Skip> {
        if !B::VARIATIONS {
            return ControlFlow::Continue(Skip(true));
        }
        game.outer.push(game.line.clone());
        game.line.after = game.line.before.clone();
        let depth = game.outer.len();
        go_on_after(within(depth <= MOST_NESTED, || format!("{MOST_NESTED} nested variations")))
            .map_continue(|()| Skip(false))
    }

    fn end_variation(&mut self, game: &mut Movetext<B>) -> ControlFlow<Self::Output> {
        if let Some(line) = game.outer.pop() {
            game.line = line;
            game.skipped = game.skipped.filter(|depth| *depth <= game.outer.len());
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Movetext<B>) -> Self::Output {
        Ok(game.builder.end())
    }
}

impl<B: GameBuilder> Movetext<B> {
    fn play(&mut self, san: SanPlus) -> Result<(), Fault> {
        let GameNode { board, ply, .. } = &self.line.after;
        let half_move = ply + 1;
        self.san.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.san, "{}", san.san);
        let Some(mv) = find_move(board, &self.san) else {
            let fen = fen_of(board);
            return Err(Fault::Move { half_move, san: san.to_string(), fen });
        };
        let board = board_after(board, mv);
        let after = GameNode { board, id: self.nodes, ply: half_move, mv: Some(mv) };
        self.line.before = std::mem::replace(&mut self.line.after, after);
        within(self.nodes <= MOST_MOVES, || format!("{MOST_MOVES} moves"))?;
        self.nodes += 1;
        self.builder.play(&self.line).map_err(Fault::Refused)
    }
}

/// A text with spaces for its line breaks.
fn on_one_line(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.contains(['\n', '\r']) {
        true => Cow::Owned(text.replace(['\n', '\r'], " ")),
        false => text,
    }
}

fn within(holds: bool, limit: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::TooLong(limit())) }
}

/// Ends the game at a fault.
fn go_on_after<G>(result: Result<(), Fault>) -> ControlFlow<Result<G, Fault>> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(fault) => ControlFlow::Break(Err(fault)),
    }
}

/// Builds a value from one game while the reader plays its moves.
pub trait GameBuilder: Sized {
    /// The value.
    type Game;

    /// Whether variations are read. Without them the moves are those of the main line.
    const VARIATIONS: bool;

    /// Whether a variation ends before its first illegal move. Otherwise, the game cannot be read.
    const FORGIVES_VARIATIONS: bool = false;

    /// A game begins.
    fn begin(tags: Tags, start: Position) -> Self;

    /// The last move of `line` was played. An error ends the reading of this game.
    fn play(&mut self, line: &Line) -> Result<()>;

    /// A comment after the last move of `line`, or before the first move. Its line breaks are
    /// replaced by spaces, and a comment of many kilobytes arrives in several pieces. An error ends
    /// the reading of this game.
    fn comment(&mut self, line: &Line, text: &str) -> Result<()>;

    /// A numeric annotation glyph (NAG) after the last move of `line`: 1 is `!`, 2 is `?`.
    fn glyph(&mut self, _line: &Line, _nag: u8) {}

    /// The game has ended.
    fn end(self) -> Self::Game;
}

/// A node of a game's move tree.
#[derive(Clone, Debug)]
pub struct GameNode {
    /// The position.
    pub board: Board,
    /// Index of the node in the order of the file; the starting position is 0.
    pub id: u32,
    /// Half-moves from the starting position.
    pub ply: u32,
    /// The move that leads to the node; `None` at the starting position.
    pub mv: Option<Move>,
}

/// The last two nodes of the line that is being read.
///
/// Before the first move, both are the starting position. Before the first move of a variation,
/// both are the position before the move that the variation replaces.
#[derive(Clone, Debug)]
pub struct Line {
    /// Before the last move. A variation begins here.
    pub before: GameNode,
    /// After the last move.
    pub after: GameNode,
}
