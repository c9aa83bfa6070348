//! PGN with `[%eval]` comments, including variations, and with the scores of match runners.
//!
//! The evaluation after a move labels the position after it, in pawns or `#n` from White's point of
//! view. An evaluation before the first move labels the game's starting position. The first move of
//! a variation is a sibling of the move that it replaces.
//!
//! Match runners (cutechess-cli, fastchess, OpenBench) write the engine's score of its move:
//! `+0.35/12` or `-M4/20`, from that engine's point of view. This score labels the position after
//! the move, too.

use std::io::Read;

use anyhow::{Context, Result};
use azimuth_chess::pgn::{Fault, GameBuilder, Line, Reader, Tags};
use azimuth_chess::position::Position;
use cozy_chess::{Color, Move};

use super::{Games, Skipped, skip};
use crate::data::family::{ContentHash, Family, FamilyLabels, Game, check_length};
use crate::data::packed::Label;

pub struct Pgn {
    reader: Reader<Box<dyn Read + Send>>,
}

impl Pgn {
    pub fn new(input: Box<dyn Read + Send>) -> Self {
        Self { reader: Reader::new(input) }
    }
}

impl Games for Pgn {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        loop {
            let Some(read) = self.reader.read_game::<LabelledGame>()? else { return Ok(None) };
            match read {
                Err(bad) if matches!(bad.fault, Fault::Variant(_)) => {
                    skip(skipped, "game of another variant");
                }
                Err(bad) => {
                    let name = format!("game {}", bad.number);
                    return Ok(Some(Err(bad.fault).context(name)));
                }
                Ok((game, left_out)) => {
                    for (reason, count) in left_out {
                        *skipped.entry(reason).or_default() += count;
                    }
                    if !game.families.is_empty() {
                        return Ok(Some(Ok(game)));
                    }
                    skip(skipped, "game without labels");
                }
            }
        }
    }

    fn record(&self) -> u64 {
        self.reader.taken()
    }

    fn skip_record(&mut self) -> Result<bool> {
        self.reader.skip_game()
    }
}

#[derive(Default)]
struct LabelledGame {
    /// Labels with the indices of their parent nodes, in file order.
    labelled: Vec<(u32, Family)>,
    content: ContentHash,
    /// Numbers of labels that are left out, by reason.
    left_out: Skipped,
}

impl GameBuilder for LabelledGame {
    type Game = (Game, Skipped);

    const VARIATIONS: bool = true;

    const NULL_MOVES: bool = true;

    fn begin(_: Tags, _: Position) -> Self {
        Self::default()
    }

    fn play(&mut self, _: &Line) -> Result<()> {
        Ok(())
    }

