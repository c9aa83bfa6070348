//! PGN with `[%eval]` comments, including variations, and with the scores of match runners.
//!
//! The evaluation after a move labels the position after it, in pawns or `#n` from White's point of
//! view. An evaluation before the first move labels the game's starting position. The first move of
//! a variation is a sibling of the move that it replaces.
//!
//! Match runners (cutechess-cli, fastchess, OpenBench) write the engine's score of its move:
//! `+0.35/12` or `-M4/20`, from that engine's point of view. This score labels the position after
//! the move, too.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Error, Result};
use azimuth_chess::pgn::{Fault, GameBuilder, Line, Reader, Tags};
use azimuth_chess::position::Position;
use cozy_chess::{Color, Move};

use crate::data::family::{ContentHash, Family, FamilyLabels, Game, Label, check_length};

/// The games of a file.
pub struct Pgn {
    reader: Reader<Box<dyn Read + Send>>,
}

impl Pgn {
    /// The games of `input`.
    pub fn new(input: Box<dyn Read + Send>) -> Self {
        Self { reader: Reader::new(input) }
    }
}

impl Games for Pgn {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError> {
        loop {
            let Some(read) = self.reader.read_game::<LabelledGame>()? else { return Ok(None) };
            match read {
                Err(bad) if matches!(bad.fault, Fault::Variant(_)) => {
                    skip(skipped, "game of another variant");
                }
                Err(bad) => {
                    let name = format!("game {}", bad.number);
                    return Err(ReadError::Record { name, error: bad.fault.into() });
                }
                Ok((game, finished)) => {
                    (0..finished).for_each(|_| skip(skipped, "game over"));
                    if !game.families.is_empty() {
                        return Ok(Some(game));
                    }
                    skip(skipped, "game without labels");
                }
            }
        }
    }

    fn record(&self) -> u64 {
        self.reader.taken()
    }

    fn skip_to(&mut self, record: u64) -> Result<()> {
        while self.reader.taken() < record && self.reader.skip_game()? {}
        Ok(())
    }
}

/// A game's labels.
#[derive(Default)]
struct LabelledGame {
    /// Labels with the indices of their parent nodes, in file order.
    labelled: Vec<(u32, Family)>,
    content: ContentHash,
    /// Number of labels of finished games, which are left out.
    finished: u64,
}

impl GameBuilder for LabelledGame {
    type Game = (Game, u64);

    const VARIATIONS: bool = true;

    fn begin(_: Tags, _: Position) -> Self {
        Self::default()
    }

    fn play(&mut self, _: &Line) -> Result<()> {
        Ok(())
    }

    fn comment(&mut self, Line { before, after }: &Line, text: &str) -> Result<()> {
        let mover = after.mv.map(|_| before.board.side_to_move());
        let score = || read_score(text, mover?);
        let Some(label) = read_evaluation(text).or_else(score) else { return Ok(()) };
        // A comment before a variation's first move repeats the evaluation of the previous move.
        if after.id == before.id && after.mv.is_some() {
            return Ok(());
        }
        // The engine never encodes a finished game's position: its value is exact.
        if !after.board.generate_moves(|_| true) {
            self.finished += 1;
            return Ok(());
        }
        self.content.add(&after.board, label);
        self.labelled.push(match after.mv {
            None => (after.id, Family::own(after.board.clone(), label)),
            // The starting position's label sorts before those of its children.
            Some(mv) => {
                let labels = FamilyLabels::Children(vec![(mv, label)]);
                (before.id + 1, Family { board: before.board.clone(), labels })
            }
        });
        check_length(self.labelled.len())
    }

    fn end(self) -> Self::Game {
        let split = self.content.split();
        (Game { split, families: joined(self.labelled) }, self.finished)
    }
}

