//! Lichess puzzles: CSV with `FEN` and `Moves`. The first move is the opponent's. The solver must
//! find all of its moves, but any mate is accepted.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_chess::pgn::decompressed;
use azimuth_chess::position::{Ending, Position};
use cozy_chess::Move;

/// Positions with the only correct move, in order.
#[derive(Debug)]
pub struct Puzzle {
    pub steps: Vec<(Position, Move)>,
}

impl Puzzle {
    /// Whether `choose` finds every move.
    pub fn is_solved_by(&self, mut choose: impl FnMut(&Position) -> Result<Move>) -> Result<bool> {
        for (position, expected) in &self.steps {
            let mv = choose(position)?;
            if mv == *expected {
                continue;
            }
            return Ok(matches!(position.after(mv).ending(), Some(Ending::Checkmate { .. })));
        }
        Ok(true)
    }
}

/// Reads puzzles, plain or `.zst`. Fails, with the line number, at a puzzle with an illegal
/// position or move.
pub fn read(path: &Path) -> Result<Vec<Puzzle>> {
    let name = || format!("puzzles '{}'", path.display());
    let file = File::open(path).with_context(name)?;
    let mut rows = csv::Reader::from_reader(decompressed(path, file).with_context(name)?);
    let header = rows.headers().with_context(name)?.clone();
    let column = |title: &str| {
        let place = header.iter().position(|found| found == title);
        place.with_context(|| format!("{}: no column '{title}'", name()))
    };
    let (fen, moves) = (column("FEN")?, column("Moves")?);
    let mut puzzles = Vec::new();
    for row in rows.records() {
        let row = row.with_context(name)?;
        let puzzle = puzzle(&row[fen], &row[moves])
            .with_context(|| format!("{}, puzzle {}", name(), puzzles.len() + 1))?;
        puzzles.push(puzzle);
    }
    ensure!(!puzzles.is_empty(), "{}: no puzzles in it", name());
    Ok(puzzles)
}

fn puzzle(fen: &str, moves: &str) -> Result<Puzzle> {
    let mut position = Position::from_fen(fen)?;
    let mut steps = Vec::new();
    for (ply, text) in moves.split_whitespace().enumerate() {
        let mv = position.parse_move(text)?;
        if ply % 2 == 1 {
            steps.push((position.clone(), mv));
        }
        position.play(mv);
    }
    ensure!(!steps.is_empty(), "no move to find in '{moves}'");
    Ok(Puzzle { steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_has_to_be_found_but_any_mate_will_do() -> Result<()> {
        // A quiet move, then queen or rook mates on the last rank.
        let puzzle = puzzle("7k/2p5/8/6K1/8/8/8/QR6 b - - 0 1", "h8g8 g5g6 c7c6 a1a8")?;
        assert_eq!(puzzle.steps.len(), 2);
        let play = |script: &[&str]| {
            let mut script = script.iter();
            puzzle.is_solved_by(|position| {
                position.parse_move(script.next().context("too many moves")?)
            })
        };
        assert!(play(&["g5g6", "a1a8"])?);
        assert!(play(&["g5g6", "b1b8"])?, "another mate");
        assert!(!play(&["g5g6", "a1a7"])?);
        assert!(!play(&["a1a2"])?);
        Ok(())
    }

    #[test]
    fn files_are_read_and_what_is_wrong_is_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("puzzles.csv");
        let row = "1,7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8g8 f6g6,600";
        std::fs::write(&path, format!("PuzzleId,FEN,Moves,Rating\n{row}\n{row}\n"))?;
        assert_eq!(read(&path)?.len(), 2);
        for (text, part) in [
            ("PuzzleId,FEN\n", "no column 'Moves'"),
            ("FEN,Moves\n", "no puzzles"),
            ("FEN,Moves\n7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8h1\n", "puzzle 1: move 'h8h1'"),
            ("FEN,Moves\n7k/8/5K2/8/8/8/8/Q6R b - - 0 1,h8g8\n", "no move to find"),
        ] {
            std::fs::write(&path, text)?;
            let error = format!("{:#}", read(&path).expect_err(text));
            assert!(error.contains(part), "{error}");
        }
        Ok(())
    }
}
