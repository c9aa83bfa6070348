//! Games of a PGN file, with what their comments say of clocks and evaluations.

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use cozy_chess::Move;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};

use azimuth_chess::position::{Position, castles_as_in_chess960};
use azimuth_chess::san::parse_move;
use azimuth_chess::text::shortened;

/// Half-moves of the longest game that is read.
const LONGEST_GAME: usize = 2_000;

/// Characters of a tag or a comment that a page shows.
const LONGEST_TEXT: usize = 400;

/// Variants whose rules are chess's.
const CHESS: [&str; 6] =
    ["standard", "chess", "from position", "chess960", "fischerandom", "fischer random"];

/// A game's main line.
pub struct Game {
    /// Its tags, in the order of the file.
    pub tags: Vec<(String, String)>,
    /// Where it begins.
    pub start: Position,
    /// Whether castling is written as in Chess960.
    pub chess960: bool,
    /// Its moves.
    pub moves: Vec<GameMove>,
}

/// A move, and what the file says of it.
pub struct GameMove {
    /// The move.
    pub mv: Move,
    /// `[%clk …]`: what was left on the clock.
    pub clock: Option<String>,
    /// `[%eval …]`: somebody's evaluation after it.
    pub eval: Option<String>,
    /// The comment's words.
    pub comment: Option<String>,
}

impl Game {
    /// A tag's value, where it says something.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty() && *value != "?")
    }
}

/// The games of a file, each or why it cannot be read. Fails where the file cannot, or has no game.
pub fn read_games(path: &Path) -> Result<Vec<Result<Game>>> {
    let name = || format!("'{}'", path.display());
    let mut reader = Reader::new(BufReader::new(File::open(path).with_context(name)?));
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut GameReader).with_context(name)? {
        games.push(game);
    }
    ensure!(!games.is_empty(), "{}: there is no game in it", name());
    Ok(games)
}

struct GameReader;

impl Visitor for GameReader {
    type Tags = Vec<(String, String)>;
    type Movetext = (Game, Position);
    type Output = Result<Game>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let value = value.decode_utf8_lossy();
        tags.push((
            String::from_utf8_lossy(name).into_owned(),
            shortened(value.trim(), LONGEST_TEXT),
        ));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        let mut game =
            Game { tags, start: Position::default(), chess960: false, moves: Vec::new() };
        let variant = game.tag("Variant").map(str::to_lowercase);
        if let Some(variant) = variant.filter(|variant| !CHESS.contains(&variant.as_str())) {
            return ControlFlow::Break(Err(anyhow!("the variant '{variant}' is not chess")));
        }
        match game.tag("FEN").map(Position::from_fen).transpose() {
            Ok(start) => game.start = start.unwrap_or_default(),
            Err(error) => return ControlFlow::Break(Err(error)),
        }
        game.chess960 = castles_as_in_chess960(game.start.board());
        let start = game.start.clone();
        ControlFlow::Continue((game, start))
    }

    fn san(
        &mut self,
        (game, position): &mut Self::Movetext,
        san: SanPlus,
    ) -> ControlFlow<Self::Output> {
        let ply = game.moves.len() + 1;
        if ply > LONGEST_GAME {
            return ControlFlow::Break(Err(anyhow!("more than {LONGEST_GAME} half-moves")));
        }
        match parse_move(position, &san.to_string()) {
            Ok(mv) => {
                position.play(mv);
                game.moves.push(GameMove { mv, clock: None, eval: None, comment: None });
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(error.context(format!("half-move {ply}")))),
        }
    }

    fn comment(
        &mut self,
        (game, _): &mut Self::Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if let Some(last) = game.moves.last_mut() {
            let text = String::from_utf8_lossy(comment.as_bytes()).replace(['\n', '\r'], " ");
            let (mut words, mut rest) = (String::new(), text.as_str());
            while let Some((before, (command, after))) = next_command(rest) {
                words.push_str(before);
                match command.split_once(' ') {
                    Some(("clk", clock)) => last.clock = Some(clock.trim().to_owned()),
                    Some(("eval", eval)) => {
                        last.eval = eval.split(',').next().map(|eval| eval.trim().to_owned());
                    }
                    _ => {}
                }
                rest = after;
            }
            words.push_str(rest);
            let words = shortened(words.trim(), LONGEST_TEXT);
            last.comment = last.comment.take().or(Some(words).filter(|words| !words.is_empty()));
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Self::Movetext) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, (game, _): Self::Movetext) -> Self::Output {
        ensure!(!game.moves.is_empty(), "there is no move in it");
        Ok(game)
    }
}

/// Text before the next `[%command value]` of a comment, that command, and the text after it.
fn next_command(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once("[%")?;
    Some((before, rest.split_once(']')?))
}