    fn comment(&mut self, Line { before, after }: &Line, text: &str) -> Result<()> {
        let mover = after.mv.map(|_| before.board.side_to_move());
        let label = match read_evaluation(text) {
            Some(Some(label)) => label,
            Some(None) => {
                skip(&mut self.left_out, "unreadable evaluation");
                return Ok(());
            }
            None => match mover.and_then(|mover| read_score(text, mover)) {
                Some(label) => label,
                None => return Ok(()),
            },
        };
        // A comment before a variation's first move repeats the evaluation of the previous move.
        if after.id == before.id && after.mv.is_some() {
            return Ok(());
        }
        // The engine never encodes a finished game's position: its value is exact.
        if !after.board.generate_moves(|_| true) {
            skip(&mut self.left_out, "game over");
            return Ok(());
        }
        if after.mv.is_none() && after.id > 0 {
            skip(&mut self.left_out, "after a null move");
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
        (Game { split, families: joined(self.labelled) }, self.left_out)
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

/// Maximum number of moves to a mate in an evaluation. No mate that is known takes more.
const MOST_MOVES_TO_MATE: u32 = 1_000;

/// Maximum number of pawns in an evaluation.
const MOST_PAWNS: f64 = 10_000.0;

/// The evaluation in a comment: `[%eval 0.25]`, `[%eval #-3]`, `[%eval -M3]`, with or without
/// `,depth`. The inner value is `None` if it is none of these. ChessBase writes `[%eval 25,20]`:
/// whole numbers with a depth are centipawns.
fn read_evaluation(comment: &str) -> Option<Option<Label>> {
    let (_, rest) = comment.split_once("[%eval")?;
    let value = rest.split(']').next().unwrap_or_default();
    let (value, depth) = value.split_once(',').map_or((value, None), |(v, d)| (v, Some(d)));
    // The rest of a number with a decimal comma, `0,35/12`, is no depth.
    let is_depth = |text: &str| text.trim().parse::<u32>().is_ok();
    if !value.contains('.') && depth.is_some_and(|depth| !is_depth(depth)) {
        return Some(None);
    }
    let value = value.trim();
    let (is_mate, value) = value.strip_prefix('#').map_or((false, value), |moves| (true, moves));
    let (is_lost, size) = split_sign(value);
    let mate = size.strip_prefix('M').or(is_mate.then_some(size));
    Some(match mate {
        Some(moves) => read_mate(moves, is_lost),
        None if depth.is_some() && !size.contains('.') => read_number(size, 1.0, is_lost),
        None => read_number(size, 100.0, is_lost),
    })
}

/// Whether a number is negative, and the number without its sign.
fn split_sign(number: &str) -> (bool, &str) {
    match number.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    }
}

fn read_mate(moves: &str, is_lost: bool) -> Option<Label> {
    let is_known = moves.parse().is_ok_and(|moves: u32| moves <= MOST_MOVES_TO_MATE);
    is_known.then_some(Label::Mate(!is_lost))
}

/// The label of a number without a sign, in units of `unit` centipawns.
fn read_number(number: &str, unit: f64, is_lost: bool) -> Option<Label> {
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let centipawns = number.parse::<f64>().ok().filter(|_| is_number)? * unit;
    let label = (if is_lost { -centipawns } else { centipawns }).round();
    (centipawns <= MOST_PAWNS * 100.0).then_some(Label::Centipawns(label as i32))
}

/// The score at the start of a match runner's comment, such as `+0.35/12 0.05s`, `-M4/20` or, from
/// OpenBench, `+0.35 12/20 50 3000`: pawns or moves to a mate from the point of view of `mover`,
/// and the depth. Pawns must have decimals, because people write `1/2`, and a depth after a space
/// must have a slash, because they write `+0.35 12.Nf3`. The depth must be above 0, because
/// fastchess writes `0.00/0` if the engine reported no score.
fn read_score(comment: &str, mover: Color) -> Option<Label> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let comment = comment.trim_start();
    let (first, _) = comment.split_once(char::is_whitespace).unwrap_or((comment, ""));
    let (score, depth) = match first.contains('/') {
        true => {
            let (score, rest) = comment.split_once('/')?;
            (score, rest.split(|character: char| !character.is_ascii_digit()).next()?)
        }
        false => {
            let (score, rest) = comment.split_once(char::is_whitespace)?;
            (score, rest.split_once('/')?.0)
        }
    };
    (digits(depth) && depth.bytes().any(|digit| digit != b'0')).then_some(())?;
    let (is_lost, size) = split_sign(score);
    let label = match size.strip_prefix('M') {
        Some(moves) => read_mate(moves, is_lost)?,
        None => {
            let (pawns, decimals) = size.split_once('.')?;
            (digits(pawns) && digits(decimals)).then_some(())?;
            read_number(size, 100.0, is_lost)?
        }
    };
    Some(label.seen_by(mover))
}

#[cfg(test)]
mod tests {
    use std::io;

    use cozy_chess::Board;

    use super::*;

    fn families(text: &'static str) -> Result<Vec<Family>> {
        let game = Pgn::new(Box::new(text.as_bytes())).next_game(&mut Skipped::new())?;
        Ok(game.context("no game")?.families)
    }

    fn labels(family: &Family) -> Vec<String> {
        family.positions().map(|(_, label)| label.to_string()).collect()
    }

    #[test]
    fn variations_are_siblings() -> Result<()> {
        let families = families(
            "1. e4 { [%eval 0.25] } ( 1. d4 { [%eval 0.20,30] } 1... d5 { [%eval 0.21] } ) \
             ( 1. f3 { [%eval -0.5] } ) 1... e5 { [%eval #-12] } *",
        )?;
        let labels: Vec<Vec<String>> = families.iter().map(labels).collect();
        assert_eq!(labels, [vec!["25", "20", "-50"], vec!["#-1"], vec!["21"]]);
        let (after_d5, _) = families[2].positions().next().context("a child")?;
        let expected = "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2";
        assert_eq!(after_d5.to_string(), expected);
        Ok(())
    }

