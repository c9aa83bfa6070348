//! The tree of the last search, read from the transposition table.

use anyhow::Result;
use azimuth_chess::position::{Position, board_after, legal_moves};

use super::score::to_value;
use super::transposition_table::TranspositionTable;
use crate::inference::Evaluator;
use crate::search::explanation::{SearchedMove, SearchedTree};

pub(super) struct TableTree<'a> {
    pub(super) table: &'a TranspositionTable,
    pub(super) evaluator: &'a mut Evaluator,
}

impl SearchedTree for TableTree<'_> {
    fn evaluator(&mut self) -> &mut Evaluator {
        self.evaluator
    }

    /// Looks up the position after each move; its entry may stem from another move order.
    fn searched(&mut self, position: &Position, ply: u32, _: u32) -> Result<Vec<SearchedMove>> {
        let board = position.board();
        let known = legal_moves(board).into_iter().filter_map(|mv| {
            let entry = self.table.probe(board_after(board, mv).hash(), ply as usize + 1)?;
            Some(SearchedMove {
                mv,
                value: to_value(-entry.score),
                bound: -entry.bound,
                depth: entry.depth as u32 + 1,
            })
        });
        Ok(known.collect())
    }
}
