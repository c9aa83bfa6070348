//! An opening book (document 004, section 6): the positions of other players' games, one a line.
//! The book's move is the one that leads to the most frequent position.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_search::{Control, Limits, Planner, Report, Value};
use azimuth_train::label::each_start;
use cozy_chess::{Board, Move};

/// Minimum number of occurrences of a position in the book, because a line of a single game is not
/// an opening.
const LEAST: u32 = 5;

/// Number of times that each position was reached.
pub struct Book(HashMap<u64, u32>);

impl Book {
    /// Reads a file of FENs or EPD, which may be compressed.
    pub fn read(path: &Path) -> Result<Self> {
        let mut counts = HashMap::new();
        each_start(&[path.to_owned()], |_, _, position| {
            *counts.entry(repetition_key(position.board())).or_default() += 1;
        })?;
        counts.retain(|_, count| *count >= LEAST);
        Ok(Self(counts))
    }

    /// The move that leads to the most frequent position; `None` if no move leads to the book.
    fn best(&self, board: &Board) -> Option<Move> {
        let count = |mv: Move| self.0.get(&repetition_key(&board_after(board, mv))).copied();
        let known = legal_moves(board).into_iter().filter_map(|mv| Some((count(mv)?, mv)));
        known.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, mv)| mv)
    }
}

/// A planner that plays the book's move if there is one, and searches otherwise.
pub struct WithBook {
    pub book: Arc<Book>,
    pub planner: Box<dyn Planner>,
}

impl Planner for WithBook {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let best =
            if wants_one_move(control.limits()) { self.book.best(root.board()) } else { None };
        let Some(best) = best else { return self.planner.search(root, control, report) };
        let mut line = Report::of(self.planner.evaluate(root)?, vec![best]);
        line.time = control.elapsed();
        report(&line);
        Ok(line)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        self.planner.evaluate(position)
    }

    fn new_game(&mut self) {
        self.planner.new_game();
    }
}

/// Whether a search is for a move in a game, and not for an analysis.
fn wants_one_move(limits: &Limits) -> bool {
    !limits.waits() && limits.search_moves.is_empty() && limits.multipv <= 1
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::play::Play;
    use crate::rival::Rival;

    #[test]
    fn the_most_frequent_position_is_played() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("book.epd");
        let [e4, d4, c4] = ["e2e4", "d2d4", "c2c4"].map(|mv| -> Result<String> {
            let mut position = Position::default();
            position.play(position.parse_move(mv)?);
            Ok(position.fen(false) + "\n")
        });
        fs::write(&path, e4?.repeat(6) + &d4?.repeat(7) + &c4?.repeat(4))?;
        let book = Book::read(&path)?;
        let text = |mv: Option<Move>| mv.map(|mv| mv.to_string());
        assert_eq!(text(book.best(&Board::default())).as_deref(), Some("d2d4"));
        assert_eq!(book.0.len(), 2);

        let planner = Rival::Heuristic.planner(None, &Play::default())?;
        let mut planner = WithBook { book: Arc::new(book), planner };
        let mut first = |position: &Position, limits: Limits| -> Result<Report> {
            planner.search(position, &mut Control::without_signals(limits), &mut |_| ())
        };
        let mut position = Position::default();
        let found = first(&position, Limits::default())?;
        assert_eq!((found.pv[0].to_string().as_str(), found.nodes), ("d2d4", 0));
        // An analysis searches, as does a position that the book does not know.
        let two_lines = Limits { multipv: 2, depth: Some(1), ..Limits::default() };
        assert!(first(&position, two_lines)?.nodes > 0);
        position.play(found.pv[0]);
        assert!(first(&position, Limits { depth: Some(1), ..Limits::default() })?.nodes > 0);
        Ok(())
    }
}