    #[test]
    fn scores_of_match_runners_are_those_of_the_mover() -> Result<()> {
        let families = families(
            "1. e4 {+0.35/12 0.052s, n=5000, sd=15} 1... e5 {-0.20/9} 2. Nf3 {book} \
             2... Nc6 {+M5/20 0.1s} 3. Bb5 {-M4/20} 3... a6 {0.00/1} 4. Ba4 {1/2 offered} \
             4... Nf6 {0.5/x} 5. O-O {0.00/0 0.001s} 5... Be7 {-0.10/10 0.1s} *",
        )?;
        let labels: Vec<String> = families.iter().flat_map(labels).collect();
        assert_eq!(labels, ["35", "20", "#-1", "#-1", "0", "10"]);
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
    fn evaluations_are_read_as_programs_write_them() -> Result<()> {
        for (comment, expected) in [
            ("[%eval 0.57]", Some(Label::Centipawns(57))),
            ("[%eval +0.57,20] [%clk 0:01:00]", Some(Label::Centipawns(57))),
            ("[%eval -0.57]", Some(Label::Centipawns(-57))),
            ("[%eval 3]", Some(Label::Centipawns(300))),
            ("[%eval -57,20]", Some(Label::Centipawns(-57))),
            ("[%eval #3]", Some(Label::Mate(true))),
            ("[%eval #-3]", Some(Label::Mate(false))),
            ("[%eval -M1]", Some(Label::Mate(false))),
            ("[%eval M12]", Some(Label::Mate(true))),
            ("[%eval nan]", None),
            ("[%eval inf]", None),
            ("[%eval #2147483647]", None),
            ("[%eval 1e9]", None),
            ("[%eval ]", None),
            ("[%eval 5,00/1]", None),
            ("[%eval -1, 23]", Some(Label::Centipawns(-1))),
            ("+0.57 17/28 583 363004", Some(Label::Centipawns(57))),
            ("-M5 17/28 583 363004", Some(Label::Mate(false))),
            ("+0.57 to White", None),
            ("+0.57 12.Nf3 a6 1/2", None),
        ] {
            let mut skipped = Skipped::new();
            let mut pgn = Pgn::new(Box::new(io::Cursor::new(format!("1. e4 {{ {comment} }} *"))));
            let game = pgn.next_game(&mut skipped)?;
            let found = game.and_then(|game| Some(game.families.first()?.positions().next()?.1));
            assert_eq!(found, expected, "{comment}");
            let counted = skipped.contains_key("unreadable evaluation");
            assert_eq!(counted, expected.is_none() && comment.contains("%eval"), "{comment}");
        }
        Ok(())
    }

    #[test]
    fn a_label_after_a_null_move_is_left_out() -> Result<()> {
        let text = "1. e4 { [%eval 0.3] } 1... -- { [%eval 9] } 2. d4 { [%eval 1.1] } *";
        for null in ["--", "Z0", "0000", "@@@@"] {
            let text = io::Cursor::new(text.replace("--", null));
            let (mut pgn, mut skipped) = (Pgn::new(Box::new(text)), Skipped::new());
            let game = pgn.next_game(&mut skipped)?.context("no game")?;
            let left_out = skipped.get("after a null move");
            assert_eq!((game.labels(), left_out), (2, Some(&1)), "{null}");
        }
        Ok(())
    }

    #[test]
    fn letters_of_another_language_are_read_after_a_null_move() -> Result<()> {
        // A reader that forgets the null move has the wrong side to move at `e1d1`.
        let families = families(
            "[FEN \"4k3/7p/8/8/8/8/P7/3nK1N1 w - - 0 1\"]\n\n1. a2a3 -- 2. e1d1 h7h6 3. g1f3 h6h5 \
             4. Sg5 { [%eval 0.5] } *",
        )?;
        assert_eq!(families.iter().flat_map(labels).collect::<Vec<_>>(), ["50"]);
        Ok(())
    }

    #[test]
    fn what_has_no_use_is_counted() -> Result<()> {
        let text = "1. f3 { [%eval 0] } 1... e5 2. g4 2... Qh4# { [%eval #0] } 0-1\n\n\
                    [Variant \"Atomic\"]\n\n1. Nf3 { [%eval 0] } *\n\n1. e4 *\n\n\
                    [Variant \"Chess960\"]\n\n1. e4 { [%eval 0.2] } *\n";
        let (mut pgn, mut skipped) = (Pgn::new(Box::new(text.as_bytes())), Skipped::new());
        assert_eq!(pgn.next_game(&mut skipped)?.map(|game| game.labels()), Some(1));
        assert_eq!(pgn.next_game(&mut skipped)?.map(|game| game.labels()), Some(1));
        assert!(pgn.next(&mut skipped)?.is_none());
        assert_eq!(pgn.record(), 4);
        let expected = ["game of another variant", "game over", "game without labels"];
        assert_eq!(skipped, expected.map(|reason| (reason.to_owned(), 1)).into());

        let mut pgn = Pgn::new(Box::new(text.as_bytes()));
        pgn.skip_to(3)?;
        assert_eq!(pgn.next_game(&mut skipped)?.map(|game| game.labels()), Some(1));
        Ok(())
    }
}