/// Merges families of one child each into families of all children of a node.
fn joined(mut labelled: Vec<(u32, Family)>) -> Vec<Family> {
    // Nested variations come between a move and its later siblings.
    labelled.sort_by_key(|(node, _)| *node);
    let mut families: Vec<(u32, Family)> = Vec::with_capacity(labelled.len());
    for (node, family) in labelled {
        match (families.last_mut(), family.labels) {
            (
                Some((last, Family { labels: FamilyLabels::Children(children), .. })),
                FamilyLabels::Children(more),
            ) if *last == node => {
                // A repeated move keeps its first label.
                let new = |mv: Move| !children.iter().any(|(known, _)| *known == mv);
                let more: Vec<_> = more.into_iter().filter(|&(mv, _)| new(mv)).collect();
                children.extend(more);
            }
            (_, labels) => families.push((node, Family { board: family.board, labels })),
        }
    }
    families.into_iter().map(|(_, family)| family).collect()
}

/// The evaluation in a comment: `[%eval 0.25]`, `[%eval #-3]`, with or without `,depth`.
fn read_evaluation(comment: &str) -> Option<Label> {
    let (_, rest) = comment.split_once("[%eval ")?;
    let (value, _) = rest.split_once([']', ','])?;
    match value.trim().strip_prefix('#') {
        Some(moves) => Some(Label::Mate(!moves.starts_with('-'))),
        None => {
            let pawns: f64 = value.trim().parse().ok()?;
            Some(Label::Centipawns((pawns * 100.0).round() as i32))
        }
    }
}

/// The score at the start of a match runner's comment, such as `+0.35/12 0.05s` or `-M4/20`: pawns
/// or moves to a mate from the point of view of `mover`, a slash, and the depth. Pawns must have
/// decimals, because people write `1/2`. The depth must be above 0, because fastchess writes
/// `0.00/0` if the engine reported no score.
fn read_score(comment: &str, mover: Color) -> Option<Label> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (score, rest) = comment.trim_start().split_once('/')?;
    let depth = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    (digits(depth) && depth.bytes().any(|digit| digit != b'0')).then_some(())?;
    let (lost, size) = match score.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, score.strip_prefix('+').unwrap_or(score)),
    };
    let label = if let Some(moves) = size.strip_prefix('M') {
        moves.parse::<u32>().ok()?;
        Label::Mate(!lost)
    } else {
        let (pawns, decimals) = size.split_once('.')?;
        (digits(pawns) && digits(decimals)).then_some(())?;
        let centipawns = (size.parse::<f64>().ok()? * 100.0).round() as i32;
        Label::Centipawns(if lost { -centipawns } else { centipawns })
    };
    Some(label.seen_by(mover))
}

/// Numbers of positions or records left out, by reason.
pub type Skipped = BTreeMap<String, u64>;

/// Counts a position or record that was left out.
pub fn skip(skipped: &mut Skipped, reason: &str) {
    match skipped.get_mut(reason) {
        Some(count) => *count += 1,
        None => {
            skipped.insert(reason.to_owned(), 1);
        }
    }
}

/// A failure to read a game.
#[derive(Debug)]
pub enum ReadError {
    /// A record is illegal or unreadable, but reading can continue after it.
    Record {
        /// Its name: `game 3`, `line 17`.
        name: String,
        /// The fault.
        error: Error,
    },
    /// The file is damaged or cannot be read.
    File(Error),
}

impl ReadError {
    /// The error of the record called `name`.
    pub fn of_record(name: String) -> impl FnOnce(Error) -> Self {
        move |error| Self::Record { name, error }
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Record { name, error } => error.context(name),
            ReadError::File(error) => error,
        }
    }
}

/// A stream of labelled games.
pub trait Games: Send {
    /// The next game that has labels; `None` at the end.
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Game>, ReadError>;

    /// Number of records read so far (games, lines, positions or blocks), including those without
    /// labels.
    fn record(&self) -> u64;

    /// Skips the first `record` records of the file.
    fn skip_to(&mut self, record: u64) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use cozy_chess::Board;

    use super::*;

    fn game(text: &'static str) -> Result<Option<Game>> {
        Ok(Pgn::new(Box::new(text.as_bytes())).next(&mut Skipped::new())?)
    }

    fn families(text: &'static str) -> Result<Vec<Family>> {
        Ok(game(text)?.context("no game")?.families)
    }

    #[test]
    fn variations_are_siblings() -> Result<()> {
        let families = families(
            "1. e4 { [%eval 0.25] } ( 1. d4 { [%eval 0.20,30] } 1... d5 { [%eval 0.21] } ) \
             ( 1. f3 { [%eval -0.5] } ) 1... e5 { [%eval #-12] } *",
        )?;
        let labels: Vec<Vec<Label>> = families
            .iter()
            .map(|family| family.positions().map(|(_, label)| label).collect())
            .collect();
        let centipawns = |values: &[i32]| values.iter().map(|&v| Label::Centipawns(v)).collect();
        let expected: [Vec<Label>; 3] =
            [centipawns(&[25, 20, -50]), vec![Label::Mate(false)], centipawns(&[21])];
        assert_eq!(labels, expected);
        let (after_d5, _) = families[2].positions().next().context("a child")?;
        assert_eq!(
            after_d5.to_string(),
            "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2"
        );
        Ok(())
    }

    #[test]
    fn scores_of_match_runners_are_those_of_the_mover() -> Result<()> {
        let families = families(
            "1. e4 {+0.35/12 0.052s, n=5000, sd=15} 1... e5 {-0.20/9} 2. Nf3 {book} \
             2... Nc6 {+M5/20 0.1s} 3. Bb5 {-M4/20} 3... a6 {0.00/1} 4. Ba4 {1/2 offered} \
             4... Nf6 {0.5/x} 5. O-O {0.00/0 0.001s} 5... Be7 {-0.10/10 0.1s} *",
        )?;
        let labels: Vec<Label> =
            families.iter().flat_map(|family| family.positions().map(|(_, label)| label)).collect();
        let expected = [
            Label::Centipawns(35),
            Label::Centipawns(20),
            Label::Mate(false),
            Label::Mate(false),
            Label::Centipawns(0),
            Label::Centipawns(10),
        ];
        assert_eq!(labels, expected);
        Ok(())
    }

    #[test]
    fn a_label_before_the_first_move_is_the_starts() -> Result<()> {
        let families = families("{ [%eval 0.3] } 1. e4 { [%eval 0.25] } *")?;
        assert_eq!(families[0], Family::own(Board::startpos(), Label::Centipawns(30)));
        assert_eq!(families[1].len(), 1);
        Ok(())
    }

    #[test]
    fn a_label_before_a_variations_first_move_is_known_already() -> Result<()> {
        let families = families(
            "1. e4 { [%eval 0.3] } 1... e5 { [%eval 0.2] } ( { [%eval 9] } 1... c5 { [%eval 0.4] } ) *",
        )?;
        assert_eq!(families.iter().map(Family::len).collect::<Vec<_>>(), [1, 2]);
        Ok(())
    }

    #[test]
    fn an_illegal_move_is_an_error() {
        let error = game("1. e4 { [%eval 0.25] } 1... Qh4 *").expect_err("no such move");
        assert!(
            format!("{error:#}").contains("game 1: half-move 2: move 'Qh4' is not legal"),
            "{error:#}"
        );
    }

    #[test]
    fn what_has_no_use_is_counted() -> Result<()> {
        let text = "1. f3 { [%eval 0] } 1... e5 2. g4 2... Qh4# { [%eval #0] } 0-1\n\n\
                    [Variant \"Atomic\"]\n\n1. Nf3 { [%eval 0] } *\n\n1. e4 *\n\n\
                    [Variant \"Chess960\"]\n\n1. e4 { [%eval 0.2] } *\n";
        let (mut pgn, mut skipped) = (Pgn::new(Box::new(text.as_bytes())), Skipped::new());
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        assert!(pgn.next(&mut skipped)?.is_none());
        assert_eq!(pgn.record(), 4);
        let expected = ["game of another variant", "game over", "game without labels"];
        assert_eq!(skipped, expected.map(|reason| (reason.to_owned(), 1)).into());

        let mut pgn = Pgn::new(Box::new(text.as_bytes()));
        pgn.skip_to(3)?;
        assert_eq!(pgn.next(&mut skipped)?.map(|game| game.len()), Some(1));
        Ok(())
    }
}
